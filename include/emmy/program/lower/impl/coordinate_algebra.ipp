#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/program/graph.hpp>

#include <optional>

namespace emmy::program::detail {

/// Coordinate expressions of the maps that lowering makes. Folds what is plain (x + 0, x * 1, x / 1, x % 1, 0 / x, numbers); what needs the ranges of
/// the coordinates is left to the loops.
class coordinate_algebra {
public:
    explicit coordinate_algebra(graph& g) : g_(g) {}

    expr_id number(std::int64_t n) { return g_.exprs.integer(n); }
    /// out_coord_<axis>
    expr_id at(std::size_t axis) {
        while (axes_.size() <= axis) axes_.push_back(g_.exprs.name(g_.names.intern("out_coord_" + std::to_string(axes_.size()))));
        return axes_[axis];
    }
    expr_id extent(const dim& d) {
        switch (d.kind) {
            case dim::form::symbol: return g_.exprs.name(d.symbol);
            case dim::form::expression: return d.value;
            default: return number(d.number);
        }
    }
    dim as_dim(expr_id e, const dim& like) const {
        if (const auto n = whole(e)) return number_dim(*n);
        if (g_.exprs[e].kind == expr_kind::name) return {.kind = dim::form::symbol, .number = like.number, .has_hint = like.has_hint, .symbol = g_.exprs[e].name};
        return {.kind = dim::form::expression, .value = e};
    }
    std::optional<std::int64_t> whole(expr_id e) const {
        return g_.exprs[e].kind == expr_kind::integer ? std::optional(g_.exprs[e].integer) : std::nullopt;
    }
    bool is(expr_id e, std::int64_t n) const { return whole(e) == n; }

    expr_id add(expr_id a, expr_id b) {
        if (is(a, 0)) return b;
        if (is(b, 0)) return a;
        return make(binary_op::add, a, b);
    }
    expr_id subtract(expr_id a, expr_id b) {
        if (is(b, 0)) return a;
        return a == b ? number(0) : make(binary_op::subtract, a, b);
    }
    expr_id multiply(expr_id a, expr_id b) {
        if (is(a, 0) || is(b, 0)) return number(0);
        if (is(a, 1)) return b;
        return is(b, 1) ? a : make(binary_op::multiply, a, b);
    }
    expr_id divide(expr_id a, expr_id b) {
        if (is(b, 1)) return a;
        return is(a, 0) ? a : make(binary_op::divide, a, b);
    }
    expr_id remainder(expr_id a, expr_id b) { return is(b, 1) || is(a, 0) ? number(0) : make(binary_op::remainder, a, b); }
    expr_id compare(binary_op op, expr_id a, expr_id b) { return g_.exprs.binary(op, a, b); }
    expr_id both(expr_id a, expr_id b) { return g_.exprs.binary(binary_op::logical_and, a, b); }
    expr_id choose(expr_id condition, expr_id a, expr_id b) { return a == b ? a : g_.exprs.ternary(condition, a, b); }

    /// Names out_coord_<i> replaced by with[i]; nothing is simplified. Shared parts are visited once.
    expr_id substitute(expr_id id, std::span<const expr_id> with) {
        if (id == no_expr) return id;
        for (std::size_t i = 0; i < with.size(); ++i) at(i);
        ++round_;
        return replaced(id, with);
    }

private:
    expr_id make(binary_op op, expr_id a, expr_id b) {
        const auto x = whole(a), y = whole(b);
        if (x && y && *y != 0) return number(apply(op, *x, *y));
        if (x && y && op != binary_op::divide && op != binary_op::remainder) return number(apply(op, *x, *y));
        return g_.exprs.binary(op, a, b);
    }
    expr_id replaced(expr_id id, std::span<const expr_id> with) {
        if (id < seen_.size() && seen_[id] == round_) return result_[id];
        const expr e = g_.exprs[id];  // a copy: the pool grows below
        expr_id out = id;
        switch (e.kind) {
            case expr_kind::name:
                for (std::size_t i = 0; i < with.size(); ++i)
                    if (axes_[i] == id) out = with[i];
                break;
            case expr_kind::cast: out = g_.exprs.cast(e.name, replaced(e.a, with)); break;
            case expr_kind::binary: {
                const expr_id a = replaced(e.a, with), b = replaced(e.b, with);
                out = g_.exprs.binary(e.op, a, b);
                break;
            }
            case expr_kind::ternary: {
                const expr_id a = replaced(e.a, with), b = replaced(e.b, with), c = replaced(e.c, with);
                out = g_.exprs.ternary(a, b, c);
                break;
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                for (std::size_t i = 0; i < e.arg_count; ++i) args.push_back(replaced(g_.exprs.args(e)[i], with));
                out = g_.exprs.call(e.name, args);
                break;
            }
            default: break;
        }
        if (seen_.size() <= id) seen_.resize(g_.exprs.size() + 64, 0), result_.resize(seen_.size(), no_expr);
        seen_[id] = round_;
        result_[id] = out;
        return out;
    }
    graph& g_;
    std::vector<expr_id> axes_;
    std::vector<std::uint32_t> seen_;
    std::vector<expr_id> result_;
    std::uint32_t round_ = 0;
};

}  // namespace emmy::program::detail
