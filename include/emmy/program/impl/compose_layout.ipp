#pragma once
#include <emmy/program/compose.hpp>

#include <algorithm>

namespace emmy::program {

EMMY_DECL edge composer::map(std::string_view id, std::vector<source> sources, dtype type, sizes shape) {
    if (failed()) return {0, 0};
    std::vector<map_source> made;
    std::vector<edge> inputs;
    for (const source& s : sources) {
        map_source m;
        const auto at = std::find(inputs.begin(), inputs.end(), s.from);
        m.input_idx = at - inputs.begin();
        if (at == inputs.end()) inputs.push_back(s.from);
        m.coord_map = {static_cast<std::uint32_t>(g_.coordinates.size()), static_cast<std::uint32_t>(s.coordinates.size())};
        for (const std::string& text : s.coordinates) {
            const auto e = parse_expr(text, g_.exprs, g_.names);
            if (!e) return fail(id, e.error().message());
            g_.coordinates.push_back(*e);
        }
        if (!s.select.empty()) {
            const auto e = parse_expr(s.select, g_.exprs, g_.names);
            if (!e) return fail(id, e.error().message());
            m.select = *e;
        }
        made.push_back(m);
    }
    const setting list{.key = attr::sources, .integers = {static_cast<std::int64_t>(g_.sources.size()), static_cast<std::int64_t>(made.size())}};
    g_.sources.insert(g_.sources.end(), made.begin(), made.end());
    return emit(id, op::index_map, inputs, type, {{.key = attr::out_shape, .extents = shape}, list}, &shape);
}

EMMY_DECL edge composer::broadcast(std::string_view id, edge x, sizes shape) {
    if (failed()) return {0, 0};
    const sizes from = this->shape(x);
    if (from == shape) return x;
    if (const sizes whole = joined(id, from, shape); failed() || whole != shape)
        return fail(id, "found a shape that does not broadcast, expected 1 or the same sizes");
    std::vector<std::string> at;
    const std::size_t shift = shape.size() - from.size();
    for (std::size_t i = 0; i < from.size(); ++i) at.push_back(from[i] == shape[i + shift] ? place(i + shift) : "0");
    return map(id, {{x, at}}, type(x), std::move(shape));
}
EMMY_DECL edge composer::permute(std::string_view id, edge x, list axes) {
    const auto order = axes_of(id, axes, rank(x));
    if (!order) return {0, 0};
    if (order->size() != rank(x)) return fail(id, "found " + std::to_string(order->size()) + " axes, expected all " + std::to_string(rank(x)));
    if (std::is_sorted(order->begin(), order->end())) return map(id, {{x, places(rank(x))}}, type(x), shape(x));
    return emit(id, op::transpose, {x}, type(x), {{.key = attr::axes, .integers = list(order->begin(), order->end())}});  // of two axes: the swap
}
EMMY_DECL edge composer::transpose(std::string_view id, edge x, std::int64_t a, std::int64_t b) {
    return emit(id, op::transpose, {x}, type(x), {{.key = attr::axes, .integers = {a, b}}});
}
EMMY_DECL edge composer::reshape(std::string_view id, edge x, sizes shape) {
    if (failed()) return {0, 0};
    // The attribute says numbers, the symbol and once what is left over; other sizes are a map of flat places.
    const auto spelled = [](const extent& e) { return e == extent(-1) || e.is_number() || e.is_symbol(); };
    const auto other = std::count_if(shape.begin(), shape.end(), [&](const extent& e) { return !spelled(e); });
    const bool open = std::find(shape.begin(), shape.end(), extent(-1)) != shape.end();
    if (other == 1 && !open) {
        if (const extent count = count_of(shape); !(count == count_of(this->shape(x)))) return fail(id, "found " + count.text(symbol_) + " elements of another shape, expected as many");
        *std::find_if(shape.begin(), shape.end(), [&](const extent& e) { return !spelled(e); }) = extent(-1);
    } else if (other > 0) {
        const sizes from = this->shape(x);
        const extent count = count_of(from);
        if (open) {
            extent rest(1);
            for (const extent& e : shape) rest = e == extent(-1) ? rest : rest * e;
            *std::find(shape.begin(), shape.end(), extent(-1)) = count / rest;
        }
        if (!(count_of(shape) == count)) return fail(id, "found " + count_of(shape).text(symbol_) + " elements, expected " + count.text(symbol_));
        std::string flat;
        for (std::size_t i = 0; i < shape.size(); ++i) {
            const extent step = count_of(std::span(shape).subspan(i + 1));
            flat += (flat.empty() ? "" : " + ") + place(i) + (step == extent(1) ? "" : " * (" + step.text(symbol_) + ")");
        }
        std::vector<std::string> at;
        for (std::size_t i = 0; i < from.size(); ++i) {
            const extent step = count_of(std::span(from).subspan(i + 1));
            at.push_back("(" + flat + ")" + (step == extent(1) ? "" : " / (" + step.text(symbol_) + ")") + (i == 0 ? "" : " % (" + from[i].text(symbol_) + ")"));
        }
        return map(id, {{x, at}}, type(x), shape);
    }
    return emit(id, op::reshape, {x}, type(x), {{.key = attr::shape, .extents = std::move(shape)}});
}
EMMY_DECL edge composer::squeeze(std::string_view id, edge x, list axes) {
    const auto order = axes_of(id, axes, rank(x));
    if (!order) return {0, 0};
    const sizes from = shape(x);
    sizes out;
    std::vector<std::string> at;
    for (std::size_t i = 0; i < from.size(); ++i) {
        const bool named = std::find(order->begin(), order->end(), i) != order->end(), one = from[i] == extent(1);
        if (named && one) {
            at.push_back("0");
            continue;
        }
        if (named && !axes.empty()) return fail(id, "found axis " + std::to_string(i) + " of size " + from[i].text(symbol_) + ", expected 1");
        at.push_back(place(out.size()));
        out.push_back(from[i]);
    }
    return map(id, {{x, at}}, type(x), out);
}
EMMY_DECL edge composer::unsqueeze(std::string_view id, edge x, std::int64_t axis) { return emit(id, op::unsqueeze, {x}, type(x), {whole(attr::dim, axis)}); }

EMMY_DECL edge composer::slice(std::string_view id, edge x, std::int64_t axis, std::int64_t start, std::optional<std::int64_t> stop, std::int64_t step) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    if (step < 1) return fail(id, "found step " + std::to_string(step) + ", expected at least 1");
    sizes out = shape(x);
    const extent length = out[*a];
    extent first(start), end = stop ? extent(*stop) : length;
    if (length.is_number()) {
        const auto clipped = [&](std::int64_t v) { return std::clamp<std::int64_t>(v < 0 ? v + length.number() : v, 0, length.number()); };
        first = extent(clipped(start));
        end = stop ? extent(clipped(*stop)) : length;
    } else {
        if (start < 0) first = length + extent(start);
        if (stop && *stop < 0) end = length + extent(*stop);
    }
    out[*a] = (end - first + extent(step - 1)) / extent(step);
    if (out[*a].bad() || out[*a].at(largest_symbol_size) < 1) return fail(id, "found an empty slice, expected at least one element");
    const bool plain = step == 1 && (length.is_number() || start < 0 || first.is_number());
    if (plain && (out[*a].is_number() || out[*a].is_symbol()))
        return emit(id, op::slice, {x}, type(x),
                    {{.key = attr::shape, .extents = out},
                     whole(attr::dim, static_cast<std::int64_t>(*a)),
                     whole(attr::start, length.is_number() ? first.number() : start)});
    std::vector<std::string> at = places(out.size());
    if (step != 1) at[*a] += " * " + std::to_string(step);
    if (!(first == extent(0))) at[*a] += " + (" + first.text(symbol_) + ")";
    return map(id, {{x, at}}, type(x), out);
}
EMMY_DECL edge composer::window_of(std::string_view id, edge x, std::int64_t axis, extent start, extent length) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    sizes out = shape(x);
    const extent rest = out[*a] - start - length;
    if (start.bad() || length.bad() || start.at(largest_symbol_size) < 0 || rest.at(largest_symbol_size) < 0 || length.at(largest_symbol_size) < 1)
        return fail(id, "found " + length.text(symbol_) + " elements from " + start.text(symbol_) + " of " + out[*a].text(symbol_) + ", expected some inside");
    out[*a] = length;
    if (start.is_number() && (length.is_number() || length.is_symbol()))
        return emit(id, op::slice, {x}, type(x), {{.key = attr::shape, .extents = out}, whole(attr::dim, static_cast<std::int64_t>(*a)), whole(attr::start, start.number())});
    std::vector<std::string> at = places(out.size());
    if (!(start == extent(0))) at[*a] += " + (" + start.text(symbol_) + ")";
    return map(id, {{x, at}}, type(x), out);
}
EMMY_DECL edge composer::select(std::string_view id, edge x, std::int64_t axis, std::int64_t index) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    sizes out = shape(x);
    const extent first = index < 0 ? out[*a] + extent(index) : extent(index);
    if (first.at(largest_symbol_size) < 0 || (out[*a] - first).at(largest_symbol_size) < 1)
        return fail(id, "found index " + std::to_string(index) + " of " + out[*a].text(symbol_) + ", expected one inside");
    std::vector<std::string> at;
    for (std::size_t i = 0; i < out.size(); ++i) at.push_back(i == *a ? first.text(symbol_) : place(i < *a ? i : i - 1));
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(*a));
    return map(id, {{x, at}}, type(x), out);
}
EMMY_DECL edge composer::cat(std::string_view id, std::vector<edge> parts, std::int64_t axis) {
    if (parts.empty()) return fail(id, "found no part, expected one at least");
    const auto a = axis_of(id, axis, rank(parts[0]));
    if (!a) return {0, 0};
    return cat(id, std::move(parts), literal(std::string(id) + "_axis", static_cast<double>(axis < 0 ? axis : static_cast<std::int64_t>(*a)), dtype::f32));
}
EMMY_DECL edge composer::cat(std::string_view id, std::vector<edge> parts, edge axis) {
    if (parts.empty()) return fail(id, "found no part, expected one at least");
    const dtype out = type(parts[0]);
    parts.push_back(axis);
    return emit(id, op::cat, std::move(parts), out);
}
EMMY_DECL edge composer::stack(std::string_view id, std::vector<edge> parts, std::int64_t axis) {
    if (parts.empty()) return fail(id, "found no part, expected one at least");
    const auto a = axis_of(id, axis, rank(parts[0]) + 1);
    if (!a) return {0, 0};
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = unsqueeze(std::string(id) + "_part" + std::to_string(i), parts[i], static_cast<std::int64_t>(*a));
    return cat(id, std::move(parts), static_cast<std::int64_t>(*a));
}

