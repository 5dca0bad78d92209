#pragma once
#include <emmy/device/concept.hpp>

namespace emmy::device {

EMMY_DECL result<void> check(const sequence& what, std::span<const std::uint64_t> sizes) {
    const auto inside = [&](const slice& s, const std::string& place) -> result<void> {
        if (s.buffer >= sizes.size()) return refuse(fault_kind::input, "found buffer " + std::to_string(s.buffer) + ", expected one of " + std::to_string(sizes.size()), place);
        if (s.offset > sizes[s.buffer] || s.bytes > sizes[s.buffer] - s.offset)
            return refuse(fault_kind::input, "found " + std::to_string(s.bytes) + " bytes at " + std::to_string(s.offset) + ", expected to end inside a buffer of " + std::to_string(sizes[s.buffer]), place);
        return {};
    };
    for (std::size_t i = 0; i < what.steps.size(); ++i) {
        const sequence::step& step = what.steps[i];
        const std::string place = "steps[" + std::to_string(i) + "]";
        if (step.kernel >= what.kernels.size()) return refuse(fault_kind::input, "found kernel " + std::to_string(step.kernel) + ", expected one of " + std::to_string(what.kernels.size()), place);
        if (step.how.team < 1 || step.how.team > 1024) return refuse(fault_kind::user, "found a team of " + std::to_string(step.how.team) + ", expected 1 to 1024 threads", "TEAM");
        for (const slice& s : step.buffers) EMMY_CHECK_OK(inside(s, place + ".buffers"));
        for (const slice& s : step.zeroed) EMMY_CHECK_OK(inside(s, place + ".zeroed"));
    }
    for (const sequence::copy& c : what.copied) {
        EMMY_CHECK_OK(inside(c.from, "copied"));
        EMMY_CHECK_OK(inside(c.to, "copied"));
        const bool apart = c.from.buffer != c.to.buffer || c.from.offset + c.from.bytes <= c.to.offset || c.to.offset + c.to.bytes <= c.from.offset;
        if (c.from.bytes != c.to.bytes || !apart) return refuse(fault_kind::input, "found a copy onto itself or of two sizes, expected two buffers of one size", "copied");
    }
    return {};
}

}  // namespace emmy::device
