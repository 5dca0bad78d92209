#pragma once
#include <emmy/device/impl/emulated_cluster.hpp>

/// Where threads meet: barriers of a block and of the cluster, phases, and the exchanges of a warp.
namespace emmy::device::emulated::detail {

inline void cluster::barrier(std::uint32_t id, std::uint32_t expected, bool waits, int line) {
    if (expected == 0) expected = shape_.threads;  // the whole block
    if (id > 15 || expected % 32 != 0 || expected > ((shape_.threads + 31) & ~31u))
        if (expected != shape_.threads) {
            find(defect::barrier_misuse, "barrier " + std::to_string(id) + " of " + std::to_string(expected) + " threads, expected 0 to 15 of whole warps of the block", line);
            return;
        }
    thread_barrier& b = barriers_[rank()][id];
    if (b.come == 0) b.expected = expected, b.collected.assign(me().known.size(), 0);
    if (b.expected != expected) find(defect::barrier_misuse, "barrier " + std::to_string(id) + " with " + std::to_string(expected) + " threads where others came with " + std::to_string(b.expected), line);
    join(b.collected, me().known);
    tick(current_);
    if (++b.come < b.expected) {
        if (!waits) return;
        b.waiting.push_back(self());
        wait("barrier " + std::to_string(id) + " (" + std::to_string(b.expected) + " threads)");
        return;
    }
    if (waits) join(me().known, b.collected);
    b.come = 0;
    for (const std::uint16_t t : b.waiting) join(threads_[t].known, b.collected), wake(t);
    b.waiting.clear();
}

inline void cluster::cluster_barrier(int) {
    thread_barrier& b = whole_;
    if (b.come == 0) b.collected.assign(me().known.size(), 0);
    join(b.collected, me().known);
    tick(current_);
    if (++b.come < threads_.size()) {
        b.waiting.push_back(self());
        wait("the barrier of the cluster");
        return;
    }
    join(me().known, b.collected);
    b.come = 0;
    for (const std::uint16_t t : b.waiting) join(threads_[t].known, b.collected), wake(t);
    b.waiting.clear();
}

inline phase_barrier* cluster::phase(std::uint64_t address, int line) {
    const auto found = phases_.find(static_cast<std::uint32_t>(address));
    if (found != phases_.end()) {
        const std::uint32_t at = static_cast<std::uint32_t>(address);
        const conflict c = memory_[at >> 24].may_read(at & 0xffffffu, 8, me().known);
        if (c.found) judge(c, at, "a phase barrier that was not initialised for this thread", line);
        return &found->second;
    }
    find(defect::barrier_misuse, "no phase barrier at " + place(static_cast<std::uint32_t>(address)), line);
    return nullptr;
}

/// Ends the phase where everything has come.
inline void cluster::phase_step(phase_barrier& p) {
    if (p.missing != 0 || p.bytes != 0) return;
    p.complete = p.collected;
    p.missing = p.arrivals;
    const std::uint32_t over = p.phase & 1;
    ++p.phase;
    std::erase_if(p.waiting, [&](const phase_barrier::waiter& w) {
        if (w.parity != over) return false;
        join(threads_[w.thread].known, p.complete);
        wake(w.thread);
        return true;
    });
}

inline void cluster::phase_arrive(phase_barrier& p, int line) {
    if (p.missing == 0) {
        find(defect::barrier_misuse, "an arrival at a phase that has all of its " + std::to_string(p.arrivals), line);
        return;
    }
    join(p.collected, me().known);
    tick(current_);
    --p.missing;
    phase_step(p);
}

inline void cluster::phase_wait(std::uint64_t address, std::uint32_t parity, int line) {
    phase_barrier* p = phase(address, line);
    if (!p) return;
    if ((p->phase & 1) != parity) {  // that phase is over (or never began: the caller may pass at once)
        if (p->phase > 0) join(me().known, p->complete);
        return;
    }
    p->waiting.push_back({self(), parity});
    wait("the phase of parity " + std::to_string(parity) + " at " + place(static_cast<std::uint32_t>(address)) + " (" + std::to_string(p->missing) + " arrivals and " + std::to_string(p->bytes) + " bytes are missing)");
}

/// Lanes of `mask` with one request; the last to come does it for all. True in the lane that did it.
template <class Done>
inline bool cluster::together(call what, std::uint32_t mask, const std::uint64_t* a, int count, int line, Done done) {
    if (!(mask >> lane() & 1)) {
        find(defect::barrier_misuse, "a lane that is not among the lanes it names", line);
        return false;
    }
    exchange& e = exchanges_[warp()][mask];
    if (e.come == 0) {
        e.mask = mask, e.line = line, e.what = what;
    } else if (e.line != line || e.what != what) {
        find(defect::barrier_misuse, std::string("lanes of one warp meet at line ") + std::to_string(e.line) + " and at line " + std::to_string(line), line);
        wait("lanes of its warp that are elsewhere, at line " + std::to_string(e.line));
        return false;
    }
    for (int i = 0; i < count; ++i) e.arguments[lane()][i] = a[i];
    e.come |= 1u << lane();
    if (e.come != mask) {
        std::string name(kernel::emulated::call_names[static_cast<std::size_t>(what)]);
        wait("the other lanes of its warp (" + name + ")");
        return false;
    }
    e.come = 0;
    done(e);
    const std::size_t first = warp() * 32;
    for (std::size_t l = 0; l < 32 && first + l < threads_.size(); ++l)
        if ((mask >> l & 1) && first + l != current_) wake(first + l);
    return true;
}

}  // namespace emmy::device::emulated::detail
