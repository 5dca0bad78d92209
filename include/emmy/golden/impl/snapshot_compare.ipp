#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/golden/snapshot/compare.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace emmy::golden::snapshot {

namespace detail {
/// One element as a number; i8, which kernels do not have, is read here.
inline double number_at(archive::element type, const std::byte* bytes, std::size_t i) {
    if (type == archive::element::i8) return static_cast<double>(static_cast<std::int8_t>(bytes[i]));
    return load_element(archive::dtype_of(type), bytes, i);
}
/// The distance of two elements; 64-bit integers, which doubles do not hold, are subtracted as they are.
inline double distance_at(archive::element type, const std::byte* a, const std::byte* b, std::size_t i) {
    if (type == archive::element::i64 || type == archive::element::u64) {
        const auto x = static_cast<std::uint64_t>(load_integer(dtype::i64, a, i)), y = static_cast<std::uint64_t>(load_integer(dtype::i64, b, i));
        const bool less = type == archive::element::u64 ? x < y : static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
        return static_cast<double>(less ? y - x : x - y);
    }
    return std::abs(number_at(type, a, i) - number_at(type, b, i));
}
}  // namespace detail

EMMY_DECL std::string real_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

EMMY_DECL tolerance default_tolerance(dtype type) {
    switch (type) {
        case dtype::f64: return {1e-9, 1e-9};
        case dtype::f32: return {1e-5, 1e-5};
        case dtype::f16: return {2e-3, 2e-3};
        case dtype::bf16: return {1.6e-2, 1.6e-2};
        case dtype::f8e4m3:
        case dtype::f8e5m2: return {0.13, 0.13};
        default: return {};
    }
}

EMMY_DECL std::string over_tolerance(const comparison& c) {
    if (c.over == 0) return {};
    return c.name + ": " + std::to_string(c.over) + " of " + std::to_string(c.elements) + " elements over the tolerance, the first at " + std::to_string(c.first_over) + ": found " + real_text(c.found) +
           ", expected " + real_text(c.wanted);
}

EMMY_DECL void comparer::add(archive::bytes_view found, archive::bytes_view wanted) {
    const std::size_t each = byte_size(type_), count = std::min(found.size(), wanted.size()) / each;
    constexpr std::size_t block = 4096;  // elements compared as bytes first
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (std::size_t start = 0; start < count; start += block) {
        const std::size_t end = std::min(count, start + block);
        if (std::memcmp(found.data() + start * each, wanted.data() + start * each, (end - start) * each) == 0) continue;
        for (std::size_t i = start; i < end; ++i) {
            if (std::memcmp(found.data() + i * each, wanted.data() + i * each, each) == 0) continue;
            const double f = detail::number_at(type_, found.data(), i), w = detail::number_at(type_, wanted.data(), i);
            const auto place = static_cast<std::int64_t>(out_.elements + i);
            if (out_.first < 0) out_.first = place, out_.first_found = f, out_.first_wanted = w;
            out_.equal = false;
            double distance = 0;
            if (std::isnan(f) || std::isnan(w)) distance = std::isnan(f) && std::isnan(w) ? 0 : infinite;
            else if (std::isinf(f) || std::isinf(w)) distance = f == w ? 0 : infinite;
            else distance = detail::distance_at(type_, found.data(), wanted.data(), i);
            const double larger = std::max(std::abs(f), std::abs(w));
            out_.max_abs = std::max(out_.max_abs, distance);
            out_.max_rel = std::max(out_.max_rel, distance == 0 ? 0 : distance == infinite ? infinite : distance / larger);
            if (distance > allowed_.absolute + (distance == infinite ? 0 : allowed_.relative * std::abs(w))) {
                if (out_.over++ == 0) out_.first_over = place, out_.found = f, out_.wanted = w;
            }
        }
    }
    out_.elements += count;
}

EMMY_DECL comparison compare(archive::element type, archive::bytes_view found, archive::bytes_view wanted, tolerance allowed) {
    comparer c(type, allowed);
    c.add(found, wanted);
    return c.so_far();
}

}  // namespace emmy::golden::snapshot
