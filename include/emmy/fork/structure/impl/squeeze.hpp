#pragma once
#include <emmy/fork/structure/impl/replace.hpp>

#include <cstdint>
#include <map>
#include <numeric>
#include <set>

namespace emmy::fork::structure {

/// What of a coordinate i a value reads: all of it, i / over, or i / over and i % modulo. A buffer keeps that much: place i / over, or
/// i / over * modulo + i % modulo.
struct squeeze {
    std::int64_t over = 1, modulo = 0;
    bool whole() const { return over == 1; }
    auto operator<=>(const squeeze&) const = default;

    std::int64_t extent(std::int64_t whole_extent) const {
        if (whole()) return whole_extent;
        return modulo > 0 ? whole_extent / over * modulo : (whole_extent + over - 1) / over;
    }
    /// The place of coordinate e.
    expr_id place(expr_pool& x, expr_id e) const {
        if (whole()) return e;
        const expr_id high = x.binary(binary_op::divide, e, x.integer(over));
        if (modulo == 0) return high;
        return x.binary(binary_op::add, x.binary(binary_op::multiply, high, x.integer(modulo)), x.binary(binary_op::remainder, e, x.integer(modulo)));
    }
    /// A coordinate at place e.
    expr_id coordinate(expr_pool& x, expr_id e) const {
        if (whole()) return e;
        if (modulo == 0) return x.binary(binary_op::multiply, e, x.integer(over));
        const expr_id high = x.binary(binary_op::multiply, x.binary(binary_op::divide, e, x.integer(modulo)), x.integer(over));
        return x.binary(binary_op::add, high, x.binary(binary_op::remainder, e, x.integer(modulo)));
    }
};

/// How the cone of a term reads one coordinate.
struct axis_use {
    std::int64_t over = 0;                ///< common divisor of i / d; 0: none
    std::vector<std::int64_t> modulo{};   ///< of i % c
    bool bare = false;
};
inline void add_uses(const forest& f, expr_id e, name_id axis, axis_use& out) {
    const expr& x = f.exprs[e];
    switch (x.kind) {
        case expr_kind::name: out.bare = out.bare || x.name == axis; return;
        case expr_kind::binary: {
            const expr& a = f.exprs[x.a];
            const expr& b = f.exprs[x.b];
            if (a.kind == expr_kind::name && a.name == axis && b.kind == expr_kind::integer && b.integer > 0) {
                if (x.op == binary_op::divide || x.op == binary_op::floor_divide) return void(out.over = std::gcd(out.over, b.integer));
                if (x.op == binary_op::remainder) return add_once(out.modulo, b.integer);
            }
            return add_uses(f, x.a, axis, out), add_uses(f, x.b, axis, out);
        }
        case expr_kind::ternary: return add_uses(f, x.a, axis, out), add_uses(f, x.b, axis, out), add_uses(f, x.c, axis, out);
        case expr_kind::cast: return add_uses(f, x.a, axis, out);
        case expr_kind::call:
            for (const expr_id a : f.exprs.args(x)) add_uses(f, a, axis, out);
            return;
        default: return;
    }
}
inline void add_uses(const forest& f, term_id id, name_id axis, axis_use& out, std::set<term_id>& seen) {
    const term& t = f[id];
    if (t.axis.name == axis || !holds(t.free, axis) || !seen.insert(id).second) return;
    for (const pure& s : t.body)
        for (const expr_id e : s.index) add_uses(f, e, axis, out);
    for (const term_id o : t.operands) add_uses(f, o, axis, out, seen);
}

/// The low extent of the two axes that a grid axis is best split into: operands of one product-sum read it as i / f and as i % f, or whole. 0: none.
inline std::int64_t grid_split(const forest& f, term_id root, const loop::axis& a) {
    if (a.extent.kind != dim::form::number) return 0;
    std::set<term_id> seen{root};
    for (std::vector<term_id> todo{root}; !todo.empty();) {
        const term_id id = todo.back();
        todo.pop_back();
        const term& t = f[id];
        for (const term_id o : t.operands)
            if (seen.insert(o).second) todo.push_back(o);
        if (t.is_map() || t.free.size() < 2 || !holds(t.free, a.name)) continue;
        if (t.twist == fold::closed::recipe::none && !fold::closed::as_contraction(f, id)) continue;
        axis_use all;
        bool high = false, low = false;
        for (const term_id o : t.operands) {
            axis_use use;
            std::set<term_id> inside;
            add_uses(f, o, a.name, use, inside);
            high = high || (use.over > 0 && use.modulo.empty() && !use.bare);
            low = low || !use.modulo.empty() || use.bare;
            all.over = std::gcd(all.over, use.over), all.bare = all.bare || use.bare;
            for (const std::int64_t c : use.modulo) add_once(all.modulo, c);
        }
        const bool one = all.modulo.empty() || all.modulo == std::vector<std::int64_t>{all.over};
        if (high && low && one && all.over > 1 && a.extent.number % all.over == 0 && all.over < a.extent.number)
            return all.over;
    }
    return 0;
}

/// How a value of a term reads one coordinate.
class coordinate_uses {
public:
    coordinate_uses(const forest& f, name_id axis) : f_(f), axis_(axis) {}

    squeeze of(term_id id, name_id value, const dim& extent) {
        seen_.clear(), use_ = {};
        if (extent.kind != dim::form::number) return {};
        read(id, value);
        if (use_.bare || use_.over < 2 || use_.modulo.size() > 1) return {};
        if (use_.modulo.empty()) return {use_.over, 0};
        const std::int64_t c = use_.modulo[0];
        if (use_.over % c == 0 && extent.number % use_.over == 0 && use_.over > c) return {use_.over, c};
        return {};
    }

private:
    void read(term_id id, name_id value) {
        const term& t = f_[id];
        if (t.axis.name == axis_ || !holds(t.free, axis_)) return;
        for (const auto& s : t.states)
            if (s.name == value || t.twist != fold::closed::recipe::none) inside(id, s.contribution);
        if (t.is_map()) inside(id, value);
    }
    void inside(term_id id, name_id value) {
        const term& t = f_[id];
        for (const pure& s : t.body)
            if (s.name == value) {
                if (!seen_.emplace(id, value).second) return;
                for (const expr_id e : s.index) add_uses(f_, e, axis_, use_);
                for (const name_id r : f_.reads(s)) inside(id, r);
                return;
            }
        for (const term_id o : t.operands)
            if (const std::vector<name_id> shown = f_.components(f_[o]); holds(shown, value)) return read(o, value);
    }

    const forest& f_;
    name_id axis_;
    std::set<std::pair<term_id, name_id>> seen_{};
    axis_use use_{};
};

}  // namespace emmy::fork::structure
