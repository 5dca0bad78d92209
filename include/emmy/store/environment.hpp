#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/layout.hpp>
#include <emmy/store/records.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct MDB_txn;
struct MDB_cursor;

/// The LMDB environment of one store: a directory, one writer at a time, any number of readers, each on one snapshot.
namespace emmy::store {

namespace detail {
struct environment_state;  // one per (device, inode) and process

/// A counted reference to it; the last one closes the environment.
class state_handle {
public:
    explicit state_handle(environment_state* counted) : state_(counted) {}  ///< takes over one count
    EMMY_DECL state_handle(const state_handle& other);
    state_handle(state_handle&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    state_handle& operator=(state_handle other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    EMMY_DECL ~state_handle();

    environment_state* operator->() const { return state_; }
    environment_state& operator*() const { return *state_; }

private:
    environment_state* state_;
};
}  // namespace detail

enum class access : std::uint8_t { read, write };

struct open_options {
    access mode = access::read;
    std::optional<store_kind> kind;          ///< what it must be; needed to create one
    std::uint32_t identity_version = 0;      ///< of the way kernels are digested; a store of another one is not read
    std::uint64_t map_bytes = std::uint64_t{1} << 30;  ///< first size of the map (address space, not disk); grows by doubling
    bool durable = true;                     ///< false: only for stores that can be filled again
};

/// Position in one named database; views live as long as the transaction (and, in a write transaction, until its next write).
class cursor {
public:
    cursor(cursor&& other) noexcept : cursor_(std::exchange(other.cursor_, nullptr)) {}
    cursor& operator=(cursor&& other) noexcept {
        std::swap(cursor_, other.cursor_);
        return *this;
    }
    EMMY_DECL ~cursor();

    // false = past the end.
    EMMY_DECL result<bool> first();
    EMMY_DECL result<bool> last();
    EMMY_DECL result<bool> next();
    EMMY_DECL result<bool> previous();
    EMMY_DECL result<bool> seek(std::string_view at_or_after);

    std::string_view key() const { return key_; }
    std::string_view value() const { return value_; }

private:
    friend class read_transaction;
    explicit cursor(MDB_cursor* c) : cursor_(c) {}
    EMMY_DECL result<bool> move(int operation);
    MDB_cursor* cursor_;
    std::string_view key_, value_;
};

/// One thread at a time, and texts it gives live as long as it. One consistent snapshot. Keep it short: pages freed meanwhile pile up, and the map cannot grow.
class read_transaction {
public:
    EMMY_DECL read_transaction(read_transaction&& other) noexcept;
    EMMY_DECL read_transaction& operator=(read_transaction&& other) noexcept;
    EMMY_DECL ~read_transaction();

    /// The value under a key, or nothing.
    EMMY_DECL result<std::optional<std::string_view>> get(layout::table t, std::string_view key) const;
    EMMY_DECL result<cursor> open_cursor(layout::table t) const;
    /// Entries of a named database.
    EMMY_DECL result<std::uint64_t> count(layout::table t) const;
    EMMY_DECL const std::string& path() const;

protected:
    friend class environment;
    read_transaction(detail::state_handle state, MDB_txn* txn) : state_(std::move(state)), txn_(txn) {}
    EMMY_DECL void abandon();
    detail::state_handle state_;
    MDB_txn* txn_ = nullptr;
    bool writing_ = false;
};

/// Sees its own writes; nothing of it is visible or on disk before commit.
class write_transaction : public read_transaction {
public:
    write_transaction(write_transaction&&) noexcept = default;

    EMMY_DECL result<void> put(layout::table t, std::string_view key, std::string_view value);
    /// Keys must come in ascending order.
    EMMY_DECL result<void> append(layout::table t, std::string_view key, std::string_view value);
    EMMY_DECL result<void> erase(layout::table t, std::string_view key);

private:
    friend class environment;
    using read_transaction::read_transaction;
    EMMY_DECL result<void> put_with(layout::table t, std::string_view key, std::string_view value, unsigned flags);
    bool map_full_ = false;
};

/// Any number of threads may use one; writers take turns. A handle; copies share the environment. Opening one path twice in a process gives the same environment.
class environment {
public:
    /// Opens, or with access::write creates, the store at a directory. Errors (store): none there, another kind, another
    /// schema or identity version (a reader refuses; a writer moves the old directory to `<path>.old-<version>` and starts empty),
    /// not writable, truncated, the LMDB function and its text otherwise.
    EMMY_DECL static result<environment> open(const std::string& path, const open_options& options);
    /// An empty store in memory-backed temporary files, gone with the last handle.
    EMMY_DECL static result<environment> temporary(store_kind kind, std::uint32_t identity_version = 0, std::uint64_t map_bytes = std::uint64_t{1} << 30);

    /// A snapshot. Errors (store): too many readers, opened by another process (after a fork).
    EMMY_DECL result<read_transaction> read() const;

    /// Runs `body(write_transaction&) -> result<void>` and commits; on any error nothing is stored. The body runs again when
    /// the map had to grow, so it must not keep what it learnt from a failed run.
    template <class Body>
    result<void> write(Body&& body) const {
        for (;;) {
            EMMY_TRY(txn, begin_write());
            result<void> done = body(txn);
            if (done) done = commit(txn);
            if (done || !txn.map_full_) return done;
            txn.abandon();
            EMMY_CHECK_OK(grow());
        }
    }

    EMMY_DECL store_kind kind() const;
    EMMY_DECL bool writable() const;
    EMMY_DECL const std::string& path() const;
    EMMY_DECL std::uint64_t map_bytes() const;
    /// Reader slots of dead processes freed when this process opened the store.
    EMMY_DECL int stale_readers_cleared() const;
    /// Frees reader slots of dead processes now; how many.
    EMMY_DECL result<int> clear_stale_readers() const;
    /// What a user should know: a network file system, a moved store of another version, no reader lock. Lines; empty = nothing.
    EMMY_DECL std::vector<std::string> notes() const;
    /// Commits since creation.
    EMMY_DECL result<std::uint64_t> epoch() const;

private:
    explicit environment(detail::state_handle state) : state_(std::move(state)) {}
    EMMY_DECL result<write_transaction> begin_write() const;
    EMMY_DECL result<void> commit(write_transaction& txn) const;
    EMMY_DECL result<void> grow() const;
    detail::state_handle state_;
};

}  // namespace emmy::store

#ifdef EMMY_HEADER_ONLY
#include <emmy/store/impl/environment.ipp>
#endif
