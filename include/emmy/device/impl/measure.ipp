#pragma once
#include <emmy/device/measure.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace emmy::device {

namespace detail {
using steady = std::chrono::steady_clock;
inline double seconds_between(steady::time_point a, steady::time_point b) { return std::chrono::duration<double>(b - a).count(); }

/// Seconds of one window of n launches.
inline double window(const timed& subject, int n, bool cold) {
    if (cold && subject.evict) subject.evict();
    const auto before = steady::now();
    subject.many(n);
    return seconds_between(before, steady::now());
}

/// Warm-up of one subject; returns seconds of a launch. Bounded by a quarter of the budget once 5 launches are done, by the budget
/// once 2 are.
inline double warm(const timed& subject, const effort& how) {
    double best = 1e300, last = 1e300, spent = 0;
    for (int done = 0;;) {
        const int n = best < how.window_seconds / 2 ? std::clamp(static_cast<int>(how.window_seconds / 2 / std::max(best, 1e-9)), 1, 100000) : 1;
        const double each = window(subject, n, how.cold) / n;
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
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        const double each = detail::warm(subjects[i], how);
        if (!how.cold) batch[i] = std::clamp(static_cast<int>(std::lround(how.window_seconds / std::max(each, 1e-9))), 1, 1000000);
    }
    std::vector<statistics> out(subjects.size());
    const auto start = detail::steady::now();
    for (int round = 0; round < how.most_samples; ++round) {
        for (std::size_t at = 0; at < subjects.size(); ++at) {
            const std::size_t i = round % 2 ? subjects.size() - 1 - at : at;  // neither always goes first
            const double took = detail::window(subjects[i], batch[i], how.cold);
            if (!(took > 0)) return refuse(fault_kind::device, "a window of " + std::to_string(batch[i]) + " launches took no time at all");
            samples[i].push_back(took * 1e6 / batch[i]);
        }
        if (round + 1 < how.least_samples) {
            // The least number of samples is kept up to four budgets, so that a slow kernel still has an interval.
            if (round >= 2 && detail::seconds_between(start, detail::steady::now()) > 4 * how.budget_seconds) break;
            continue;
        }
        bool tight = true;
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            out[i] = summarise(samples[i]);
            tight = tight && out[i].spread() < how.tight;
        }
        if (tight || detail::seconds_between(start, detail::steady::now()) > how.budget_seconds) break;
    }
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        out[i] = summarise(samples[i]);
        out[i].batch = batch[i], out[i].cold = how.cold;
        out[i].tight = out[i].spread() < how.tight;
    }
    return out;
}

}  // namespace emmy::device
