#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/core/result.hpp>
#include <emmy/program/graph.hpp>

#include <algorithm>
#include <charconv>

namespace emmy::program::detail {

/// An index expression of a map, checked once and evaluated for every output element: names are places of a small table.
class coordinate_evaluator {
public:
    /// Place of a name in the value table, or -1.
    using place_of_name = std::vector<std::int32_t>;

    coordinate_evaluator(const graph& g, const place_of_name& places) : g_(g), places_(places) {}

    /// Errors (input): a name that is not bound, a real, a call.
    result<void> check(expr_id id) const {
        const expr& e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return {};
            case expr_kind::name:
                if (e.name < places_.size() && places_[e.name] >= 0) return {};
                return refuse(fault_kind::input, "found the name \"" + std::string(g_.text(e.name)) + "\", expected a coordinate or a bound size");
            case expr_kind::cast: return check(e.a);
            case expr_kind::binary:
                EMMY_CHECK_OK(check(e.a));
                return check(e.b);
            case expr_kind::ternary:
                EMMY_CHECK_OK(check(e.a));
                EMMY_CHECK_OK(check(e.b));
                return check(e.c);
            default: return refuse(fault_kind::input, "found a real number, a call or a built-in name, expected integer arithmetic");
        }
    }
    /// Of a checked expression; operators as apply() in core/expr_eval.hpp.
    std::int64_t operator()(expr_id id, const std::int64_t* values) const {
        const expr& e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: return values[places_[e.name]];
            case expr_kind::cast: return (*this)(e.a, values);
            case expr_kind::ternary: return (*this)(e.a, values) != 0 ? (*this)(e.b, values) : (*this)(e.c, values);
            case expr_kind::binary: break;
            default: return e.integer;
        }
        const std::int64_t a = (*this)(e.a, values);
        if (e.op == binary_op::logical_and) return a != 0 && (*this)(e.b, values) != 0;
        if (e.op == binary_op::logical_or) return a != 0 || (*this)(e.b, values) != 0;
        return apply(e.op, a, (*this)(e.b, values));
    }

private:
    const graph& g_;
    const place_of_name& places_;
};

/// Places of the coordinate names out_coord_0 … out_coord_<rank-1> in a graph's name table.
inline coordinate_evaluator::place_of_name coordinate_places(const graph& g, std::size_t rank) {
    coordinate_evaluator::place_of_name out(g.names.size(), -1);
    for (name_id n = 1; n < g.names.size(); ++n) {
        std::string_view text = g.text(n);
        if (!text.starts_with("out_coord_")) continue;
        text.remove_prefix(10);
        std::int32_t place = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
        if (error == std::errc() && end == text.data() + text.size() && place >= 0 && static_cast<std::size_t>(place) < rank) out[n] = place;
    }
    return out;
}

}  // namespace emmy::program::detail