EMMY_DECL edge composer::repeat(std::string_view id, edge x, list times) {
    const sizes from = shape(x);
    if (failed()) return {0, 0};
    if (times.size() < from.size()) return fail(id, "found " + std::to_string(times.size()) + " repeats, expected one for each axis");
    const std::size_t shift = times.size() - from.size();
    sizes out;
    std::vector<std::string> at;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (times[i] < 1) return fail(id, "found " + std::to_string(times[i]) + " repeats, expected at least 1");
        out.push_back(i < shift ? extent(times[i]) : from[i - shift] * extent(times[i]));
        if (i >= shift) at.push_back(times[i] == 1 ? place(i) : from[i - shift] == extent(1) ? "0" : place(i) + " % (" + from[i - shift].text(symbol_) + ")");
    }
    return map(id, {{x, at}}, type(x), out);
}
EMMY_DECL edge composer::repeat_interleave(std::string_view id, edge x, std::int64_t times, std::int64_t axis) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    if (times < 1) return fail(id, "found " + std::to_string(times) + " repeats, expected at least 1");
    sizes out = shape(x);
    std::vector<std::string> at = places(out.size());
    at[*a] += " / " + std::to_string(times);
    out[*a] = out[*a] * extent(times);
    return map(id, {{x, at}}, type(x), out);
}
EMMY_DECL edge composer::roll(std::string_view id, edge x, std::int64_t shift, std::int64_t axis) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    const extent length = shape(x)[*a];
    if (!length.is_number()) return fail(id, "found a symbolic axis, expected a size to roll in");
    const std::int64_t n = length.number(), from = ((-shift) % n + n) % n;
    std::vector<std::string> at = places(rank(x));
    if (from != 0) at[*a] = "(" + at[*a] + " + " + std::to_string(from) + ") % " + std::to_string(n);
    return map(id, {{x, at}}, type(x), shape(x));
}
EMMY_DECL edge composer::flip(std::string_view id, edge x, std::int64_t axis) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    std::vector<std::string> at = places(rank(x));
    at[*a] = (shape(x)[*a] - extent(1)).text(symbol_) + " - " + at[*a];
    return map(id, {{x, at}}, type(x), shape(x));
}
EMMY_DECL edge composer::pad(std::string_view id, edge x, list before, list after, double value) {
    const sizes from = shape(x);
    if (failed()) return {0, 0};
    if (before.size() != from.size() || after.size() != from.size()) return fail(id, "found pads of another rank, expected a pair for each axis");
    sizes out;
    std::vector<std::string> at;
    std::string inside;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (before[i] < 0 || after[i] < 0) return fail(id, "found a negative pad, expected at least 0 (slice instead)");
        out.push_back(from[i] + extent(before[i] + after[i]));
        const std::string c = place(i), lo = std::to_string(before[i]), end = (from[i] + extent(before[i])).text(symbol_);
        std::string test;
        if (before[i] > 0) test = c + " >= " + lo;
        if (after[i] > 0) test += (test.empty() ? "" : " && ") + c + " < " + end;
        const std::string moved = before[i] > 0 ? c + " - " + lo : c;
        at.push_back(test.empty() ? c : (test.find("&&") == std::string::npos ? test : "(" + test + ")") + " ? " + moved + " : 0");
        if (!test.empty()) inside += (inside.empty() ? "" : " && ") + test;
    }
    if (inside.empty()) return map(id, {{x, at}}, type(x), out);
    return map(id, {{x, at, inside}, {literal(std::string(id) + "_value", value, type(x)), {"0"}}}, type(x), out);
}
EMMY_DECL edge composer::slice_scatter(std::string_view id, edge x, edge part, std::int64_t axis, std::int64_t start) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    const sizes whole_shape = shape(x), piece = shape(part);
    bool fits = piece.size() == whole_shape.size();
    for (std::size_t i = 0; fits && i < piece.size(); ++i) fits = i == *a || piece[i] == whole_shape[i];
    if (!fits) return fail(id, "found a part of another shape, expected the data's but for the axis");
    const extent first = start < 0 ? whole_shape[*a] + extent(start) : extent(start), end = first + piece[*a];
    if (first.at(largest_symbol_size) < 0 || (whole_shape[*a] - end).at(largest_symbol_size) < 0)
        return fail(id, "found a part that leaves the data, expected one inside");
    const std::string c = place(*a), lo = first.text(symbol_), test = c + " >= (" + lo + ") && " + c + " < " + end.text(symbol_);
    std::vector<std::string> at = places(piece.size());
    at[*a] = "(" + test + ") ? " + c + " - (" + lo + ") : 0";
    return map(id, {{part, at, test}, {x, places(piece.size())}}, type(x), whole_shape);
}
EMMY_DECL edge composer::full(std::string_view id, double value, dtype type, sizes shape) {
    return map(id, {{literal(std::string(id) + "_value", value, type), {"0"}}}, type, std::move(shape));
}
EMMY_DECL edge composer::eye(std::string_view id, std::int64_t rows, std::int64_t columns, dtype type) {
    const std::string n(id);
    return map(id, {{literal(n + "_one", 1, type), {"0"}, place(0) + " == " + place(1)}, {literal(n + "_zero", 0, type), {"0"}}}, type,
               {extent(rows), extent(columns)});
}
EMMY_DECL edge composer::triangle(std::string_view id, edge x, bool upper, std::int64_t diagonal) {
    const std::size_t r = rank(x);
    if (failed()) return {0, 0};
    if (r < 2) return fail(id, "found a tensor of rank " + std::to_string(r) + ", expected a matrix");
    const std::string shifted = place(r - 2) + (diagonal == 0 ? "" : diagonal > 0 ? " + " + std::to_string(diagonal) : " - " + std::to_string(-diagonal));
    return map(id, {{x, places(r), place(r - 1) + (upper ? " >= " : " <= ") + shifted}, {literal(std::string(id) + "_zero", 0, type(x)), {"0"}}}, type(x),
               shape(x));
}
EMMY_DECL edge composer::gather(std::string_view id, edge x, std::int64_t axis, edge index) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    if (rank(index) != rank(x)) return fail(id, "found an index of rank " + std::to_string(rank(index)) + ", expected the data's " + std::to_string(rank(x)));
    const sizes out = shape(index);
    return emit(id, op::gather, {x, index}, type(x), {whole(attr::axis, static_cast<std::int64_t>(*a))}, &out);
}
EMMY_DECL edge composer::index_select(std::string_view id, edge x, std::int64_t axis, edge index) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    const sizes data = shape(x), at = shape(index);
    sizes out(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(*a));
    out.insert(out.end(), at.begin(), at.end());
    out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(*a) + 1, data.end());
    return emit(id, op::gather, {x, index}, type(x), {whole(attr::axis, static_cast<std::int64_t>(*a))}, &out);
}
EMMY_DECL edge composer::put(std::string_view id, edge x, std::int64_t axis, edge at, edge values) {
    const std::string n(id);
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    if (rank(at) != 1) return fail(id, "found places of rank " + std::to_string(rank(at)) + ", expected a vector");
    const extent length = shape(x)[*a], count = shape(at)[0];
    if (!length.is_number() || !count.is_number()) return fail(id, "found a symbolic axis, expected sizes to number");
    if (type(at) != dtype::i32 && type(at) != dtype::i64) return fail(id, "found places of " + std::string(token(type(at))) + ", expected i32 or i64");
    // Which of the places, if any, means each row: [rows, places] beside the data, which is read once.
    const edge wrapped = pointwise(n + "_at", "where", {with_number(n + "_negative", "less", at, 0), with_number(n + "_wrapped", "add", at, static_cast<double>(length.number())), at});
    const edge rows = unsqueeze(n + "_column", range(n + "_rows", 0, length.number(), 1, type(at)), 1);
    const edge hit = pointwise(n + "_hit", "equal", {rows, wrapped}, dtype::boolean);
    const edge order = pointwise(n + "_order", "where", {hit, range(n + "_order_of", 0, count.number(), 1, dtype::i32), literal(n + "_none", -1, dtype::i32)}, dtype::i32);
    const edge last = fold(n + "_last", "amax", order, {1}, false);
    edge any = with_number(n + "_any", "greater_equal", last, 0);
    for (std::size_t i = *a + 1; i < rank(x); ++i) any = unsqueeze(n + "_any" + std::to_string(i), any, -1);
    const edge picked = index_select(n + "_picked", values, static_cast<std::int64_t>(*a), with_number(n + "_read", "maximum", last, 0));
    return pointwise(id, "where", {any, picked, x}, type(x));
}
EMMY_DECL edge composer::scatter(std::string_view id, edge x, std::int64_t axis, edge index, edge values, std::string_view reduce) {
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    std::vector<setting> settings{whole(attr::axis, static_cast<std::int64_t>(*a))};
    if (!reduce.empty()) settings.push_back({.key = attr::reduce_fn, .text = std::string(reduce)});
    return emit(id, op::scatter, {x, index, values}, type(x), std::move(settings));
}
EMMY_DECL edge composer::one_hot(std::string_view id, edge index, std::int64_t classes) {
    const std::string n(id);
    if (failed()) return {0, 0};
    const edge ramp = range(n + "_classes", 0, classes, 1, type(index));
    return pointwise(id, "copy", {pointwise(n + "_is", "equal", {unsqueeze(n + "_index", index, -1), ramp})}, dtype::i64);
}

}  // namespace emmy::program
