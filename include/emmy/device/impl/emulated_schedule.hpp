#pragma once
#include <emmy/device/impl/emulated_cluster.hpp>

/// Threads taking turns, and what a thread's request is turned into.
namespace emmy::device::emulated::detail {

inline void cluster::run() {
    // Fibers of threads that never end must not be unwound: the frames are the kernel's. They are forgotten with their vector.
    for (std::size_t t = 0; t < threads_.size(); ++t) {
        threads_[t].fiber = boost::context::fiber(std::allocator_arg, borrowed_stack{stacks_[t]}, [this, t](boost::context::fiber&& back) {
            threads_[t].back = std::move(back);
            what_(&cluster::enter, this);
            threads_[t].now = thread_state::status::done;
            return std::move(threads_[t].back);
        });
        ready_.push_back(t);
    }
    std::size_t left = threads_.size();
    while (left > 0) {
        if (how_.copies == landing::random && !copies_.empty() && draw() % 8 == 0) land(draw() % copies_.size());
        if (ready_.empty()) {
            if (copies_.empty()) {
                deadlock();
                break;
            }
            land(how_.copies == landing::random ? draw() % copies_.size() : 0);
            continue;
        }
        std::size_t at = 0;
        if (how_.seed != 0) at = draw() % ready_.size();
        current_ = ready_[at];
        ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(at));
        if (++out_.switches > how_.most_switches) break;
        thread_state& t = threads_[current_];
        t.fiber = std::move(t.fiber).resume();
        if (t.now == thread_state::status::done) {
            --left;
            if (!t.open.empty() || !t.groups.empty()) find_at(defect::pending_access, "the thread ends with copies that it did not wait for", t.line, current_);
        }
    }
    while (!copies_.empty()) land(0);
    for (std::size_t g = 0; g < groups_.size(); ++g)
        if (!groups_[g].open.empty() || !groups_[g].groups.empty()) find_at(defect::group_misuse, "the warp group ends with matrix products that it did not wait for", 0, g * 128);
    for (thread_state& t : threads_)
        if (t.now != thread_state::status::done) new boost::context::fiber(std::move(t.fiber)), new boost::context::fiber(std::move(t.back));
}

/// Gives way until woken.
inline void cluster::wait(std::string why) {
    thread_state& t = me();
    t.now = thread_state::status::waiting, t.waits_for = std::move(why);
    t.back = std::move(t.back).resume();
}

inline void cluster::wake(std::size_t thread) {
    if (threads_[thread].now != thread_state::status::waiting) return;
    threads_[thread].now = thread_state::status::ready;
    ready_.push_back(thread);
}

inline void cluster::find_at(defect kind, std::string text, int line, std::size_t thread) {
    if (!found_.emplace(line, static_cast<std::uint8_t>(kind)).second || out_.reports.size() >= 100) return;
    for (const report& r : out_.reports)
        if (r.kind == kind && r.line == line) return;
    out_.reports.push_back({kind, std::move(text), first_ + static_cast<std::uint32_t>(thread / shape_.threads), static_cast<std::uint32_t>(thread % shape_.threads), line});
}
inline void cluster::find(defect kind, std::string text, int line) { find_at(kind, std::move(text), line, current_); }

inline std::string cluster::place(std::uint32_t address) const {
    return "shared byte " + std::to_string(address & 0xffffffu) + (shape_.cluster > 1 ? " of block " + std::to_string(address >> 24) : std::string());
}
inline std::string cluster::who(std::uint16_t thread) const {
    if (thread == nobody) return "nobody";
    if (thread >= threads_.size()) return "a copy";
    return "thread " + std::to_string(thread % shape_.threads) + (threads_[thread].line > 0 ? " (last seen at line " + std::to_string(threads_[thread].line) + ")" : std::string());
}
inline void cluster::judge(const conflict& c, std::uint32_t address, const char* doing, int line) {
    if (!c.found) return;
    const bool copied = c.other != nobody && c.other >= threads_.size();
    const defect kind = c.kind == defect::race && copied ? defect::pending_access : c.kind;
    std::string text = std::string(doing) + " at " + place(address) + ": " + c.what;
    if (c.kind == defect::race || c.kind == defect::stale_slot) text += " " + who(c.other) + " and nothing orders the two";
    find(kind, std::move(text), line);
}

