#pragma once
#include <emmy/store/environment.hpp>

#include <lmdb.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <signal.h>
#include <sys/types.h>

// Bodies only: the state that handles of one environment share.
namespace emmy::store::detail {

using file_id = std::pair<std::uint64_t, std::uint64_t>;  // device, inode of data.mdb

struct environment_state {
    MDB_env* env = nullptr;
    std::array<MDB_dbi, layout::table_count> dbis{};
    std::string path, notes;
    store_kind kind = store_kind::tuning;
    access mode = access::read;
    std::uint32_t identity_version = 0;
    bool temporary = false;
    int stale_cleared = 0;
    pid_t pid = 0;
    file_id id{};
    int handles = 1;  // guarded by the registry

    // The map may change size only while no transaction of this process is live.
    std::mutex mutex;
    std::condition_variable idle;
    int live = 0;
    bool resizing = false;
    std::atomic<std::thread::id> writer{};  // LMDB's writer lock is not recursive: a second one in a thread would hang
};

/// All open environments of this process.
struct registry {
    std::mutex mutex;
    std::map<file_id, environment_state*> open;
};
inline registry& environments() {
    static registry all;
    return all;
}

/// A write beyond RLIMIT_FSIZE shall be an error of the call, not the end of the process.
class without_file_size_signal {
public:
    without_file_size_signal() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    }
    ~without_file_size_signal() {
        if (sigismember(&before_, SIGXFSZ)) return;
        const timespec now{};
        while (sigtimedwait(&signals_, nullptr, &now) > 0) {}
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    without_file_size_signal(const without_file_size_signal&) = delete;

private:
    sigset_t signals_, before_;
};

inline tl::unexpected<fault> refuse_lmdb(const char* function, int rc, const std::string& path, std::string_view place = {}) {
    return refuse(fault_kind::store, std::string(function) + ": " + mdb_strerror(rc), std::string(place), path);
}
inline MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
inline std::string_view to_view(const MDB_val& v) { return {static_cast<const char*>(v.mv_data), v.mv_size}; }

// Facts of the `meta` table.
constexpr std::string_view meta_schema = "schema", meta_identity = "identity", meta_kind = "kind", meta_epoch = "epoch",
                           meta_writer = "writer", meta_creation = "creation", meta_seed = "hash_seed";

}  // namespace emmy::store::detail
