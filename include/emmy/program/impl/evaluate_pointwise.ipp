#pragma once
#include <emmy/program/impl/evaluation.ipp>
#include <emmy/program/impl/pointwise.ipp>

#include <cmath>

namespace emmy::program::detail {

/// The type that a function of reals rounds in before its result is converted, see arithmetic::typed.
inline dtype real_computing_type(std::string_view name, dtype out, std::span<const dtype> operands, bool square) {
    bool halves = out == dtype::f16, wide = out == dtype::f64;
    for (dtype t : operands) halves = halves && t == dtype::f16, wide = wide || t == dtype::f64;
    if (wide) return dtype::f64;
    return halves && !square && name != "pow" ? dtype::f16 : dtype::f32;
}

inline result<evaluated> evaluation::pointwise(const node& n) const {
    EMMY_TRY(out, blank(n));
    const std::string_view name = g.text(n, attr::op);
    const evaluated& a = input(n, 0);
    if (name == "copy" || name == "pad") return converted(a, out.type);
    std::vector<dtype> types;
    bool integers = true;
    for (std::size_t i = 0; i < n.inputs.count; ++i) types.push_back(input(n, i).type), integers = integers && is_integer(types.back());
    if (name == "where") {  // a select: branches keep their form when they share one
        const evaluated &c = a, yes = converted(input(n, 1), out.type), no = converted(input(n, 2), out.type);
        allocate(out);
        for (std::size_t i = 0; i < c.integers.size(); ++i) {
            const evaluated& from = c.integers[i] != 0 ? yes : no;
            if (reads_as_integer(out.type)) out.integers[i] = from.integers[i];
            else out.values[i] = from.values[i];
        }
        return std::move(out);
    }
    if (const integer_function f = integers ? find_integer(name) : nullptr) {
        const dtype computing = n.inputs.count == 2 ? integer_promotion(types[0], types[1]) : types[0];
        const evaluated x = converted(a, computing), y = n.inputs.count == 2 ? converted(input(n, 1), computing) : x;
        const bool truth = name == "equal" || name == "not_equal" || name.starts_with("less") || name.starts_with("greater") || name.starts_with("logical");
        evaluated made{.type = truth ? dtype::boolean : computing, .shape = out.shape};
        made.integers.resize(x.integers.size());
        const bool u = !facts(computing).is_signed;
        for (std::size_t i = 0; i < made.integers.size(); ++i) {
            std::int64_t v = f(x.integers[i], y.integers[i], u);
            if (name == "invert" && computing == dtype::boolean) v = x.integers[i] == 0;
            made.integers[i] = wrap_to(made.type, v);
        }
        return converted(made, out.type);
    }
    const std::vector<double> x = reals_of(a);
    std::vector<double> made(x.size());
    bool square = false;
    if (n.inputs.count == 2) {
        const binary_function f = find_binary(name);
        if (!f) return refuse(fault_kind::user, "no reference for the pointwise function " + std::string(name) + " of these types", std::string(g.text(n.id)));
        const std::vector<double> y = reals_of(input(n, 1));
        square = name == "multiply" && g.inputs_of(n)[0] == g.inputs_of(n)[1];
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = f(x[i], y[i]);
    } else {
        const unary_function f = find_unary(name);
        if (!f) return refuse(fault_kind::user, "no reference for the pointwise function " + std::string(name) + " of these types", std::string(g.text(n.id)));
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = f(x[i]);
    }
    evaluated reals{.type = dtype::f64, .shape = out.shape, .values = std::move(made)};
    if (typed() && !is_integer(out.type)) {
        const dtype computing = real_computing_type(name, out.type, types, square);
        for (double& v : reals.values) v = round_to(computing, v);
    }
    return converted(reals, out.type);
}

}  // namespace emmy::program::detail
