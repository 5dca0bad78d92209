#pragma once
#include <emmy/plan/packing.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace emmy::plan {

namespace detail {

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/// Needs in this order, each at the lowest place that is free all its time.
inline std::vector<std::uint64_t> place_in_order(std::span<const need> needs, std::span<const std::uint32_t> order, std::uint64_t alignment) {
    std::vector<std::uint64_t> offsets(needs.size(), 0);
    std::vector<std::uint32_t> placed;  // by offset
    for (const std::uint32_t i : order) {
        if (needs[i].bytes == 0) continue;
        std::uint64_t at = 0;
        for (const std::uint32_t p : placed) {
            if (needs[p].last < needs[i].first || needs[i].last < needs[p].first) continue;
            if (offsets[p] >= at + needs[i].bytes) break;  // fits before it: whatever follows lies further
            at = std::max(at, rounded_up(offsets[p] + needs[p].bytes, alignment));
        }
        offsets[i] = at;
        placed.insert(std::upper_bound(placed.begin(), placed.end(), at, [&](std::uint64_t value, std::uint32_t p) { return value < offsets[p]; }), i);
    }
    return offsets;
}

inline std::uint64_t end_of(std::span<const need> needs, std::span<const std::uint64_t> offsets) {
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < needs.size(); ++i)
        if (needs[i].bytes) end = std::max(end, offsets[i] + needs[i].bytes);
    return end;
}

/// The bound at every step where something begins: between two of them nothing grows.
inline std::uint64_t least_of(std::span<const need> needs, std::uint64_t alignment) {
    std::uint64_t least = 0;
    for (const need& step : needs) {
        std::uint64_t sum = 0, slack = 0;
        for (const need& n : needs) {
            if (n.bytes == 0 || n.first > step.first || n.last < step.first) continue;
            const std::uint64_t whole = rounded_up(n.bytes, alignment);
            sum += whole, slack = std::max(slack, whole - n.bytes);  // any of them may be the last one
        }
        least = std::max(least, sum - slack);
    }
    return least;
}

}  // namespace detail

EMMY_DECL packing pack(std::span<const need> needs, std::uint64_t alignment) {
    std::vector<std::uint32_t> by_size(needs.size());
    std::iota(by_size.begin(), by_size.end(), 0u);
    std::vector<std::uint32_t> by_time = by_size;
    std::stable_sort(by_size.begin(), by_size.end(), [&](std::uint32_t a, std::uint32_t b) { return needs[a].bytes > needs[b].bytes; });
    std::stable_sort(by_time.begin(), by_time.end(), [&](std::uint32_t a, std::uint32_t b) { return std::pair(needs[a].first, needs[b].bytes) < std::pair(needs[b].first, needs[a].bytes); });
    packing out;
    out.offsets = detail::place_in_order(needs, by_size, alignment);
    out.bytes = detail::end_of(needs, out.offsets);
    out.least = detail::least_of(needs, alignment);
    if (out.bytes == out.least) return out;
    std::vector<std::uint64_t> other = detail::place_in_order(needs, by_time, alignment);
    if (const std::uint64_t end = detail::end_of(needs, other); end < out.bytes) out.offsets = std::move(other), out.bytes = end;
    return out;
}

}  // namespace emmy::plan