inline std::byte* cluster::shared(std::uint64_t address, std::uint64_t bytes, std::uint32_t alignment, int line) {
    const std::uint32_t block = static_cast<std::uint32_t>(address >> 24), offset = static_cast<std::uint32_t>(address & 0xffffffu);
    if (block >= shape_.cluster || !memory_[block].holds(offset, bytes)) {
        find(defect::out_of_bounds, std::to_string(bytes) + " bytes at " + place(static_cast<std::uint32_t>(address)) + " of " + std::to_string(shape_.shared_bytes), line);
        return nullptr;
    }
    if (alignment > 1 && offset % alignment != 0) {
        find(defect::misaligned, place(static_cast<std::uint32_t>(address)) + " for an access that takes multiples of " + std::to_string(alignment), line);
        return nullptr;
    }
    return memory_[block].at(offset);
}

inline std::byte* cluster::global(std::uint64_t pointer, std::uint64_t bytes, bool writes, int line) {
    const auto* nearest = static_cast<const buffer_range*>(nullptr);
    std::uint64_t distance = ~std::uint64_t{0};
    for (const buffer_range& b : buffers_) {
        const auto base = reinterpret_cast<std::uint64_t>(b.base);
        if (pointer >= base && pointer - base <= b.bytes && bytes <= b.bytes - (pointer - base)) {
            if (writes && !b.writable) find(defect::out_of_bounds, "a write to the input " + b.name + " at byte " + std::to_string(pointer - base), line);
            if (bytes > 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0 && pointer % bytes != 0) find(defect::misaligned, "byte " + std::to_string(pointer - base) + " of " + b.name + " for an access of " + std::to_string(bytes), line);
            return writes && !b.writable ? nullptr : reinterpret_cast<std::byte*>(pointer);
        }
        const std::uint64_t away = pointer < base ? base - pointer : pointer - base;
        if (away < distance) distance = away, nearest = &b;
    }
    std::string text = std::to_string(bytes) + (writes ? " bytes written" : " bytes read");
    if (nearest) {
        const auto offset = static_cast<std::int64_t>(pointer - reinterpret_cast<std::uint64_t>(nearest->base));
        text += " at byte " + std::to_string(offset) + " of " + nearest->name + ", which has " + std::to_string(nearest->bytes);
    }
    find(defect::out_of_bounds, std::move(text), line);
    return nullptr;
}

inline void cluster::deadlock() {
    // One report per place: how many wait there, and for what.
    std::map<std::pair<int, std::string>, std::vector<std::size_t>> places;
    for (std::size_t t = 0; t < threads_.size(); ++t)
        if (threads_[t].now == thread_state::status::waiting) places[{threads_[t].line, threads_[t].waits_for}].push_back(t);
    for (const auto& [at, waiting] : places)
        find_at(defect::deadlock, std::to_string(waiting.size()) + " threads wait for " + at.second + ", the first of them thread " + std::to_string(waiting.front() % shape_.threads) + "; nobody can go on", at.first, waiting.front());
}

