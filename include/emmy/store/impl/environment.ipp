#pragma once
#include <emmy/store/environment.hpp>
#include <emmy/store/impl/open.ipp>
#include <emmy/store/impl/state.hpp>

#include <emmy/core/file.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace emmy::store {
namespace detail {

EMMY_DECL state_handle::state_handle(const state_handle& other) : state_(other.state_) {
    if (!state_) return;
    const std::lock_guard hold(environments().mutex);
    ++state_->handles;
}
EMMY_DECL state_handle::~state_handle() {
    if (!state_) return;
    registry& all = environments();
    const std::lock_guard hold(all.mutex);
    if (--state_->handles > 0) return;
    const bool own = state_->pid == ::getpid();
    if (state_->env && own) mdb_env_close(state_->env);  // a forked child leaves its parent's environment alone
    if (const auto at = all.open.find(state_->id); at != all.open.end() && at->second == state_) all.open.erase(at);
    if (state_->temporary && own) {
        ::unlink((state_->path + "/data.mdb").c_str());
        ::unlink((state_->path + "/lock.mdb").c_str());
        ::rmdir(state_->path.c_str());
    }
    delete state_;
}

/// A failed write in words: LMDB says only "Input/output error" when the last page did not fit whole.
inline tl::unexpected<fault> refuse_write(const char* function, int rc, const std::string& path) {
    std::string why;
    struct stat file {};
    const std::uint64_t size = ::stat((path + "/data.mdb").c_str(), &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
    constexpr std::uint64_t near = 1 << 20;
    rlimit limit{};
    struct statvfs room {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size + near > limit.rlim_cur)
        why = " (the limit on file size is " + std::to_string(limit.rlim_cur) + " bytes)";
    else if (::statvfs(path.c_str(), &room) == 0 && static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize < near)
        why = " (the file system is full: " + std::to_string(static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize) + " bytes left)";
    return refuse(fault_kind::store, std::string(function) + ": " + mdb_strerror(rc) + why + "; nothing of this write is stored", {}, path);
}

/// Counts a live transaction; waits while the map changes size.
inline result<void> enter(environment_state& s) {
    if (s.pid != ::getpid())
        return refuse(fault_kind::store, "opened by process " + std::to_string(s.pid) + ", used by " + std::to_string(::getpid()) + ": a store is not carried across a fork", {}, s.path);
    std::unique_lock hold(s.mutex);
    s.idle.wait(hold, [&] { return !s.resizing; });
    ++s.live;
    return {};
}
inline void leave(environment_state& s) {
    const std::lock_guard hold(s.mutex);
    --s.live;
    s.idle.notify_all();
}

/// Doubles a map that is more than half full, when nothing stands in the way: a full one costs its transaction.
inline void grow_ahead(environment_state& s) {
    const std::lock_guard hold(s.mutex);
    if (s.live != 0 || s.resizing || s.pid != ::getpid()) return;
    MDB_envinfo info{};
    MDB_stat stat{};
    mdb_env_info(s.env, &info);
    mdb_env_stat(s.env, &stat);
    if ((info.me_last_pgno + 1) * stat.ms_psize > info.me_mapsize / 2) mdb_env_set_mapsize(s.env, info.me_mapsize * 2);
}

/// Runs a change of the map while no transaction of this process is live; gives up after 2 s.
template <class Change>
result<void> while_idle(environment_state& s, Change&& change) {
    std::unique_lock hold(s.mutex);
    if (!s.idle.wait_for(hold, std::chrono::seconds(2), [&] { return s.live == 0 && !s.resizing; }))
        return refuse(fault_kind::store, "the map must grow, but " + std::to_string(s.live) + " transactions of this process are live", {}, s.path);
    s.resizing = true;
    auto done = change();
    s.resizing = false;
    s.idle.notify_all();
    return done;
}

inline result<MDB_txn*> begin(environment_state& s, unsigned flags) {
    for (bool again = false;; again = true) {
        EMMY_CHECK_OK(enter(s));
        MDB_txn* txn = nullptr;
        const int rc = mdb_txn_begin(s.env, nullptr, flags, &txn);
        if (rc == 0) return txn;
        leave(s);
        if (rc == MDB_MAP_RESIZED && !again) {  // another process grew the map
            EMMY_CHECK_OK(while_idle(s, [&]() -> result<void> {
                if (const int resized = mdb_env_set_mapsize(s.env, 0); resized != 0) return refuse_lmdb("mdb_env_set_mapsize", resized, s.path);
                return {};
            }));
            continue;
        }
        if (rc == MDB_READERS_FULL) {
            int cleared = 0;
            mdb_reader_check(s.env, &cleared);
            if (cleared > 0 && !again) continue;
        }
        return refuse_lmdb("mdb_txn_begin", rc, s.path);
    }
}

}  // namespace detail

// --- cursor ---------------------------------------------------------------------------------------------------------------
EMMY_DECL cursor::~cursor() {
    if (cursor_) mdb_cursor_close(cursor_);
}
EMMY_DECL result<bool> cursor::move(int operation) {
    MDB_val k = detail::to_val(key_), v{};
    const int rc = mdb_cursor_get(cursor_, &k, &v, static_cast<MDB_cursor_op>(operation));
    if (rc == MDB_NOTFOUND) {
        key_ = value_ = {};
        return false;
    }
    if (rc != 0) return refuse(fault_kind::store, std::string("mdb_cursor_get: ") + mdb_strerror(rc));
    key_ = detail::to_view(k);
    value_ = detail::to_view(v);
    return true;
}
EMMY_DECL result<bool> cursor::first() { return move(MDB_FIRST); }
EMMY_DECL result<bool> cursor::last() { return move(MDB_LAST); }
EMMY_DECL result<bool> cursor::next() { return move(MDB_NEXT); }
EMMY_DECL result<bool> cursor::previous() { return move(MDB_PREV); }
EMMY_DECL result<bool> cursor::seek(std::string_view at_or_after) {
    if (at_or_after.empty()) return first();
    key_ = at_or_after;
    return move(MDB_SET_RANGE);
}

// --- transactions -----------------------------------------------------------------------------------------------------------
EMMY_DECL read_transaction::read_transaction(read_transaction&& other) noexcept
    : state_(std::move(other.state_)), txn_(std::exchange(other.txn_, nullptr)), writing_(std::exchange(other.writing_, false)) {}
EMMY_DECL read_transaction& read_transaction::operator=(read_transaction&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(txn_, other.txn_);
    std::swap(writing_, other.writing_);
    return *this;
}
EMMY_DECL read_transaction::~read_transaction() { abandon(); }
EMMY_DECL void read_transaction::abandon() {
    if (!txn_) return;
    if (state_->pid == ::getpid()) mdb_txn_abort(txn_);
    txn_ = nullptr;
    if (std::exchange(writing_, false)) state_->writer = std::thread::id();
    detail::leave(*state_);
}
EMMY_DECL const std::string& read_transaction::path() const { return state_->path; }

EMMY_DECL result<std::optional<std::string_view>> read_transaction::get(layout::table t, std::string_view key) const {
    return detail::get(txn_, state_->dbis[static_cast<std::size_t>(t)], key, state_->path, t);
}
EMMY_DECL result<cursor> read_transaction::open_cursor(layout::table t) const {
    MDB_cursor* c = nullptr;
    if (const int rc = mdb_cursor_open(txn_, state_->dbis[static_cast<std::size_t>(t)], &c); rc != 0) return detail::refuse_lmdb("mdb_cursor_open", rc, state_->path, layout::name(t));
    return cursor(c);
}
EMMY_DECL result<std::uint64_t> read_transaction::count(layout::table t) const {
    MDB_stat stat{};
    if (const int rc = mdb_stat(txn_, state_->dbis[static_cast<std::size_t>(t)], &stat); rc != 0) return detail::refuse_lmdb("mdb_stat", rc, state_->path, layout::name(t));
    return static_cast<std::uint64_t>(stat.ms_entries);
}

EMMY_DECL result<void> write_transaction::put(layout::table t, std::string_view key, std::string_view value) { return put_with(t, key, value, 0); }
EMMY_DECL result<void> write_transaction::append(layout::table t, std::string_view key, std::string_view value) { return put_with(t, key, value, MDB_APPEND); }
EMMY_DECL result<void> write_transaction::put_with(layout::table t, std::string_view key, std::string_view value, unsigned flags) {
    MDB_val k = detail::to_val(key), v = detail::to_val(value);
    const int rc = mdb_put(txn_, state_->dbis[static_cast<std::size_t>(t)], &k, &v, flags);
    if (rc == 0) return {};
    if (rc == MDB_MAP_FULL) map_full_ = true;
    return detail::refuse_lmdb("mdb_put", rc, state_->path, layout::name(t));
}
EMMY_DECL result<void> write_transaction::erase(layout::table t, std::string_view key) {
    MDB_val k = detail::to_val(key);
    const int rc = mdb_del(txn_, state_->dbis[static_cast<std::size_t>(t)], &k, nullptr);
    if (rc == 0) return {};
    if (rc == MDB_MAP_FULL) map_full_ = true;
    return detail::refuse_lmdb("mdb_del", rc, state_->path, layout::name(t));
}

// --- environment ------------------------------------------------------------------------------------------------------------
EMMY_DECL result<environment> environment::open(const std::string& path, const open_options& options) {
    if (path.empty()) return refuse(fault_kind::store, "found an empty path, expected the directory of a store");
    std::string clean = path;
    while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
    EMMY_TRY(state, detail::open_registered(clean, options, false));
    return environment(std::move(state));
}

EMMY_DECL result<environment> environment::temporary(store_kind kind, std::uint32_t identity_version, std::uint64_t map_bytes) {
    const char* named = std::getenv("TMPDIR");
    std::string failure;
    for (const std::string& base : {std::string("/dev/shm"), std::string(named ? named : ""), std::string("/tmp")}) {
        if (base.empty()) continue;
        std::string path = base + "/emmy-store-XXXXXX";
        if (!::mkdtemp(path.data())) {
            failure = base + ": " + std::strerror(errno);
            continue;
        }
        EMMY_TRY(state, detail::open_registered(path, {.mode = access::write, .kind = kind, .identity_version = identity_version, .map_bytes = map_bytes}, true));
        return environment(std::move(state));
    }
    return refuse(fault_kind::store, "no directory for a temporary store: " + failure);
}

EMMY_DECL result<read_transaction> environment::read() const {
    EMMY_TRY(txn, detail::begin(*state_, MDB_RDONLY));
    return read_transaction(state_, txn);
}

EMMY_DECL result<write_transaction> environment::begin_write() const {
    if (state_->mode != access::write) return refuse(fault_kind::store, "opened for reading, asked to write", {}, state_->path);
    if (state_->writer.load() == std::this_thread::get_id())
        return refuse(fault_kind::internal, "a write transaction inside another one of the same thread", {}, state_->path);
    detail::grow_ahead(*state_);
    EMMY_TRY(txn, detail::begin(*state_, 0));
    state_->writer = std::this_thread::get_id();
    write_transaction out(state_, txn);
    out.writing_ = true;
    return out;
}

EMMY_DECL result<void> environment::commit(write_transaction& txn) const {
    EMMY_TRY(epoch, detail::meta_number(txn.txn_, *state_, detail::meta_epoch));
    EMMY_CHECK_OK(txn.put(layout::table::meta, detail::meta_epoch, layout::value_writer().put(epoch.value_or(0) + 1).out));
    const detail::without_file_size_signal guard;
    const int rc = mdb_txn_commit(std::exchange(txn.txn_, nullptr));
    txn.writing_ = false;
    state_->writer = std::thread::id();
    detail::leave(*state_);
    if (rc == MDB_MAP_FULL) txn.map_full_ = true;
    if (rc != 0) return detail::refuse_write("mdb_txn_commit", rc, state_->path);
    return {};
}

EMMY_DECL result<void> environment::grow() const {
    int cleared = 0;
    mdb_reader_check(state_->env, &cleared);  // a dead reader keeps freed pages from being used again
    return detail::while_idle(*state_, [&]() -> result<void> {
        MDB_envinfo info{};
        mdb_env_info(state_->env, &info);
        const std::size_t bytes = info.me_mapsize * 2;
        if (const int rc = mdb_env_set_mapsize(state_->env, bytes); rc != 0)
            return refuse(fault_kind::store, "mdb_env_set_mapsize to " + std::to_string(bytes) + " bytes: " + mdb_strerror(rc), {}, state_->path);
        return {};
    });
}

EMMY_DECL store_kind environment::kind() const { return state_->kind; }
EMMY_DECL bool environment::writable() const { return state_->mode == access::write; }
EMMY_DECL const std::string& environment::path() const { return state_->path; }
EMMY_DECL std::uint64_t environment::map_bytes() const {
    MDB_envinfo info{};
    mdb_env_info(state_->env, &info);
    return info.me_mapsize;
}
EMMY_DECL int environment::stale_readers_cleared() const { return state_->stale_cleared; }
EMMY_DECL result<int> environment::clear_stale_readers() const {
    int cleared = 0;
    if (const int rc = mdb_reader_check(state_->env, &cleared); rc != 0) return detail::refuse_lmdb("mdb_reader_check", rc, state_->path);
    return cleared;
}
EMMY_DECL std::vector<std::string> environment::notes() const {
    std::vector<std::string> out;
    for (std::size_t at = 0, end; at < state_->notes.size(); at = end + 1) {
        end = std::min(state_->notes.find('\n', at), state_->notes.size());
        std::string line = state_->notes.substr(at, end - at);
        if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(std::move(line));  // (an environment may be opened twice: to look, and to stay)
    }
    return out;
}
EMMY_DECL result<std::uint64_t> environment::epoch() const {
    EMMY_TRY(txn, read());
    EMMY_TRY(found, detail::meta_number(txn.txn_, *state_, detail::meta_epoch));
    return found.value_or(0);
}

}  // namespace emmy::store
