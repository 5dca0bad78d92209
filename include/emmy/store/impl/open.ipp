#pragma once
#include <emmy/core/directory.hpp>
#include <emmy/store/impl/state.hpp>

#include <emmy/core/config.hpp>
#include <emmy/core/file.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

// Bodies only: finding, checking, creating and moving aside the environment behind a path.
namespace emmy::store::detail {

inline std::string network_file_system(const std::string& path) {
    struct statfs info {};
    if (::statfs(path.c_str(), &info) != 0) return {};
    switch (static_cast<std::uint32_t>(info.f_type)) {
        case 0x6969: return "nfs";
        case 0x517b: case 0xfe534d42: return "smb";
        case 0xff534d42: return "cifs";
        case 0x01021997: return "9p";
        case 0x65735546: return "fuse";
        case 0x00c36400: return "ceph";
        case 0x0bd00bd0: return "lustre";
        case 0x47504653: return "gpfs";
        default: return {};
    }
}

inline std::optional<file_id> file_id_of(const std::string& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return {};
    return file_id{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

inline result<std::optional<std::string_view>> get(MDB_txn* txn, MDB_dbi dbi, std::string_view key, const std::string& path, layout::table t) {
    MDB_val k = to_val(key), v{};
    const int rc = mdb_get(txn, dbi, &k, &v);
    if (rc == MDB_NOTFOUND) return std::optional<std::string_view>();
    if (rc != 0) return refuse_lmdb("mdb_get", rc, path, layout::name(t));
    return std::optional<std::string_view>(to_view(v));
}

inline std::optional<std::uint64_t> number(std::string_view bytes) {
    if (bytes.size() != 8) return {};
    return layout::value_reader(bytes).get<std::uint64_t>();
}

/// A fact of the meta table as a number; nothing when absent or damaged.
inline result<std::optional<std::uint64_t>> meta_number(MDB_txn* txn, environment_state& s, std::string_view name) {
    EMMY_TRY(found, get(txn, s.dbis[0], name, s.path, layout::table::meta));
    if (!found) return std::optional<std::uint64_t>();
    return number(*found);
}

inline result<void> put_number(MDB_txn* txn, environment_state& s, std::string_view name, std::uint64_t v) {
    const std::string bytes = layout::value_writer().put(v).out;
    MDB_val k = to_val(name), data = to_val(bytes);
    if (const int rc = mdb_put(txn, s.dbis[0], &k, &data, 0); rc != 0) return refuse_lmdb("mdb_put", rc, s.path, "meta");
    return {};
}

/// What the meta table of an opened environment says.
enum class stamp : std::uint8_t { empty, current, other };
struct stamped {
    stamp what = stamp::empty;
    std::uint64_t schema = 0, identity = 0, kind = 0;
};

inline void raw_close(environment_state& s) {
    if (s.env) mdb_env_close(s.env);
    s.env = nullptr;
}

/// mdb_env_create … mdb_env_open, without looking inside.
inline result<void> raw_open(environment_state& s, const open_options& options) {
    if (const int rc = mdb_env_create(&s.env); rc != 0) return refuse_lmdb("mdb_env_create", rc, s.path);
    mdb_env_set_maxdbs(s.env, 16);
    mdb_env_set_maxreaders(s.env, 512);
    if (const int rc = mdb_env_set_mapsize(s.env, options.map_bytes); rc != 0) return refuse_lmdb("mdb_env_set_mapsize", rc, s.path);
    unsigned flags = MDB_NOTLS | (options.mode == access::read ? MDB_RDONLY : 0u);
    if (!options.durable) flags |= MDB_NOMETASYNC;
    if (s.temporary) flags |= MDB_NOSYNC;
    const without_file_size_signal guard;
    int rc = mdb_env_open(s.env, s.path.c_str(), flags, 0644);
    if (rc == EACCES && options.mode == access::read && ::access((s.path + "/data.mdb").c_str(), R_OK) == 0) {
        // A store that this user may read but not lock (installed, or another user's).
        raw_close(s);
        mdb_env_create(&s.env);
        mdb_env_set_maxdbs(s.env, 16);
        mdb_env_set_mapsize(s.env, options.map_bytes);
        rc = mdb_env_open(s.env, s.path.c_str(), flags | MDB_NOLOCK, 0644);
        s.notes += "read without a reader lock (lock.mdb is not writable): no other process may write " + s.path + " meanwhile\n";
    }
    if (rc != 0) {
        auto failed = refuse_lmdb("mdb_env_open", rc, s.path);
        raw_close(s);
        return failed;
    }
    // A map shorter than what the file says it holds would fault later, at the first access.
    MDB_envinfo info{};
    MDB_stat stat{};
    mdb_env_info(s.env, &info);
    mdb_env_stat(s.env, &stat);
    struct stat file {};
    // (Pages taken and given back in one transaction are never written, so the very end may be missing.)
    const std::uint64_t slack = std::uint64_t{256} * stat.ms_psize;
    if (::stat((s.path + "/data.mdb").c_str(), &file) == 0 && static_cast<std::uint64_t>(file.st_size) + slack < (info.me_last_pgno + 1) * stat.ms_psize) {
        raw_close(s);
        return refuse(fault_kind::store, "found " + std::to_string(file.st_size) + " bytes of data.mdb, expected at least " +
                                             std::to_string((info.me_last_pgno + 1) * stat.ms_psize) + ": the store is truncated", {}, s.path);
    }
    int cleared = 0;
    if (mdb_reader_check(s.env, &cleared) == 0) s.stale_cleared += cleared;
    return {};
}

/// Opens the named databases (creating them where `create`) and reads the stamp.
inline result<stamped> open_tables(environment_state& s, bool create) {
    MDB_txn* txn = nullptr;
    const without_file_size_signal guard;
    int rc = mdb_txn_begin(s.env, nullptr, create ? 0 : MDB_RDONLY, &txn);
    if (rc == MDB_MAP_RESIZED) {
        mdb_env_set_mapsize(s.env, 0);
        rc = mdb_txn_begin(s.env, nullptr, create ? 0 : MDB_RDONLY, &txn);
    }
    if (rc != 0) return refuse_lmdb("mdb_txn_begin", rc, s.path);
    const auto give_up = [&](tl::unexpected<fault> f) {
        mdb_txn_abort(txn);
        return f;
    };
    stamped out;
    for (std::size_t i = 0; i < layout::table_count; ++i) {
        rc = mdb_dbi_open(txn, layout::table_names[i].data(), create ? MDB_CREATE : 0, &s.dbis[i]);
        if (rc == MDB_NOTFOUND) {
            mdb_txn_abort(txn);
            if (i != 0) out.what = stamp::other;  // an interrupted creation, or tables of another layout
            return out;
        }
        if (rc != 0) return give_up(refuse_lmdb("mdb_dbi_open", rc, s.path, layout::table_names[i]));
    }
    std::optional<std::uint64_t> values[3];
    const std::string_view names[] = {meta_schema, meta_identity, meta_kind};
    for (int i = 0; i < 3; ++i) {
        auto v = meta_number(txn, s, names[i]);
        if (!v) return give_up(refuse(std::move(v).error()));
        values[i] = *v;
    }
    if (!values[0] && !values[1] && create) {
        const std::pair<std::string_view, std::uint64_t> facts[] = {{meta_schema, layout::schema_version}, {meta_identity, s.identity_version},
            {meta_kind, static_cast<std::uint64_t>(s.kind)}, {meta_epoch, 0}, {meta_seed, 0},
            {meta_writer, EMMY_VERSION_MAJOR * 10000 + EMMY_VERSION_MINOR * 100 + EMMY_VERSION_PATCH},
            {meta_creation, static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) ^ static_cast<std::uint64_t>(::getpid()) << 48}};
        for (const auto& [name, v] : facts)
            if (auto done = put_number(txn, s, name, v); !done) return give_up(refuse(std::move(done).error()));
        values[0] = layout::schema_version, values[1] = s.identity_version, values[2] = static_cast<std::uint64_t>(s.kind);
    }
    rc = mdb_txn_commit(txn);
    if (rc != 0) return refuse_lmdb("mdb_txn_commit", rc, s.path);
    out.schema = values[0].value_or(0), out.identity = values[1].value_or(0), out.kind = values[2].value_or(0);
    const bool current = out.schema == layout::schema_version && values[1] == s.identity_version && (out.kind == 1 || out.kind == 2);
    out.what = current ? stamp::current : stamp::other;
    return out;
}

inline std::string version_text(const stamped& v) { return std::to_string(v.schema) + "." + std::to_string(v.identity); }

/// Does the directory hold a readable store of another version? (Reads only; nothing is created.)
inline result<stamped> peek(environment_state& s) {
    open_options options;
    EMMY_CHECK_OK(raw_open(s, options));
    auto found = open_tables(s, false);
    raw_close(s);
    return found;
}

inline result<void> set_aside(environment_state& s, const stamped& found) {
    std::string to = s.path + ".old-" + version_text(found);
    for (int n = 2; ::access(to.c_str(), F_OK) == 0; ++n) to = s.path + ".old-" + version_text(found) + "-" + std::to_string(n);
    if (::rename(s.path.c_str(), to.c_str()) != 0)
        return refuse(fault_kind::store, std::string("cannot move the store of another version to ") + to + ": " + std::strerror(errno), {}, s.path);
    s.notes += "the store at " + s.path + " was of version " + version_text(found) + ", this build writes " + std::to_string(layout::schema_version) + "." +
               std::to_string(s.identity_version) + ": moved to " + to + ", started empty\n";
    return make_directories(s.path, fault_kind::store);
}

inline result<void> open_state(environment_state& s, const open_options& options) {
    const std::string data = s.path + "/data.mdb";
    s.pid = ::getpid();
    s.mode = options.mode;
    s.identity_version = options.identity_version;
    struct stat info {};
    if (::stat(s.path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
        return refuse(fault_kind::store, "found a file, expected a store directory", {}, s.path);
    const bool exists = ::stat(data.c_str(), &info) == 0 && info.st_size > 0;
    if (!exists && options.mode == access::read)
        return refuse(fault_kind::store, "found no store, expected one (emmy-import SOURCE --db PATH fills a dataset; emmy-bench fills the tuning store)", {}, s.path);
    if (!exists) {
        if (!options.kind) return refuse(fault_kind::store, "found no store, and its kind is not given", {}, s.path);
        EMMY_CHECK_OK(make_directories(s.path, fault_kind::store));
    }
    if (const std::string network = network_file_system(s.path); !network.empty()) {
        if (options.mode == access::write)
            return refuse(fault_kind::store, "found a network file system (" + network + "), expected a local one: its locks do not hold between machines", {}, s.path);
        s.notes += "on a network file system (" + network + "): safe only while no other machine writes it\n";
    }
    stamped found;
    if (exists) {
        EMMY_TRY(seen, peek(s));
        found = seen;
        if (found.what == stamp::other && options.mode == access::read)
            return refuse(fault_kind::store, "found a store of version " + version_text(found) + ", expected " + std::to_string(layout::schema_version) + "." +
                                                 std::to_string(options.identity_version) + " (schema.identity): import again, or let a writer start a new one", {}, s.path);
        if (found.what == stamp::empty && options.mode == access::read)
            return refuse(fault_kind::store, "found an LMDB environment that is no store", {}, s.path);
        if (found.what == stamp::empty && !options.kind) return refuse(fault_kind::store, "found an empty store, and its kind is not given", {}, s.path);
        if (found.what == stamp::other) {
            // Writers of one moment must not move each other's new store: look again under the lock.
            const auto lock = file_lock::acquire(s.path);
            if (!lock) return refuse(fault(fault_kind::store, lock.error().message(), {}, s.path));
            EMMY_TRY(again, peek(s));
            if (again.what == stamp::other) {
                if (!options.kind && again.kind != 1 && again.kind != 2) return refuse(fault_kind::store, "found a store of another version, and its kind is not given", {}, s.path);
                const bool known_kind = again.kind == 1 || again.kind == 2;
                if (known_kind && options.kind && static_cast<store_kind>(again.kind) != *options.kind)
                    return refuse(fault_kind::store, "found a " + std::string(name(static_cast<store_kind>(again.kind))) + " store of another version, expected a " + std::string(name(*options.kind)) + " store", {}, s.path);
                s.kind = options.kind ? *options.kind : static_cast<store_kind>(again.kind);
                EMMY_CHECK_OK(set_aside(s, again));
            } else {
                found = again;
            }
            if (options.kind) s.kind = *options.kind;
            EMMY_CHECK_OK(raw_open(s, options));
            EMMY_TRY(now, open_tables(s, true));
            found = now;
        }
    }
    if (!s.env) {
        if (options.kind) s.kind = *options.kind;
        EMMY_CHECK_OK(raw_open(s, options));
        EMMY_TRY(now, open_tables(s, options.mode == access::write && (!exists || found.what == stamp::empty)));
        if (now.what != stamp::current) return refuse(fault_kind::store, "found a store that changed while it was opened", {}, s.path);
        found = now;
    }
    if (options.kind && found.kind != static_cast<std::uint64_t>(*options.kind))
        return refuse(fault_kind::store, "found a " + std::string(name(static_cast<store_kind>(found.kind))) + " store, expected a " + std::string(name(*options.kind)) + " store", {}, s.path);
    s.kind = static_cast<store_kind>(found.kind);
    return {};
}

inline result<state_handle> open_registered(const std::string& path, const open_options& options, bool temporary) {
    registry& all = environments();
    const std::lock_guard hold(all.mutex);
    const std::string data = path + "/data.mdb";
    const auto id = file_id_of(data);
    if (const auto at = id ? all.open.find(*id) : all.open.end(); at != all.open.end() && at->second->pid == ::getpid()) {
        environment_state& shared = *at->second;
        if (options.mode == access::write && shared.mode == access::read)
            return refuse(fault_kind::store, "this process has the store open for reading, expected to be the first to open it for writing", {}, path);
        if (options.kind && shared.kind != *options.kind)
            return refuse(fault_kind::store, "found a " + std::string(name(shared.kind)) + " store, expected a " + std::string(name(*options.kind)) + " store", {}, path);
        if (options.identity_version != shared.identity_version)
            return refuse(fault_kind::store, "this process has the store open under identity version " + std::to_string(shared.identity_version), {}, path);
        ++shared.handles;
        return state_handle(&shared);
    }
    auto fresh = std::make_unique<environment_state>();
    fresh->path = path;
    fresh->temporary = temporary;
    if (auto done = open_state(*fresh, options); !done) {
        raw_close(*fresh);
        return refuse(std::move(done).error());
    }
    fresh->id = file_id_of(data).value_or(file_id{});
    all.open[fresh->id] = fresh.get();  // (in place of what a fork inherited)
    return state_handle(fresh.release());
}

}  // namespace emmy::store::detail