inline std::uint64_t cluster::ask(call what, const std::uint64_t* a, int line) {
    thread_state& t = me();
    t.line = line;
    const auto address = [&] { return static_cast<std::uint32_t>(a[0]); };
    switch (what) {
    case call::thread: return in_block();
    case call::block: return first_ + rank();
    case call::rank: return rank();
    case call::barrier: barrier(static_cast<std::uint32_t>(a[0]), static_cast<std::uint32_t>(a[1]), true, line); return 0;
    case call::barrier_arrive: barrier(static_cast<std::uint32_t>(a[0]), static_cast<std::uint32_t>(a[1]), false, line); return 0;
    case call::cluster_barrier: cluster_barrier(line); return 0;
    case call::warp_barrier:
        together(what, static_cast<std::uint32_t>(a[0]), a, 1, line, [&](exchange& e) {
            times all(t.known.size(), 0);
            for (std::uint32_t l = 0; l < 32; ++l)
                if (e.mask >> l & 1) join(all, threads_[warp() * 32 + l].known);
            for (std::uint32_t l = 0; l < 32; ++l)
                if (e.mask >> l & 1) threads_[warp() * 32 + l].known = all, tick(warp() * 32 + l);
        });
        return 0;
    case call::shuffle:
        together(what, static_cast<std::uint32_t>(a[2]), a, 3, line, [&](exchange& e) {
            for (std::uint32_t l = 0; l < 32; ++l) {
                if (!(e.mask >> l & 1)) continue;
                const auto from = static_cast<std::uint32_t>(e.arguments[l][1]) & 31;
                if (!(e.mask >> from & 1)) find_at(defect::barrier_misuse, "lane " + std::to_string(l) + " reads lane " + std::to_string(from) + ", which takes no part", line, warp() * 32 + l);
                threads_[warp() * 32 + l].answer = e.arguments[from][0];
            }
        });
        return t.answer;
    case call::vote:
        together(what, static_cast<std::uint32_t>(a[1]), a, 2, line, [&](exchange& e) {
            std::uint32_t holds = 0;
            for (std::uint32_t l = 0; l < 32; ++l)
                if ((e.mask >> l & 1) && e.arguments[l][0] != 0) holds |= 1u << l;
            for (std::uint32_t l = 0; l < 32; ++l)
                if (e.mask >> l & 1) threads_[warp() * 32 + l].answer = holds;
        });
        return t.answer;
    case call::shared_read:
    case call::shared_write:
    case call::shared_atomic: {
        const auto bytes = static_cast<std::uint32_t>(a[1]);
        std::byte* at = shared(a[0], bytes, bytes <= 16 && (bytes & (bytes - 1)) == 0 ? bytes : 1, line);
        if (!at) return reinterpret_cast<std::uint64_t>(nowhere_);
        shared_space& space = memory_[address() >> 24];
        const std::uint32_t offset = address() & 0xffffffu;
        judge(what == call::shared_read ? space.read(offset, bytes, self(), t.known) : what == call::shared_write ? space.write(offset, bytes, self(), t.known) : space.atomic(offset, bytes, t.known), address(),
              what == call::shared_read ? "a read" : what == call::shared_write ? "a write" : "an atomic operation", line);
        return reinterpret_cast<std::uint64_t>(at);
    }
    case call::global_read:
    case call::global_write:
    case call::global_atomic: {
        std::byte* at = global(a[0], a[1], what != call::global_read, line);
        return reinterpret_cast<std::uint64_t>(at ? at : nowhere_);
    }
    case call::copy: copy(a, line); return 0;
    case call::copy_commit: t.groups.push_back(std::move(t.open)), t.open.clear(); return 0;
    case call::copy_wait: copy_wait(a[0]); return 0;
    case call::phase_init: {
        if (!shared(a[0], 8, 8, line)) return 0;
        if (!phases_.contains(address()) && phases_.size() >= most_phases) {
            find(defect::barrier_misuse, "more than " + std::to_string(most_phases) + " phase barriers", line);
            return 0;
        }
        phase_barrier& p = phases_[address()];
        if (p.arrivals == 0) p.number = static_cast<std::uint16_t>(threads_.size() + phases_.size() - 1);
        p.arrivals = p.missing = static_cast<std::uint32_t>(a[1]), p.phase = 0, p.bytes = 0;
        p.collected.assign(t.known.size(), 0), p.complete.assign(t.known.size(), 0);
        memory_[address() >> 24].set_writer(address() & 0xffffffu, 8, self(), t.known[current_]);
        return 0;
    }
    case call::phase_expect:
        if (phase_barrier* p = phase(a[0], line)) p->bytes += static_cast<std::int64_t>(a[1]), phase_arrive(*p, line);
        return 0;
    case call::phase_arrive:
        if (phase_barrier* p = phase(a[0], line)) phase_arrive(*p, line);
        return 0;
    case call::phase_wait: phase_wait(a[0], static_cast<std::uint32_t>(a[1]) & 1, line); return 0;
    case call::phase_copy_arrive: {
        phase_barrier* p = phase(a[0], line);
        if (!p) return 0;
        async_copy c;
        c.phase = address(), c.arrival = true;
        for (auto& group : t.groups)
            for (auto& one : group) c.pieces.push_back({one.to, one.bytes, std::move(one.data)});
        for (auto& one : t.open) c.pieces.push_back({one.to, one.bytes, std::move(one.data)});
        t.groups.clear(), t.open.clear();
        join(p->collected, t.known);
        copies_.push_back(std::move(c));
        if (how_.copies == landing::early) land(copies_.size() - 1);
        return 0;
    }
    case call::async_fence: t.fenced = t.known[current_], tick(current_); return 0;
    case call::tensor_load: tensor_load(a, line); return 0;
    case call::bulk_load: bulk_load(a, line); return 0;
    case call::matrix_load: return matrix_move(a, true, line);
    case call::matrix_store: return matrix_move(a, false, line);
    case call::mma: multiply(a, line); return 0;
    case call::wgmma: group_multiply(a, line); return 0;
    case call::wgmma_fence: groups_[group()].fenced = true; return 0;
    case call::wgmma_commit:
    case call::wgmma_wait: group_wait(what == call::wgmma_commit ? ~std::size_t{0} : a[0], line); return 0;
    case call::registers:
        if (a[0] % 8 != 0 || a[0] < 24 || a[0] > 256) find(defect::barrier_misuse, std::to_string(a[0]) + " registers a thread, expected a multiple of 8 from 24 to 256", line);
        return 0;
    case call::count: break;
    }
    find(defect::barrier_misuse, "request " + std::to_string(static_cast<std::uint32_t>(what)) + ", which this machine does not know", line);
    return 0;
}

}  // namespace emmy::device::emulated::detail
