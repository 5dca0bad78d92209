#pragma once
#include <emmy/device/cpu/team.hpp>

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <thread>
#include <vector>

namespace emmy::device::cpu {

namespace detail {
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}
/// Spins a few microseconds, then yields (the machine may have fewer free cores than the team has parts).
template <class Done>
void wait_spinning(Done done) {
    for (int i = 0; !done(); ++i) {
        if (i < 4096)
            relax();
        else
            ::sched_yield();
    }
}
}  // namespace detail

struct thread_team::state {
    explicit state(int parts) : parts(parts) {}

    struct job {
        entry_point entry = nullptr;
        void* const* buffers = nullptr;
        const long long* sizes = nullptr;
        unsigned char* scratch = nullptr;
    };
    const int parts;
    job current;
    alignas(64) std::atomic<unsigned> epoch{0};
    alignas(64) std::atomic<int> running{0};
    alignas(64) std::atomic<int> arrived{0};
    alignas(64) std::atomic<unsigned> phase{0};
    std::atomic<bool> ending{false};
    std::vector<std::thread> threads;

    static void barrier(void* team) {
        auto& s = *static_cast<state*>(team);
        if (s.parts == 1) return;
        const unsigned phase = s.phase.load(std::memory_order_relaxed);
        if (s.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == s.parts) {
            s.arrived.store(0, std::memory_order_relaxed);
            s.phase.store(phase + 1, std::memory_order_release);
        } else {
            detail::wait_spinning([&] { return s.phase.load(std::memory_order_acquire) != phase; });
        }
    }
    void call(int part) {
        const emmy_launch block{current.buffers, current.sizes, current.scratch, part, parts, &barrier, this};
        current.entry(&block);
    }
    void serve(int part) {
        for (unsigned seen = 0;;) {
            // Spin for about 100 µs between launches of one measurement, then sleep in the kernel.
            for (int i = 0; i < 4096 && epoch.load(std::memory_order_acquire) == seen; ++i) detail::relax();
            epoch.wait(seen, std::memory_order_acquire);
            seen = epoch.load(std::memory_order_acquire);
            if (ending.load(std::memory_order_relaxed)) return;
            call(part);
            running.fetch_sub(1, std::memory_order_release);
        }
    }
};

EMMY_DECL thread_team::thread_team(int parts) : state_(std::make_unique<state>(std::clamp(parts, 1, 1024))) {
    for (int part = 1; part < state_->parts; ++part) state_->threads.emplace_back([s = state_.get(), part] { s->serve(part); });
}

EMMY_DECL thread_team::~thread_team() {
    state_->ending.store(true, std::memory_order_relaxed);
    state_->epoch.fetch_add(1, std::memory_order_release);
    state_->epoch.notify_all();
    for (std::thread& t : state_->threads) t.join();
}

EMMY_DECL int thread_team::parts() const { return state_->parts; }

EMMY_DECL void thread_team::run(entry_point entry, void* const* buffers, const long long* sizes, unsigned char* scratch) {
    state& s = *state_;
    s.current = {entry, buffers, sizes, scratch};
    if (s.parts == 1) return s.call(0);
    s.running.store(s.parts - 1, std::memory_order_relaxed);
    s.epoch.fetch_add(1, std::memory_order_release);
    s.epoch.notify_all();
    s.call(0);
    detail::wait_spinning([&] { return s.running.load(std::memory_order_acquire) == 0; });
}

}  // namespace emmy::device::cpu
