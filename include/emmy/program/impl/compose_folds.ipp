#pragma once
#include <emmy/program/compose.hpp>

#include <algorithm>

namespace emmy::program {

EMMY_DECL edge composer::fold(std::string_view id, std::string_view name, edge x, list axes, bool keep, dtype type) {
    const std::string n(id);
    auto order = axes_of(id, axes, rank(x));
    if (!order) return {0, 0};
    const dtype from = this->type(x);
    if (type == dtype::none) type = is_integer(from) && (name == "sum" || name == "prod") ? dtype::i64 : name == "mean" && is_integer(from) ? dtype::f32 : from;
    const bool mean = name == "mean";
    if (!mean && name != "sum" && name != "prod" && name != "amax" && name != "amin")
        return fail(id, "found the fold " + std::string(name) + ", expected sum, prod, mean, amax or amin");
    std::sort(order->begin(), order->end());
    const bool sums = mean || name == "sum" || name == "prod";
    if (is_integer(from) && sums && from != type) x = pointwise(n + "_wide", "copy", {x}, is_integer(type) ? type : dtype::f32);
    else if (sums && order->size() > 1) x = wide(n + "_wide", x);  // partial sums are not rounded
    if (order->empty()) return map(id, {{x, {}}}, type, {});       // rank 0: what is folded is the element
    for (std::size_t i = 0; i < order->size(); ++i) {
        const bool last = i + 1 == order->size();
        const std::int64_t axis = axes.size() == 1 ? axes[0] : static_cast<std::int64_t>((*order)[i]);  // as it was spelled
        const dtype made = last ? type : this->type(x);
        const std::string step = last ? (keep ? n : n + "_keepdim") : n + "_axis" + std::to_string(axis);
        if (mean) x = emit(step, op::mean, {x}, made, {whole(attr::axis, axis)});
        else x = emit(step, op::reduce, {x}, made, {{.key = attr::op, .text = std::string(name)}, whole(attr::axis, axis)});
    }
    return keep ? x : squeeze(id, x, list(order->begin(), order->end()));
}
EMMY_DECL edge composer::variance(std::string_view id, edge x, list axes, double correction, bool keep, bool root) {
    const std::string n(id);
    const auto order = axes_of(id, axes, rank(x));
    if (!order) return {0, 0};
    const dtype out = type(x);
    extent count(1);
    const sizes from = shape(x);
    for (const std::size_t a : *order) count = count * from[a];
    const edge w = wide(n + "_wide", x);
    const edge centred = pointwise(n + "_centred", "subtract", {w, fold(n + "_mean", "mean", w, axes, true)});
    const edge square = pointwise(n + "_square", "multiply", {centred, centred});
    if (correction == 0) {
        const edge v = fold(root || half(out) ? n + "_var" : n, "mean", square, axes, keep);
        return root ? pointwise(id, "sqrt", {v}, out) : half(out) ? cast(id, v, out) : v;
    }
    if (!count.is_number()) return fail(id, "found the count " + count.text(symbol_) + ", expected a number beside a correction");
    const edge sum = fold(n + "_sum", "sum", square, axes, keep);
    const edge v = with_number(root ? n + "_var" : n, "divide", sum, static_cast<double>(count.number()) - correction, root ? type(sum) : out);
    return root ? pointwise(id, "sqrt", {v}, out) : v;
}
EMMY_DECL edge composer::argmax(std::string_view id, edge x, std::int64_t axis, bool keep, bool least) {
    const std::string n(id);
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    const extent length = shape(x)[*a];
    if (!length.is_number()) return fail(id, "found a symbolic axis, expected a size to number");
    const edge top = fold(n + "_top", least ? "amin" : "amax", x, {axis}, true);
    edge ramp = range(n + "_places", 0, length.number(), 1, dtype::i32);
    for (std::size_t i = *a + 1; i < rank(x); ++i) ramp = unsqueeze(n + "_places" + std::to_string(i), ramp, -1);
    const edge beyond = literal(n + "_beyond", static_cast<double>(length.number()), dtype::i32);
    const edge places = pointwise(n + "_candidates", "where", {pointwise(n + "_is", "equal", {x, top}), ramp, beyond});
    const edge first = fold(n + "_first", "amin", places, {axis}, keep);
    return pointwise(id, "copy", {first}, dtype::i64);
}
EMMY_DECL edge composer::cumsum(std::string_view id, edge x, std::int64_t axis, dtype type) {
    if (failed()) return {0, 0};
    const dtype from = this->type(x);
    if (type == dtype::none) type = is_integer(from) ? dtype::i64 : from;
    if (is_integer(from) != is_integer(type)) x = pointwise(std::string(id) + "_wide", "copy", {x}, type);
    return emit(id, op::scan, {x}, type, {whole(attr::axis, axis)});
}
EMMY_DECL edge composer::softmax(std::string_view id, edge x, std::int64_t axis, dtype type) {
    if (failed()) return {0, 0};
    if (type != dtype::none && type != this->type(x)) x = cast(std::string(id) + "_wide", x, type);  // converted first, as frameworks do
    return emit(id, op::softmax, {x}, this->type(x), {whole(attr::axis, axis)});
}
EMMY_DECL edge composer::log_softmax(std::string_view id, edge x, std::int64_t axis) {
    const std::string n(id);
    const dtype out = type(x);
    const edge w = wide(n + "_wide", x);
    const edge shifted = pointwise(n + "_shifted", "subtract", {w, fold(n + "_max", "amax", w, {axis}, true)});
    const edge sum = fold(n + "_sum", "sum", pointwise(n + "_exp", "exp", {shifted}), {axis}, true);
    return pointwise(id, "subtract", {shifted, pointwise(n + "_log", "log", {sum})}, out);
}

/// Several axes become one: the tags norm the last.
EMMY_DECL edge composer::layer_norm(std::string_view id, edge x, std::size_t axes, std::optional<edge> w, std::optional<edge> b, double eps) {
    const std::string n(id);
    const sizes whole_shape = shape(x);
    if (failed()) return {0, 0};
    if (axes < 1 || axes > whole_shape.size())
        return fail(id, "found " + std::to_string(axes) + " axes to norm, expected 1 to " + std::to_string(whole_shape.size()));
    const auto flat = [&](edge e, std::string_view suffix, std::size_t keep) {
        if (axes == 1) return e;
        const sizes from = shape(e);
        sizes to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(keep));
        to.push_back(program::count_of(std::span(from).subspan(keep)));
        return reshape(n + std::string(suffix), e, to);
    };
    std::vector<edge> inputs{flat(x, "_flat", whole_shape.size() - axes)};
    const dtype out = type(x);
    if (b && !w) w = broadcast(n + "_ones_bc", literal(n + "_ones", 1, type(*b)), shape(*b));
    if (w) inputs.push_back(flat(*w, "_flat_w", 0));
    if (b) inputs.push_back(flat(*b, "_flat_b", 0));
    const edge made = emit(axes == 1 ? n : n + "_normed", op::layer_norm, inputs, out, {real(attr::eps, eps)});
    return axes == 1 ? made : reshape(id, made, whole_shape);
}
EMMY_DECL edge composer::rms_norm(std::string_view id, edge x, std::size_t axes, std::optional<edge> w, double eps) {
    const std::string n(id);
    const sizes whole_shape = shape(x);
    if (failed()) return {0, 0};
    if (axes < 1 || axes > whole_shape.size())
        return fail(id, "found " + std::to_string(axes) + " axes to norm, expected 1 to " + std::to_string(whole_shape.size()));
    const std::size_t keep = whole_shape.size() - axes;
    const extent width = program::count_of(std::span(whole_shape).subspan(keep));
    const dtype out = type(x);
    edge from = x;
    if (axes > 1) {
        sizes to(whole_shape.begin(), whole_shape.begin() + static_cast<std::ptrdiff_t>(keep));
        to.push_back(width);
        from = reshape(n + "_flat", x, to);
        if (w) w = reshape(n + "_flat_w", *w, {width});
    }
    if (!w) w = broadcast(n + "_ones_bc", literal(n + "_ones", 1, out), {width});  // the tag has a weight
    const edge made = emit(axes == 1 ? n : n + "_normed", op::rms_norm, {from, *w}, out, {real(attr::eps, eps)});
    return axes == 1 ? made : reshape(id, made, whole_shape);
}
EMMY_DECL edge composer::group_norm(std::string_view id, edge x, std::int64_t groups, std::optional<edge> w, std::optional<edge> b, double eps) {
    const std::string n(id);
    const sizes from = shape(x);
    if (failed()) return {0, 0};
    if (from.size() < 2 || !from[1].is_number() || groups < 1 || from[1].number() % groups != 0)
        return fail(id, "found " + std::to_string(groups) + " groups, expected a divisor of the channels [N,C,..]");
    const extent width = program::count_of(std::span(from).subspan(1)) / extent(groups);
    const dtype out = type(x);
    edge now = reshape(n + "_grouped", wide(n + "_wide", x), {from[0], extent(groups), width});
    now = reshape(n + "_back", emit(n + "_normed", op::layer_norm, {now}, type(now), {real(attr::eps, eps)}), from);
    const auto per_channel = [&](edge e, std::string_view suffix) {
        for (std::size_t i = 2; i < from.size(); ++i) e = unsqueeze(n + std::string(suffix) + std::to_string(i), e, -1);
        return e;
    };
    if (w) now = pointwise(b || half(out) ? n + "_scaled" : n, "multiply", {now, per_channel(*w, "_w")}, type(now));
    if (b) now = pointwise(half(out) ? n + "_shifted" : n, "add", {now, per_channel(*b, "_b")}, type(now));
    return half(out) ? cast(id, now, out) : w || b ? now : map(id, {{now, places(from.size())}}, out, from);
}

}  // namespace emmy::program
