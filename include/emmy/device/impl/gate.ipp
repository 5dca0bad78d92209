#pragma once
#include <emmy/device/gate.hpp>
#include <emmy/device/impl/short_number.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace emmy::device {

EMMY_DECL std::string implausible(double median_us, const work& least, const ceilings& most) {
    const double seconds = median_us * 1e-6;
    if (!(seconds > 0)) return "takes no time at all";
    const double peak = least.type == dtype::f64 ? most.flops_f64 : least.type == dtype::f32 ? most.flops_f32 : std::max(most.flops_f16, most.flops_f32);
    if (peak > 0 && least.flops / seconds > 1.25 * peak)
        return "implies " + detail::number(least.flops / seconds * 1e-9) + " GFLOP/s, this device does " + detail::number(peak * 1e-9);
    // The level that holds the kernel's data is the fastest one it can run from.
    const ceilings::level* level = nullptr;
    for (const ceilings::level& l : most.bandwidth)
        if (!level || l.footprint <= least.bytes) level = &l;
    const double rate = static_cast<double>(least.bytes) / seconds;
    if (level && level->bytes_per_second > 0 && rate > 1.5 * level->bytes_per_second)
        return "implies " + detail::number(rate * 1e-9) + " GB/s, this device reads " + detail::number(level->bytes_per_second * 1e-9);
    return {};
}

EMMY_DECL double error_model::tolerance(double wanted, double scale) const {
    constexpr double f32_eps = 0x1p-24;
    const double out_eps = type == dtype::f64 ? f32_eps : type == dtype::f32 ? f32_eps : type == dtype::f16 ? 0x1p-11 : type == dtype::bf16 ? 0x1p-8 : type == dtype::f8e4m3 ? 0x1p-4 : type == dtype::f8e5m2 ? 0x1p-3 : 0;
    if (is_integer(type)) return 0.5;
    const double accumulate = 8 * f32_eps * std::sqrt(std::max(terms, 1.0)) * std::max(scale, std::abs(wanted));
    return (4 * out_eps * std::abs(wanted) + accumulate) * (fast_math ? 16 : 1);
}

EMMY_DECL std::string wrong_answer(std::span<const double> found, std::span<const double> wanted, std::span<const std::int64_t> at, const error_model& model) {
    if (found.size() != wanted.size()) return "has " + std::to_string(found.size()) + " cells, expected " + std::to_string(wanted.size());
    double squares = 0;
    std::size_t finite = 0;
    for (double w : wanted)
        if (std::isfinite(w)) squares += w * w, ++finite;
    const double scale = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
    double worst = 1;
    std::size_t cell = 0, bad = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double over = 0;  // error in tolerances
        if (std::isfinite(found[i]) && std::isfinite(wanted[i])) {
            const double tolerance = model.tolerance(wanted[i], scale), error = std::abs(found[i] - wanted[i]);
            over = error == 0 ? 0 : tolerance > 0 ? error / tolerance : HUGE_VAL;
        } else if (std::isnan(found[i]) != std::isnan(wanted[i]) || (!std::isnan(found[i]) && found[i] != wanted[i])) {
            over = HUGE_VAL;
        }
        if (over > 1) ++bad;
        if (over > worst) worst = over, cell = i;
    }
    if (bad == 0) return {};
    const std::int64_t place = cell < at.size() ? at[cell] : static_cast<std::int64_t>(cell);
    return std::to_string(bad) + " of " + std::to_string(found.size()) + " cells are wrong, the worst at " + std::to_string(place) + ": found " + detail::number(found[cell]) + ", expected " +
           detail::number(wanted[cell]) + " +- " + detail::number(model.tolerance(wanted[cell], scale));
}

EMMY_DECL std::string unwritten_cells(dtype type, std::uint64_t elements, const std::byte* bytes) {
    if (!is_floating(type) || type == dtype::f4e2m1x2 || type == dtype::f16x2) return {};
    const std::size_t size = byte_size(type);
    std::uint64_t unwritten = 0, first = 0;
    for (std::uint64_t i = 0; i < elements; ++i) {
        std::size_t b = 0;
        while (b < size && bytes[i * size + b] == std::byte{0xff}) ++b;
        if (b == size && unwritten++ == 0) first = i;
    }
    return unwritten ? std::to_string(unwritten) + " of " + std::to_string(elements) + " cells were never written, the first at " + std::to_string(first) : std::string();
}

}  // namespace emmy::device
