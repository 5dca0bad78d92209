#pragma once
#include <emmy/core/config.hpp>

#include <memory>

/// The launch block of the kernel text ABI; kernel texts define the same struct.
extern "C" {
struct emmy_launch {
    void* const* buffers;
    const long long* sizes;
    unsigned char* scratch;
    int part, parts;
    void (*barrier)(void*);
    void* team;
};
}

namespace emmy::device::cpu {

using entry_point = void (*)(const emmy_launch*);

/// Persistent threads that run one kernel together: the calling thread is part 0. Threads spin for a while, then sleep.
class thread_team {
public:
    EMMY_DECL explicit thread_team(int parts);
    EMMY_DECL ~thread_team();
    thread_team(const thread_team&) = delete;
    thread_team& operator=(const thread_team&) = delete;

    EMMY_DECL int parts() const;
    /// Calls `entry` once per part and returns when all have returned. One caller at a time.
    EMMY_DECL void run(entry_point entry, void* const* buffers, const long long* sizes, unsigned char* scratch);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace emmy::device::cpu

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cpu_team.ipp>
#endif
