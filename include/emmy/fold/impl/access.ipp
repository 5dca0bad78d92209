#pragma once
#include <emmy/fold/access.hpp>

#include <algorithm>

namespace emmy::fold {
namespace detail {

inline void add_term(offset& o, offset_term term) {
    if (term.coefficient == 0) return;
    for (std::size_t i = 0; i < o.size(); ++i)
        if (o[i].atom == term.atom && o[i].symbols == term.symbols) {
            o[i].coefficient += term.coefficient;
            if (o[i].coefficient == 0) o.erase(o.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
    o.push_back(std::move(term));
}

/// Adds scale · e, taken apart as far as it is affine.
inline void linear(const loop::body& b, expr_id id, std::int64_t scale, const std::vector<name_id>& symbols, offset& out) {
    const expr& e = b.exprs[id];
    if (e.kind == expr_kind::integer) return add_term(out, {scale * e.integer, symbols, no_expr});
    if (e.kind == expr_kind::binary) {
        if (e.op == binary_op::add || e.op == binary_op::subtract) {
            linear(b, e.a, scale, symbols, out);
            return linear(b, e.b, e.op == binary_op::add ? scale : -scale, symbols, out);
        }
        if (e.op == binary_op::multiply) {
            if (b.exprs[e.a].kind == expr_kind::integer) return linear(b, e.b, scale * b.exprs[e.a].integer, symbols, out);
            if (b.exprs[e.b].kind == expr_kind::integer) return linear(b, e.a, scale * b.exprs[e.b].integer, symbols, out);
        }
    }
    add_term(out, {scale, symbols, id});
}

inline bool is_quotient(const loop::body& b, expr_id id, binary_op op, expr_id& x, std::int64_t& c) {
    if (id == no_expr) return false;
    const expr& e = b.exprs[id];
    if (e.kind != expr_kind::binary || !(e.op == op || (op == binary_op::divide && e.op == binary_op::floor_divide)) || b.exprs[e.b].kind != expr_kind::integer) return false;
    x = e.a, c = b.exprs[e.b].integer;
    return c > 0;
}

/// coefficient·c·(x / c) + coefficient·(x % c) is coefficient·x.
inline void recompose(const loop::body& b, offset& o) {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < o.size() && !changed; ++i) {
            expr_id x = no_expr, y = no_expr;
            std::int64_t c = 0, d = 0;
            if (!is_quotient(b, o[i].atom, binary_op::remainder, x, c)) continue;
            for (std::size_t j = 0; j < o.size(); ++j) {
                if (!is_quotient(b, o[j].atom, binary_op::divide, y, d) || x != y || c != d || o[i].symbols != o[j].symbols || o[j].coefficient != o[i].coefficient * c) continue;
                const offset_term whole = o[i];
                o.erase(o.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
                o.erase(o.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
                linear(b, x, whole.coefficient, whole.symbols, o);
                changed = true;
                break;
            }
        }
    }
}

inline bool names_axis(const loop::body& b, expr_id id, name_id axis) {
    const expr& e = b.exprs[id];
    switch (e.kind) {
        case expr_kind::name: return e.name == axis;
        case expr_kind::binary: return names_axis(b, e.a, axis) || names_axis(b, e.b, axis);
        case expr_kind::ternary: return names_axis(b, e.a, axis) || names_axis(b, e.b, axis) || names_axis(b, e.c, axis);
        case expr_kind::cast: return names_axis(b, e.a, axis);
        default: return false;
    }
}

}  // namespace detail

EMMY_DECL bool lanes_evaluate(const loop::body& b, expr_id id) {
    const expr& e = b.exprs[id];
    switch (e.kind) {
        case expr_kind::integer: return e.integer < (std::int64_t{1} << 31) && e.integer >= -(std::int64_t{1} << 31);
        case expr_kind::boolean:
        case expr_kind::name: return true;
        case expr_kind::binary: {
            const bool divides = e.op == binary_op::divide || e.op == binary_op::floor_divide || e.op == binary_op::remainder;
            if (divides && (b.exprs[e.b].kind != expr_kind::integer || b.exprs[e.b].integer < 1 || b.exprs[e.a].kind != expr_kind::name)) return false;
            if (e.op == binary_op::shift_left || e.op == binary_op::shift_right || e.op == binary_op::bit_and || e.op == binary_op::bit_or || e.op == binary_op::bit_xor) return false;
            return lanes_evaluate(b, e.a) && lanes_evaluate(b, e.b);
        }
        case expr_kind::ternary: return lanes_evaluate(b, e.a) && lanes_evaluate(b, e.b) && lanes_evaluate(b, e.c);
        default: return false;
    }
}

EMMY_DECL bool names(const loop::body& b, expr_id e, name_id name) { return e != no_expr && detail::names_axis(b, e, name); }

EMMY_DECL const loop::buffer* find_buffer(const loop::kernel& k, name_id name) {
    for (const auto* list : {&k.inputs, &k.outputs})
        for (const loop::buffer& x : *list)
            if (x.name == name) return &x;
    return nullptr;
}

EMMY_DECL std::optional<offset> flatten(const loop::kernel& k, const std::vector<dim>& shape, std::span<const expr_id> index) {
    offset out;
    std::int64_t stride = 1;
    std::vector<name_id> symbols;
    for (std::size_t i = shape.size(); i-- > 0;) {
        detail::linear(k.body, index[i], stride, symbols, out);
        if (shape[i].kind == dim::form::number) {
            if (shape[i].number > 0 && stride > (std::int64_t{1} << 56) / shape[i].number) return {};
            stride *= shape[i].number;
        } else if (shape[i].kind == dim::form::symbol) {
            symbols.push_back(shape[i].symbol);
            std::sort(symbols.begin(), symbols.end());
        } else if (i > 0) {
            return {};
        }
    }
    detail::recompose(k.body, out);
    return out;
}

EMMY_DECL std::optional<std::int64_t> lane_stride(const loop::kernel& k, const offset& o, name_id axis, int lanes) {
    std::int64_t stride = 0;
    for (const offset_term& term : o) {
        if (term.atom == no_expr) continue;
        const expr& e = k.body.exprs[term.atom];
        if (e.kind == expr_kind::name) {
            if (e.name != axis) continue;
            if (!term.symbols.empty()) return {};
            stride += term.coefficient;
        } else if (detail::names_axis(k.body, term.atom, axis)) {
            // (axis / c) is uniform and (axis % c) adjacent within aligned runs of a length that divides c.
            expr_id x = no_expr;
            std::int64_t c = 0;
            const bool quotient = detail::is_quotient(k.body, term.atom, binary_op::divide, x, c);
            if (!quotient && !detail::is_quotient(k.body, term.atom, binary_op::remainder, x, c)) return {};
            if (k.body.exprs[x].kind != expr_kind::name || c % lanes != 0) return {};
            if (quotient) continue;
            if (!term.symbols.empty()) return {};
            stride += term.coefficient;
        }
    }
    return stride;
}

}  // namespace emmy::fold
