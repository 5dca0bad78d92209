#pragma once
#include <emmy/device/measure.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace emmy::device {

namespace detail {
using steady = std::chrono::steady_clock;
inline double seconds_between(steady::time_point a, steady::time_point b) { return std::chrono::duration<double>(b - a).count(); }

inline double thread_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct window_time {
    double seconds = 0;
    bool disturbed = false;  ///< this thread, which works or spins all the while, was off the processor
};
/// One window of n launches.
inline window_time window(const timed& subject, int n, bool cold) {
    if (cold && subject.evict) subject.evict();
    if (subject.clock) return {subject.clock(n), false};
    const double ran_before = thread_seconds();
    const auto before = steady::now();
    subject.many(n);
    window_time out;
    out.seconds = seconds_between(before, steady::now());
    out.disturbed = thread_seconds() - ran_before < 0.9 * out.seconds - 5e-6;
    return out;
}
/// A short window in which other processes took this thread's place says nothing about the kernel: it is taken again, some times.
inline window_time quiet_window(const timed& subject, int n, bool cold) {
    window_time out;
    for (int tries = 0; tries < 6; ++tries) {
        out = window(subject, n, cold);
        if (!out.disturbed || out.seconds > 0.03) break;
    }
    return out;
}

/// Warm-up of one subject; returns seconds of a launch. Bounded by a quarter of the budget once 5 launches are done, by the budget
/// once 2 are.
inline double warm(const timed& subject, const effort& how) {
    double best = 1e300, last = 1e300, spent = 0;
    for (int done = 0;;) {
        const int n = best < how.window_seconds / 2 ? std::clamp(static_cast<int>(how.window_seconds / 2 / std::max(best, 1e-9)), 1, 100000) : 1;
        const double each = window(subject, n, how.cold).seconds / n;
        if (!(each > 0) && subject.clock) return each;
        if (how.slow_seconds > 0 && each > how.slow_seconds && n == 1) return each;
        spent += each * n, done += n;
        const bool faster = each < 0.98 * last;
        best = std::min(best, each), last = each;
        const bool enough = done >= how.warm_up && spent >= 0.01;
        if (enough && (!faster || spent > 0.5)) break;
        if (spent >= 0.01 && (done >= 5 ? spent > how.budget_seconds / 4 : done >= 2 && spent > how.budget_seconds)) break;
    }
    return best;
}
}  // namespace detail

EMMY_DECL result<std::vector<statistics>> time_rounds(const std::vector<timed>& subjects, const effort& how) {
    std::vector<std::vector<double>> samples(subjects.size());
    std::vector<int> batch(subjects.size(), 1);
    bool slow = false;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const double each = detail::warm(subjects[i], how);
        if (each < 0) return refuse(fault_kind::device, "a launch failed");
        slow = slow || (how.slow_seconds > 0 && each > how.slow_seconds);
        if (!how.cold) batch[i] = std::clamp(static_cast<int>(std::lround(how.window_seconds / std::max(each, 1e-9))), 1, subjects[i].clock ? 10000 : 1000000);
        if (subjects[i].prepare) subjects[i].prepare(batch[i]);
    }
    std::vector<statistics> out(subjects.size());
    std::vector<int> disturbed(subjects.size(), 0);
    const bool single = std::all_of(batch.begin(), batch.end(), [](int n) { return n == 1; });
    const int most = slow ? 2 : how.most_samples, least = std::min(how.least_samples, most);
    const auto start = detail::steady::now();
    for (int round = 0; round < most; ++round) {
        for (std::size_t at = 0; at < subjects.size(); ++at) {
            const std::size_t i = round % 2 ? subjects.size() - 1 - at : at;  // neither always goes first
            const detail::window_time took = detail::quiet_window(subjects[i], batch[i], how.cold);
            if (took.seconds < 0) return refuse(fault_kind::device, "a launch failed");
            if (!(took.seconds > 0)) return refuse(fault_kind::device, "a window of " + std::to_string(batch[i]) + " launches took no time at all");
            samples[i].push_back(took.seconds * 1e6 / batch[i]);
            disturbed[i] += took.disturbed;
        }
        const double spent = detail::seconds_between(start, detail::steady::now());
        if (round + 1 < least) {
            // The least number of samples is kept, but for kernels whose single launches fill four budgets before.
            if (single && round >= 2 && spent > 4 * how.budget_seconds) break;
            continue;
        }
        bool tight = true;
        for (const auto& s : samples) tight = tight && summarise(s).spread() < how.tight;
        if (tight || spent > how.budget_seconds) break;
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        out[i] = summarise(samples[i]);
        out[i].batch = batch[i], out[i].cold = how.cold, out[i].disturbed = disturbed[i];
        out[i].tight = out[i].spread() < how.tight;
    }
    return out;
}

}  // namespace emmy::device
