#pragma once
#include <emmy/core/config.hpp>

#include <cstdint>
#include <span>
#include <vector>

/// Where buffers lie that are needed for a while only.
namespace emmy::plan {

/// What one buffer needs: `bytes` from step `first` to step `last`, both included.
struct need {
    std::uint32_t first = 0, last = 0;
    std::uint64_t bytes = 0;
};

struct packing {
    std::vector<std::uint64_t> offsets;  ///< one a need, multiples of the alignment; a need of 0 bytes lies at 0
    std::uint64_t bytes = 0;             ///< from 0 to the end of the last byte that any need takes
    std::uint64_t least = 0;             ///< no packing is smaller: the most (each rounded up to the alignment but the last) that is needed at one step
};

/// Needs that share a step never overlap. The smaller of two greedy packings, larger needs first and earlier needs first, each at the lowest
/// place that is free: a function of the needs alone. `alignment`: a power of two. Sums of sizes must stay below 2^62.
EMMY_DECL packing pack(std::span<const need> needs, std::uint64_t alignment = 64);

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/packing.ipp>
#endif
