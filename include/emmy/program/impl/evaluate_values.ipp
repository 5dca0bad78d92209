#pragma once
#include <emmy/program/impl/evaluation.ipp>
#include <emmy/program/impl/pointwise.ipp>

#include <cmath>

namespace emmy::program::detail {

inline result<evaluated> evaluation::pointwise(const node& n) const {
    EMMY_TRY(out, blank(n));
    const auto name = g.text(n, attr::op);
    for (std::size_t i = 0; i < n.inputs.count; ++i) EMMY_CHECK_OK(same_shape(n, input(n, i).shape, out.shape));
    const auto wide = [](dtype t) { return t == dtype::i64 || t == dtype::u64; };
    bool integers = is_integer(out.type);
    for (std::size_t i = 0; i < n.inputs.count; ++i) integers = integers || is_integer(input(n, i).type);
    if (integers && name != "copy" && name != "where")
        for (std::size_t i = 0; i <= n.inputs.count; ++i)
            if (wide(i == n.inputs.count ? out.type : input(n, i).type)) return refuse(fault_kind::user, "no reference for " + std::string(name) + " of 64-bit integers", std::string(g.text(n.id)));
    allocate(out);
    const std::size_t count = out.values.size();
    if (n.inputs.count == 3) {  // where
        const auto &c = input(n, 0).values, &a = input(n, 1).values, &b = input(n, 2).values;
        for (std::size_t i = 0; i < count; ++i) out.values[i] = c[i] != 0 ? a[i] : b[i];
    } else if (n.inputs.count == 2) {
        const binary_function f = find_binary(name);
        if (!f) return refuse(fault_kind::user, "no reference for the pointwise function " + std::string(name), std::string(g.text(n.id)));
        const auto &a = input(n, 0).values, &b = input(n, 1).values;
        const bool all_integers = is_integer(out.type) && is_integer(input(n, 0).type) && is_integer(input(n, 1).type);
        if (all_integers && name == "multiply") {  // 32-bit products need 64 bits, a double has 53
            for (std::size_t i = 0; i < count; ++i)
                out.values[i] = integer_to_real(out.type, wrap_to(out.type, static_cast<std::int64_t>(static_cast<std::uint64_t>(as_integer(a[i])) * static_cast<std::uint64_t>(as_integer(b[i])))));
        } else {
            for (std::size_t i = 0; i < count; ++i) out.values[i] = f(a[i], b[i]);
        }
    } else {
        const unary_function f = find_unary(name);
        if (!f) return refuse(fault_kind::user, "no reference for the pointwise function " + std::string(name), std::string(g.text(n.id)));
        const auto& a = input(n, 0).values;
        for (std::size_t i = 0; i < count; ++i) out.values[i] = f(a[i]);
    }
    if (is_integer(out.type) && integers)  // integer results wrap in their type
        for (double& v : out.values) v = integer_to_real(out.type, std::abs(v) < 9e18 ? wrap_to(out.type, static_cast<std::int64_t>(v)) : real_to_integer(out.type, v));
    return std::move(out);
}

/// Calls body(outer, inner) over all positions with the axis removed: the axis runs at outer * extent * inner_count + k * inner_count + inner.
template <class Body>
void over_axis(const sizes_list& shape, std::size_t axis, Body body) {
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
    for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) body(static_cast<std::size_t>(o * shape[axis] * inner + i), static_cast<std::size_t>(inner), static_cast<std::size_t>(o * inner + i));
}

inline result<evaluated> evaluation::folded(const node& n, std::string_view name, std::int64_t axis_number, bool running, bool divided) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    EMMY_TRY(axis, axis_of(n, axis_number, x.shape.size()));
    sizes_list wanted = x.shape;
    if (!running) wanted[axis] = 1;
    EMMY_CHECK_OK(same_shape(n, out.shape, wanted));
    enum { sum, product, maximum, minimum } kind = sum;
    if (name == "prod" || name == "multiply") kind = product;
    else if (name == "maximum" || name == "amax" || name == "fmax" || name == "max") kind = maximum;
    else if (name == "minimum" || name == "amin" || name == "fmin" || name == "min") kind = minimum;
    else if (name != "sum" && name != "add") return refuse(fault_kind::user, "no reference for the fold " + std::string(name), std::string(g.text(n.id)));
    allocate(out);
    const auto extent = static_cast<std::size_t>(x.shape[axis]);
    over_axis(x.shape, axis, [&](std::size_t first, std::size_t stride, std::size_t place) {
        double acc = kind == sum ? 0 : kind == product ? 1 : kind == maximum ? -1e30 : 1e30;
        for (std::size_t k = 0; k < extent; ++k) {
            const double v = x.values[first + k * stride];
            acc = kind == sum ? acc + v : kind == product ? acc * v : kind == maximum ? std::fmax(acc, v) : std::fmin(acc, v);
            if (running) out.values[first + k * stride] = acc;
        }
        if (!running) out.values[place] = divided ? acc / static_cast<double>(extent) : acc;
    });
    return std::move(out);
}

inline result<evaluated> evaluation::softmax(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated& x = input(n, 0);
    EMMY_CHECK_OK(same_shape(n, x.shape, out.shape));
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
    EMMY_CHECK_OK(same_shape(n, x.shape, out.shape));
    if (x.shape.empty()) return refuse(wrong(n, "found a tensor of rank 0, expected at least one axis"));
    const std::int64_t width = x.shape.back(), rows = count_of(x.shape) / width;
    const double eps = g.real(n, attr::eps);
    for (std::size_t i = 1; i < n.inputs.count; ++i) EMMY_CHECK_OK(same_shape(n, input(n, i).shape, {width}));
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
