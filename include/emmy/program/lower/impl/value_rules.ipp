#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/program/lower/impl/map_rules.ipp>

#include <cmath>

/// Rules for functions of one element, folds and norms. Names are those that kernels carry.
namespace emmy::program::detail {

inline bool is_half(dtype t) { return t == dtype::f16 || t == dtype::bf16; }

/// x / (1 + exp(-x)); of f16 and bf16 in f32, with one rounding at the end.
inline result<void> lower_silu(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const range shape = w.shape(n);
    const dtype math = is_half(w.type(n)) ? dtype::f32 : w.type(n);
    node_id x = w.input(n, 0);
    if (math != w.type(x)) x = w.pointwise(o + "_opmath", "copy", {x}, math, shape);
    const node_id negative = w.pointwise(o + "_neg", "negative", {x}, math, shape);
    const node_id e = w.pointwise(o + "_exp", "exp", {negative}, math, shape);
    EMMY_TRY(one, r.number(n, o + "_one", 1, math, shape));
    const node_id denominator = w.pointwise(o + "_denom", "add", {one, e}, math, shape);
    w.become_pointwise(n, "divide", {x, denominator});
    return {};
}

/// max(x, 0) + log(1 + exp(-abs(x)))
inline result<void> lower_softplus(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const range shape = w.shape(n);
    const dtype math = is_half(w.type(n)) ? dtype::f32 : w.type(n);
    node_id x = w.input(n, 0);
    if (math != w.type(x)) x = w.pointwise(o + "_opmath", "copy", {x}, math, shape);
    EMMY_TRY(zero, r.number(n, o + "_zero", 0, math, shape));
    const node_id top = w.pointwise(o + "_max", "maximum", {x, zero}, math, shape);
    const node_id size = w.pointwise(o + "_abs", "abs", {x}, math, shape);
    const node_id negative = w.pointwise(o + "_neg", "negative", {size}, math, shape);
    const node_id e = w.pointwise(o + "_exp", "exp", {negative}, math, shape);
    EMMY_TRY(one, r.number(n, o + "_one", 1, math, shape));
    const node_id sum = w.pointwise(o + "_sum", "add", {one, e}, math, shape);
    const node_id log = w.pointwise(o + "_log", "log", {sum}, math, shape);
    w.become_pointwise(n, "add", {top, log});
    return {};
}

/// The literal behind a node, through the map that spreads it.
inline std::optional<double> spread_number(const workspace& w, node_id n) {
    if (w.kind(n) == op::index_map && w.input_count(n) == 1) n = w.input(n, 0);
    const auto number = w.number(n);
    return number ? std::optional(number->as_double()) : std::nullopt;
}

/// x^2, x^-0.5, x^0.5
inline result<void> lower_power(rewriter& r, node_id n) {
    const auto exponent = spread_number(r.w, r.w.input(n, 1));
    const node_id x = r.w.input(n, 0);
    if (exponent == 2.0) r.w.become_pointwise(n, "multiply", {x, x});
    else if (exponent == -0.5) r.w.become_pointwise(n, "rsqrt", {x});
    else if (exponent == 0.5) r.w.become_pointwise(n, "sqrt", {x});
    return {};
}

/// ½x(1 + tanh(√(2/π)(x + 0.044715x³))): every step in the result's type; bf16 in f32.
inline result<void> lower_gelu_tanh(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const range shape = w.shape(n);
    const dtype math = w.type(n) == dtype::bf16 ? dtype::f32 : w.type(n);
    node_id x = w.input(n, 0);
    if (math != w.type(n)) x = w.pointwise(o + "_opmath", "copy", {x}, math, shape);
    EMMY_TRY(half, r.number(n, o + "_half", 0.5, math, shape));
    const node_id hx = w.pointwise(o + "_hx", "multiply", {half, x}, math, shape);
    const node_id x2 = w.pointwise(o + "_x2", "multiply", {x, x}, math, shape);
    const node_id x3 = w.pointwise(o + "_x3", "multiply", {x2, x}, math, shape);
    EMMY_TRY(c1, r.number(n, o + "_c1", 0.044715, math, shape));
    const node_id scaled = w.pointwise(o + "_cx3", "multiply", {c1, x3}, math, shape);
    const node_id inner = w.pointwise(o + "_inner", "add", {x, scaled}, math, shape);
    EMMY_TRY(c0, r.number(n, o + "_c0", 0.7978845608028654, math, shape));
    const node_id argument = w.pointwise(o + "_arg", "multiply", {c0, inner}, math, shape);
    const node_id t = w.pointwise(o + "_tanh", "tanh", {argument}, math, shape);
    EMMY_TRY(one, r.number(n, o + "_one", 1, math, shape));
    const node_id plus = w.pointwise(o + "_plus", "add", {one, t}, math, shape);
    w.become_pointwise(n, "multiply", {hx, plus});
    return {};
}

/// ½x(1 + erf(x/√2)), of f16 and bf16 in f32.
inline result<void> lower_gelu(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const range shape = w.shape(n);
    const dtype math = is_half(w.type(n)) ? dtype::f32 : w.type(n);
    node_id x = w.input(n, 0);
    if (math != w.type(n)) x = w.pointwise(o + "_opmath", "copy", {x}, math, shape);
    EMMY_TRY(half, r.number(n, o + "_half", 0.5, math, shape));
    const node_id hx = w.pointwise(o + "_hx", "multiply", {half, x}, math, shape);
    EMMY_TRY(c0, r.number(n, o + "_c0", 0.7071067811865476, math, shape));
    const node_id argument = w.pointwise(o + "_arg", "multiply", {c0, x}, math, shape);
    const node_id e = w.pointwise(o + "_erf", "erf", {argument}, math, shape);
    EMMY_TRY(one, r.number(n, o + "_one", 1, math, shape));
    const node_id plus = w.pointwise(o + "_plus", "add", {one, e}, math, shape);
    w.become_pointwise(n, "multiply", {hx, plus});
    return {};
}

/// The shape with one axis kept at extent 1.
inline range folded_shape(workspace& w, node_id x, std::size_t axis) {
    std::vector<dim> sizes = w.sizes(x);
    sizes[axis] = number_dim(1);
    return w.make_shape(sizes);
}

/// A count is exact or f32.
inline bool holds(dtype type, double value) { return !is_half(type) || round_to(type, value) == value; }

/// sum / extent; a symbolic extent is bound at each launch.
inline result<void> lower_mean(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id x = w.input(n, 0);
    const std::int64_t written = w.g.integer(w.g.nodes[n], attr::axis);
    EMMY_TRY(axis, w.axis_of(n, written, w.dims(x).size()));
    const dim extent = w.dims(x)[axis];
    const dtype type = w.type(n);
    const node_id sum = w.add(o + "_sum", op::reduce, w.fold_attrs("sum", written), {x}, type, w.shape(n));
    node_id count = no_node;
    if (extent.kind == dim::form::number) {
        const auto value = static_cast<double>(extent.number);
        count = w.number(o + "_count", value, holds(type, value) ? type : dtype::f32);
    } else {
        const attribute name = w.text_attr(attr::name, o + "_count");
        count = w.add(o + "_count", op::constant, w.make_attrs({name, {.key = attr::context_value, .kind = attr_kind::expression, .value = r.c.extent(extent)}}), edges{},
                      is_half(type) ? dtype::f32 : type, w.one());
    }
    EMMY_TRY(spread, r.broadcast(n, count, w.shape(n)));
    w.become_pointwise(n, "divide", {sum, spread});
    return {};
}

/// Scores leave f16 and bf16 before they are exponentiated.
inline result<void> lower_softmax(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id x = w.input(n, 0);
    const range shape = w.shape(n);
    const std::int64_t written = w.g.integer(w.g.nodes[n], attr::axis);
    EMMY_TRY(axis, w.axis_of(n, written, w.dims(x).size()));
    const dtype math = is_half(w.type(n)) ? dtype::f32 : w.type(n);
    const range folded = folded_shape(w, x, axis);
    const node_id top = w.add(o + "_max", op::reduce, w.fold_attrs("maximum", written), {x}, w.type(x), folded);
    EMMY_TRY(top_all, r.broadcast(n, top, shape));
    const node_id shifted = w.pointwise(o + "_shifted", "subtract", {x, top_all}, math, shape);
    const node_id e = w.pointwise(o + "_exp", "exp", {shifted}, math, shape);
    const node_id sum = w.add(o + "_sum", op::reduce, w.fold_attrs("sum", written), {e}, math, folded);
    EMMY_TRY(sum_all, r.broadcast(n, sum, shape));
    w.become_pointwise(n, "divide", {e, sum_all});
    return {};
}

/// x · rsqrt(mean(x²) + eps) · w over the last axis. Every step declares the result's type; where that would lose the literals or round each step, f32.
inline result<void> lower_rms_norm(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    const node_id x = w.input(n, 0);
    const range shape = w.shape(n);
    const double eps = w.g.real(w.g.nodes[n], attr::eps);
    const dim extent = w.dims(x).back();
    dtype math = w.type(n);
    const bool kept = extent.kind == dim::form::number && holds(math, static_cast<double>(extent.number)) && std::abs(round_to(math, eps) - eps) <= 0.01 * eps;
    if (math == dtype::bf16 || (math == dtype::f16 && !kept)) math = dtype::f32;
    const range folded = folded_shape(w, x, w.dims(x).size() - 1);
    const node_id square = w.pointwise(o + "_sq", "multiply", {x, x}, math, shape);
    const node_id mean = w.add(o + "_mean", op::mean, {}, {square}, math, folded);
    EMMY_TRY(small, r.number(n, o + "_eps", eps, math, folded));
    const node_id sum = w.pointwise(o + "_add_eps", "add", {mean, small}, math, folded);
    const node_id root = w.pointwise(o + "_rsq", "rsqrt", {sum}, math, folded);
    EMMY_TRY(root_all, r.broadcast(n, root, shape));
    if (w.input_count(n) == 1) {
        w.become_pointwise(n, "multiply", {x, root_all});
        return {};
    }
    const node_id normed = w.pointwise(o + "_norm", "multiply", {x, root_all}, math, shape);
    EMMY_TRY(weight, r.broadcast(n, w.input(n, 1), shape));
    w.become_pointwise(n, "multiply", {normed, weight});
    return {};
}

/// (x - mean) · rsqrt(var + eps) [· w] [+ b] over the last axis; of f16 and bf16 in f32.
inline result<void> lower_layer_norm(rewriter& r, node_id n) {
    workspace& w = r.w;
    const std::string o = w.id(n);
    node_id x = w.input(n, 0);
    const range shape = w.shape(n);
    const dtype math = is_half(w.type(n)) ? dtype::f32 : w.type(n);
    if (math != w.type(x)) x = w.pointwise(o + "_opmath", "copy", {x}, math, shape);
    const range folded = folded_shape(w, x, w.dims(x).size() - 1);
    const node_id mean = w.add(o + "_mean", op::mean, {}, {x}, math, folded);
    EMMY_TRY(mean_all, r.broadcast(n, mean, shape));
    const node_id centred = w.pointwise(o + "_centered", "subtract", {x, mean_all}, math, shape);
    const node_id square = w.pointwise(o + "_sq", "multiply", {centred, centred}, math, shape);
    const node_id variance = w.add(o + "_var", op::mean, {}, {square}, math, folded);
    EMMY_TRY(small, r.number(n, o + "_eps", w.g.real(w.g.nodes[n], attr::eps), math, folded));
    const node_id sum = w.pointwise(o + "_add_eps", "add", {variance, small}, math, folded);
    const node_id root = w.pointwise(o + "_rsq", "rsqrt", {sum}, math, folded);
    EMMY_TRY(root_all, r.broadcast(n, root, shape));
    const std::size_t inputs = w.input_count(n);
    if (inputs == 1) {
        w.become_pointwise(n, "multiply", {centred, root_all});
        return {};
    }
    const node_id normed = w.pointwise(o + "_norm", "multiply", {centred, root_all}, math, shape);
    EMMY_TRY(weight, r.broadcast(n, w.input(n, 1), shape));
    if (inputs == 2) {
        w.become_pointwise(n, "multiply", {normed, weight});
        return {};
    }
    const node_id scaled = w.pointwise(o + "_scaled", "multiply", {normed, weight}, math, shape);
    EMMY_TRY(bias, r.broadcast(n, w.input(n, 2), shape));
    w.become_pointwise(n, "add", {scaled, bias});
    return {};
}

}  // namespace emmy::program::detail
