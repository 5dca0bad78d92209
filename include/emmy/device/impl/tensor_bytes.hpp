#pragma once
#include <emmy/core/numeric.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

// Elements of tensors that checks are fed with.
namespace emmy::device {

namespace detail {

/// splitmix64: the same element has the same value on every machine.
inline std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/// Uniform in [low, high), as the interpreter's seeded inputs state their range.
inline void fill_input(std::vector<std::byte>& bytes, dtype type, std::uint64_t elements, std::uint64_t seed, double low, double high) {
    for (std::uint64_t i = 0; i < elements; ++i) {
        const double unit = static_cast<double>(mixed(seed ^ mixed(i)) >> 11) * 0x1p-53;
        if (reads_as_integer(type))
            store_integer(type, bytes.data(), i, static_cast<std::int64_t>(std::floor(low + unit * (high - low))));
        else
            store_real(type, bytes.data(), i, low + unit * (high - low));
    }
}

/// Row-major with its two last axes swapped.
inline std::vector<std::byte> swapped(std::span<const std::byte> from, std::span<const std::int64_t> shape, std::size_t element) {
    std::vector<std::byte> out(from.size());
    if (shape.size() < 2) return {from.begin(), from.end()};
    const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]), columns = static_cast<std::size_t>(shape.back());
    const std::size_t plane = rows * columns * element;
    for (std::size_t at = 0; plane && at + plane <= from.size(); at += plane)
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c) std::memcpy(&out[at + (c * rows + r) * element], &from[at + (r * columns + c) * element], element);
    return out;
}

}  // namespace detail

}  // namespace emmy::device
