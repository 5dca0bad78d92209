#pragma once
#include <emmy/program/impl/evaluation.ipp>
#include <emmy/program/impl/pointwise.ipp>

#include <cmath>

namespace emmy::program::detail {

enum class fold_kind : std::uint8_t { sum, product, maximum, minimum };
inline std::optional<fold_kind> fold_of(std::string_view name) {
    if (name == "sum" || name == "add") return fold_kind::sum;
    if (name == "prod" || name == "multiply") return fold_kind::product;
    if (name == "maximum" || name == "amax" || name == "fmax") return fold_kind::maximum;
    if (name == "minimum" || name == "amin" || name == "fmin") return fold_kind::minimum;
    return std::nullopt;
}
inline double folded_real(fold_kind kind, double a, double b) {
    switch (kind) {
        case fold_kind::sum: return a + b;
        case fold_kind::product: return a * b;
        case fold_kind::maximum: return std::fmax(a, b);
        case fold_kind::minimum: return std::fmin(a, b);
    }
    return a;
}
inline std::int64_t folded_integer(fold_kind kind, std::int64_t a, std::int64_t b, bool u) {
    switch (kind) {
        case fold_kind::sum: return held(bits(a) + bits(b));
        case fold_kind::product: return held(bits(a) * bits(b));
        case fold_kind::maximum: return below(a, b, u) ? b : a;
        case fold_kind::minimum: return below(b, a, u) ? b : a;
    }
    return a;
}

/// Calls body(first, stride, place) over all positions with the axis removed: element k of the run is at first + k * stride.
template <class Body>
void over_axis(const sizes_list& shape, std::size_t axis, Body body) {
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
    for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i)
            body(static_cast<std::size_t>(o * shape[axis] * inner + i), static_cast<std::size_t>(inner), static_cast<std::size_t>(o * inner + i));
}

/// A fold starts from its first element: the largest of a row of -inf is -inf, an empty row cannot be.
inline result<evaluated> evaluation::folded(const node& n, std::string_view name, std::int64_t axis_number, bool running, bool divided) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    EMMY_TRY(axis, axis_of(n, axis_number, x.shape.size()));
    const auto kind = fold_of(name);
    if (!kind) return refuse(fault_kind::user, "no reference for the fold " + std::string(name), std::string(g.text(n.id)));
    allocate(out);
    const auto extent = static_cast<std::size_t>(x.shape[axis]);
    const bool integers = reads_as_integer(x.type), u = !facts(x.type).is_signed;
    over_axis(x.shape, axis, [&](std::size_t first, std::size_t stride, std::size_t place) {
        if (integers) {
            std::int64_t acc = 0;
            for (std::size_t k = 0; k < extent; ++k) {
                const std::int64_t v = x.integers[first + k * stride];
                acc = k == 0 ? v : folded_integer(*kind, acc, v, u);
                if (running) out.integers[first + k * stride] = wrap_to(out.type, acc);
            }
            if (!running) out.integers[place] = wrap_to(out.type, acc);
            return;
        }
        double acc = 0;
        for (std::size_t k = 0; k < extent; ++k) {
            const double v = x.values[first + k * stride];
            acc = k == 0 ? v : folded_real(*kind, acc, v);
            if (running) out.values[first + k * stride] = acc;
        }
        if (!running) out.values[place] = divided ? acc / static_cast<double>(extent) : acc;
    });
    return std::move(out);
}

inline result<evaluated> evaluation::softmax(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    EMMY_TRY(axis, axis_of(n, g.integer(n, attr::axis), x.shape.size()));
    allocate(out);
    const auto extent = static_cast<std::size_t>(x.shape[axis]);
    over_axis(x.shape, axis, [&](std::size_t first, std::size_t stride, std::size_t) {
        double top = x.values[first], sum = 0;
        for (std::size_t k = 1; k < extent; ++k) top = std::fmax(top, x.values[first + k * stride]);
        for (std::size_t k = 0; k < extent; ++k) sum += out.values[first + k * stride] = std::exp(x.values[first + k * stride] - top);
        for (std::size_t k = 0; k < extent; ++k) out.values[first + k * stride] /= sum;
    });
    return std::move(out);
}

inline result<evaluated> evaluation::norm(const node& n, bool centred) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    const std::int64_t width = x.shape.back(), rows = count_of(x.shape) / width;
    const double eps = g.real(n, attr::eps);
    const double* w = n.inputs.count > 1 ? input(n, 1).values.data() : nullptr;
    const double* b = n.inputs.count > 2 ? input(n, 2).values.data() : nullptr;
    allocate(out);
    for (std::int64_t r = 0; r < rows; ++r) {
        const double* from = x.values.data() + r * width;
        double* to = out.values.data() + r * width;
        double mean = 0, square = 0;
        if (centred) {
            for (std::int64_t k = 0; k < width; ++k) mean += from[k];
            mean /= static_cast<double>(width);
        }
        for (std::int64_t k = 0; k < width; ++k) square += (from[k] - mean) * (from[k] - mean);
        const double scale = 1 / std::sqrt(square / static_cast<double>(width) + eps);
        for (std::int64_t k = 0; k < width; ++k) to[k] = (from[k] - mean) * scale * (w ? w[k] : 1) + (b ? b[k] : 0);
    }
    return std::move(out);
}

}  // namespace emmy::program::detail
