#pragma once
#include <emmy/core/capability.hpp>

namespace emmy::knob {

/// What legality asks of a card. Everything here follows from the compute capability; values of one card (name, SMs, peaks) are core/card.hpp's.
struct target {
    capability cc;
    block_limits limits;
    constexpr bool operator==(const target&) const = default;
};

constexpr target target_of(capability cc) { return {cc, limits_of(cc)}; }

}  // namespace emmy::knob
