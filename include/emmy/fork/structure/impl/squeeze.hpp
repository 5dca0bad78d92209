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

/// How a value of a term reads one coordinate.
class coordinate_uses {
public:
    coordinate_uses(const forest& f, name_id axis) : f_(f), axis_(axis) {}

    squeeze of(term_id id, name_id value, const dim& extent) {
        seen_.clear(), over_ = 0, modulo_ = 0, other_ = false;
        if (extent.kind != dim::form::number) return {};
        read(id, value);
        if (other_ || over_ < 2) return {};
        if (modulo_ == 0) return {over_, 0};
        if (over_ % modulo_ == 0 && extent.number % over_ == 0 && over_ > modulo_) return {over_, modulo_};
        return {};
    }

private:
    void read(term_id id, name_id value) {
        const term& t = f_[id];
        if (other_ || t.axis.name == axis_ || !holds(t.free, axis_)) return;
        for (const auto& s : t.states)
            if (s.name == value || t.twist != fold::closed::recipe::none) inside(id, s.contribution);
        if (t.is_map()) inside(id, value);
    }
    void inside(term_id id, name_id value) {
        const term& t = f_[id];
        for (const pure& s : t.body)
            if (s.name == value) {
                if (!seen_.emplace(id, value).second) return;
                for (const expr_id e : s.index) expression(e);
                for (const name_id r : f_.reads(s)) inside(id, r);
                return;
            }
        for (const term_id o : t.operands)
            if (const std::vector<name_id> shown = f_.components(f_[o]); holds(shown, value)) return read(o, value);
    }
    void expression(expr_id e) {
        const expr& x = f_.exprs[e];
        switch (x.kind) {
            case expr_kind::name: other_ = other_ || x.name == axis_; return;
            case expr_kind::binary: {
                const expr& a = f_.exprs[x.a];
                const expr& b = f_.exprs[x.b];
                if (a.kind == expr_kind::name && a.name == axis_ && b.kind == expr_kind::integer && b.integer > 0) {
                    if (x.op == binary_op::divide || x.op == binary_op::floor_divide) return void(over_ = std::gcd(over_, b.integer));
                    if (x.op == binary_op::remainder) {
                        other_ = other_ || (modulo_ != 0 && modulo_ != b.integer);
                        return void(modulo_ = b.integer);
                    }
                }
                return expression(x.a), expression(x.b);
            }
            case expr_kind::ternary: return expression(x.a), expression(x.b), expression(x.c);
            case expr_kind::cast: return expression(x.a);
            case expr_kind::call:
                for (const expr_id a : f_.exprs.args(x)) expression(a);
                return;
            default: return;
        }
    }

    const forest& f_;
    name_id axis_;
    std::set<std::pair<term_id, name_id>> seen_{};
    std::int64_t over_ = 0, modulo_ = 0;
    bool other_ = false;
};

}  // namespace emmy::fork::structure
