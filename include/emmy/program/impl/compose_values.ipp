#pragma once
#include <emmy/program/compose.hpp>
#include <emmy/program/impl/pointwise.ipp>
#include <emmy/program/pointwise.hpp>

namespace emmy::program {

EMMY_DECL edge composer::pointwise(std::string_view id, std::string_view name, std::vector<edge> operands, dtype type) {
    if (failed()) return {0, 0};
    const pointwise_facts* known = find_pointwise(name);
    if (!known || known->operands != operands.size())
        return fail(id, "found " + std::string(name) + " of " + std::to_string(operands.size()) + " operands, expected a pointwise function");
    sizes whole_shape = shape(operands[0]);
    for (std::size_t i = 1; i < operands.size(); ++i) whole_shape = joined(id, whole_shape, shape(operands[i]));
    if (failed()) return {0, 0};
    // A literal has one element and an axis; beside tensors without axes it has none.
    const auto literal = [&](edge e) { return g_.nodes[e.node].op == op::constant && g_.find(g_.nodes[e.node], attr::value) != nullptr; };
    bool scalars = whole_shape.size() == 1, any = false;
    for (const edge e : operands) scalars = scalars && (literal(e) || rank(e) == 0), any = any || rank(e) == 0;
    if (scalars && any) {
        whole_shape.clear();
        for (edge& e : operands)
            if (rank(e) == 1) e = map(std::string(g_.id(e.node)) + "_bc", {{e, {"0"}}}, this->type(e), {});
    }
    if (type == dtype::none) {
        const bool truth = name == "equal" || name == "not_equal" || name.starts_with("less") || name.starts_with("greater") || name.starts_with("logical") ||
                           name.starts_with("is") || name == "signbit";
        type = truth ? dtype::boolean : promoted(name == "where" ? std::span<const edge>(operands).subspan(1) : operands);
        const bool real_result =
            truth ? false : name == "divide" || (operands.size() == 1 && is_integer(type) && !detail::find_integer(name) && name != "copy" && name != "pad");
        if (real_result && is_integer(type)) type = dtype::f32;
        if (name.starts_with("from_f")) type = dtype::f32;
        if (name == "to_f8e4m3") type = dtype::f8e4m3;
        if (name == "to_f8e5m2") type = dtype::f8e5m2;
        if (name == "to_f4e2m1") type = dtype::i32;
    }
    for (edge& e : operands) e = broadcast(std::string(g_.id(e.node)) + "_bc", e, whole_shape);
    return emit(id, op::elementwise, operands, type, {{.key = attr::op, .text = std::string(name)}});
}
EMMY_DECL edge composer::with_number(std::string_view id, std::string_view name, edge x, double number, dtype type) {
    const edge n = literal(std::string(id) + "_c", number, this->type(x));
    return pointwise(id, name, {x, n}, type);
}
EMMY_DECL edge composer::cast(std::string_view id, edge x, dtype type) {
    if (failed() || this->type(x) == type) return x;
    return map(id, {{x, places(rank(x))}}, type, shape(x));
}
EMMY_DECL edge composer::bitcast(std::string_view id, edge x, dtype type) {
    return emit(id, op::bitcast, {x}, type, {{.key = attr::dtype, .text = std::string(token(type))}});
}

EMMY_DECL edge composer::add(std::string_view id, edge a, edge b, double alpha) {
    const std::string name(id);
    const edge operands[] = {a, b};
    const dtype out = failed() ? dtype::f32 : promoted(operands);
    if (alpha == 1) return pointwise(id, "add", {a, b});
    return pointwise(id, "add", {wide(name + "_a", a), with_number(name + "_scaled", "multiply", wide(name + "_b", b), alpha)}, out);
}
EMMY_DECL edge composer::subtract(std::string_view id, edge a, edge b, double alpha) {
    if (alpha == 1) return pointwise(id, "subtract", {a, b});
    return add(id, a, b, -alpha);
}
EMMY_DECL edge composer::divide(std::string_view id, edge a, edge b, std::string_view rounding) {
    const std::string name(id);
    if (failed()) return {0, 0};
    const edge operands[] = {a, b};
    const dtype out = promoted(operands);
    if (rounding.empty()) return pointwise(id, "divide", {a, b});
    if (rounding == "floor") return pointwise(id, "floor_divide", {a, b}, out);
    if (rounding != "trunc") return fail(id, "found the rounding mode " + std::string(rounding) + ", expected floor or trunc");
    if (is_integer(out)) return pointwise(id, "floor_divide", {pointwise(name + "_whole", "subtract", {a, pointwise(name + "_rest", "fmod", {a, b})}), b}, out);
    return pointwise(id, "trunc", {pointwise(name + "_q", "divide", {wide(name + "_a", a), wide(name + "_b", b)})}, out);
}
EMMY_DECL edge composer::where(std::string_view id, edge condition, edge yes, edge no) { return pointwise(id, "where", {condition, yes, no}); }
EMMY_DECL edge composer::masked_fill(std::string_view id, edge x, edge mask, double value) {
    return pointwise(id, "where", {mask, literal(std::string(id) + "_value", value, type(x)), x}, type(x));
}
EMMY_DECL edge composer::clamp(std::string_view id, edge x, std::optional<double> least, std::optional<double> most) {
    const std::string name(id);
    if (!least && !most) return fail(id, "found no bound, expected min, max or both");
    if (least && !most) return with_number(id, "maximum", x, *least, type(x));
    if (least) x = with_number(name + "_lo", "maximum", x, *least, type(x));
    return with_number(id, "minimum", x, *most, type(x));
}

EMMY_DECL edge composer::activation(std::string_view id, std::string_view name, edge x, std::optional<double> number) {
    const std::string n(id);
    const dtype out = type(x);
    const auto up = [&] { return wide(n + "_wide", x); };
    if (name == "softplus" && number && *number != 1) {
        const edge scaled = pointwise(n + "_log", "softplus", {with_number(n + "_scaled", "multiply", up(), *number)});
        return with_number(id, "divide", scaled, *number, out);
    }
    if (find_pointwise(name) && !number) return pointwise(id, name, {x});
    if (name == "softplus") return pointwise(id, name, {x});
    if (name == "quick_gelu") {
        const edge w = up();
        return pointwise(id, "multiply", {w, pointwise(n + "_gate", "sigmoid", {with_number(n + "_scaled", "multiply", w, 1.702)})}, out);
    }
    if (name == "mish") {
        const edge w = up();
        return pointwise(id, "multiply", {w, pointwise(n + "_gate", "tanh", {pointwise(n + "_log", "softplus", {w})})}, out);
    }
    if (name == "relu6") return clamp(id, x, 0.0, 6.0);
    if (name == "hardsigmoid" || name == "hardswish") {
        const edge w = up(), kept = clamp(n + "_kept", with_number(n + "_up", "add", w, 3), 0.0, 6.0);
        if (name == "hardsigmoid") return with_number(id, "divide", kept, 6, out);
        return with_number(id, "divide", pointwise(n + "_product", "multiply", {w, kept}), 6, out);
    }
    if (name == "leaky_relu") {
        const edge w = up();
        return pointwise(id, "where", {with_number(n + "_positive", "greater", w, 0), w, with_number(n + "_low", "multiply", w, number.value_or(0.01))}, out);
    }
    if (name == "elu") {
        const edge w = up();
        return pointwise(
            id, "where",
            {with_number(n + "_positive", "greater", w, 0), w, with_number(n + "_low", "multiply", pointwise(n + "_exp", "expm1", {w}), number.value_or(1.0))},
            out);
    }
    return fail(id, "found the activation " + std::string(name) + ", expected a known one");
}
EMMY_DECL edge composer::glu(std::string_view id, edge x, std::int64_t axis, std::string_view gate) {
    const std::string n(id);
    const auto a = axis_of(id, axis, rank(x));
    if (!a) return {0, 0};
    const extent length = shape(x)[*a];
    if (!length.is_number() || length.number() % 2 != 0) return fail(id, "found an axis of " + length.text(symbol_) + ", expected an even number");
    const std::int64_t middle = length.number() / 2;
    const edge first = wide(n + "_first_wide", slice(n + "_first", x, axis, 0, middle)),
               second = wide(n + "_second_wide", slice(n + "_second", x, axis, middle, std::nullopt));
    if (gate == "silu") return pointwise(id, "multiply", {pointwise(n + "_gate", "silu", {first}), second}, type(x));  // swiglu: silu(first) × second
    return pointwise(id, "multiply", {first, activation(n + "_gate", gate, second)}, type(x));
}

}  // namespace emmy::program
