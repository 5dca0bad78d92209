#pragma once
#include <emmy/device/concept.hpp>

#include <functional>  // one indirect call per window of launches

namespace emmy::device {

/// One thing that can be timed: `many(n)` does it n times; `evict`, when set, empties the caches of its data.
struct timed {
    std::function<void(int)> many;
    std::function<void()> evict;
    /// Devices with a clock of their own, instead of `many`: seconds that n launches took on it; negative: they failed.
    std::function<double(int)> clock = {};
    /// Called once warm-up has chosen the number of launches a window, before the first one: what can be recorded for replay is.
    std::function<void(int)> prepare = {};
};

/// Times every subject under `how`: warm-up (at least `warm_up` launches, going on while it still gets faster), one batch
/// size each, then rounds of one window per subject (alternating order) until every interval is tight or the budget ends.
/// One subject = measured alone. Errors (device): a launch that takes no time at all, or fails.
EMMY_DECL result<std::vector<statistics>> time_rounds(const std::vector<timed>& subjects, const effort& how);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/measure.ipp>
#endif
