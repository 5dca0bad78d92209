#pragma once
#include <emmy/loop/normal/graph.hpp>

/// Every effect as a function of the coordinates it stores to: one axis a dimension, whatever loops the body spelled.
namespace emmy::loop::normal {

/// bound_axis heights from here on are dimensions of stores.
constexpr std::uint32_t first_slot = 1u << 20;

namespace detail {

/// Where an axis occurs in a store index.
struct digit {
    std::uint32_t place = 0;       // dimension
    std::int64_t step = 1, count = 0;  // (axis / step) % count; count 0: no remainder taken
};

class store_axes {
public:
    constexpr explicit store_axes(graph& g) : g_(g) {}

    constexpr void rewrite(effect& e) {
        index_.assign(g_.expressions(e.index).begin(), g_.expressions(e.index).end());
        path_.assign(g_.list(e.path).begin(), g_.list(e.path).end());
        from_.clear(), to_.clear(), renamed_ = true;
        const std::size_t before = path_.size();
        for (std::size_t i = 0; i < before; ++i) split_by_store(path_[i]);
        for (std::size_t d = 0; d < index_.size(); ++d) join_in_store(d);
        for (std::size_t d = 0; d < index_.size(); ++d) {
            const expr& x = g_.exprs[index_[d]];
            if (x.kind != expr_kind::name || g_.var(x.name).kind != variable::form::axis || replaced(x.name)) continue;
            const name_id slot = slot_of(d, g_.var(x.name).extent, g_.var(x.name).window);
            replace(x.name, g_.exprs.name(slot));
        }
        for (std::size_t i = 0; i < before; ++i)
            if (g_.var(path_[i]).kind == variable::form::axis && !replaced(path_[i])) {
                const name_id own = g_.axis(g_.var(path_[i]).extent, g_.var(path_[i]).window);
                path_.push_back(own);
                replace(path_[i], g_.exprs.name(own));
            }
        std::size_t kept = 0;
        for (name_id a : path_)
            if (!replaced(a)) path_[kept++] = a;
        path_.resize(kept, no_name);

        substitution map(g_.exprs);
        for (std::size_t i = 0; i < from_.size(); ++i) map.set(from_[i], to_[i]);
        if (renamed_) {
            rebuilder<substitution> rebuilt(g_, map, map.touches());
            e.value = rebuilt(e.value);
            for (expr_id& x : index_) x = rebuilt.expression(x);
        } else {
            simplified_substitution exact(g_, map);
            rebuilder<simplified_substitution> rebuilt(g_, exact, map.touches());
            e.value = rebuilt(e.value);
            for (expr_id& x : index_) x = rebuilt.expression(x);
        }
        e.index = g_.add_expressions(index_), e.path = g_.add_list(path_);
    }

private:
    constexpr bool number(expr_id id, std::int64_t& out) const {
        const expr& e = g_.exprs[id];
        out = e.integer;
        return id != no_expr && e.kind == expr_kind::integer;
    }
    /// Static extent of an axis without window.
    constexpr bool plain(name_id axis, std::int64_t& extent) const {
        const variable& v = g_.var(axis);
        return v.window == no_place && number(v.extent, extent) && extent > 1;
    }
    /// (axis / step) % count in either nesting of the two; a bare axis has step 1 and no count.
    constexpr bool as_digit(expr_id id, name_id& axis, digit& d) const {
        const expr& e = g_.exprs[id];
        if (e.kind == expr_kind::name) {
            axis = e.name, d.step = 1, d.count = 0;
            return true;
        }
        std::int64_t n = 0;
        if (e.kind != expr_kind::binary || !number(e.b, n) || n <= 0) return false;
        if (e.op == binary_op::divide) {
            if (!as_digit(e.a, axis, d)) return false;
            if (d.count != 0 && d.count % n != 0) return false;
            d.step *= n, d.count /= n;
            return true;
        }
        if (e.op != binary_op::remainder || !as_digit(e.a, axis, d) || (d.count != 0 && d.count % n != 0)) return false;
        d.count = n;
        return true;
    }

    /// y[.., f / Q, .., f % Q, ..]: f becomes Q * p + q.
    constexpr void split_by_store(name_id axis) {
        std::int64_t extent = 0;
        if (!plain(axis, extent)) return;
        std::array<digit, 8> digits{};
        std::size_t count = 0;
        const std::uint64_t bit = std::uint64_t{1} << (axis & 63);
        for (std::uint32_t d = 0; d < index_.size(); ++d) {
            if ((g_.expression_mask(index_[d]) & bit) == 0) continue;
            name_id found = no_name;
            digit at{.place = d};
            if (!as_digit(index_[d], found, at)) {
                if (mentions(index_[d], axis)) return;
                continue;
            }
            if (found != axis) continue;
            if (count == digits.size()) return;
            digits[count++] = at;
        }
        if (count < 2) return;
        for (std::size_t i = 1; i < count; ++i)  // innermost digit first
            for (std::size_t j = i; j > 0 && digits[j].step < digits[j - 1].step; --j) std::swap(digits[j], digits[j - 1]);
        std::int64_t step = 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (digits[i].step != step || extent % step != 0) return;
            if (digits[i].count == 0) digits[i].count = i + 1 == count ? extent / step : 0;
            if (digits[i].count <= 0) return;
            step *= digits[i].count;
        }
        if (step != extent) return;
        expr_id whole = no_expr;
        for (std::size_t i = count; i-- > 0;) {
            const name_id part = slot_of(digits[i].place, g_.exprs.integer(digits[i].count));
            index_[digits[i].place] = g_.exprs.name(part);
            const expr_id scaled = digits[i].step == 1 ? g_.exprs.name(part) : g_.exprs.binary(binary_op::multiply, g_.exprs.integer(digits[i].step), g_.exprs.name(part));
            whole = whole == no_expr ? scaled : g_.exprs.binary(binary_op::add, whole, scaled);
        }
        replace(axis, whole);
        renamed_ = false;
    }

    /// y[.., Q * p + q, ..]: one axis i with p = i / Q and q = i % Q; a constant offset stays.
    constexpr void join_in_store(std::size_t d) {
        std::array<name_id, 8> axes{};
        std::array<std::int64_t, 8> factors{}, extents{};
        std::size_t count = 0;
        std::int64_t offset = 0;
        if (!affine(index_[d], 1, axes, factors, count, offset) || count < 2) return;
        for (std::size_t i = 0; i < count; ++i) {
            if (factors[i] <= 0 || !plain(axes[i], extents[i])) return;
            for (std::size_t other = 0; other < index_.size(); ++other)
                if (other != d && mentions(index_[other], axes[i])) return;
        }
        for (std::size_t i = 1; i < count; ++i)  // innermost first
            for (std::size_t j = i; j > 0 && factors[j] < factors[j - 1]; --j)
                std::swap(factors[j], factors[j - 1]), std::swap(axes[j], axes[j - 1]), std::swap(extents[j], extents[j - 1]);
        std::int64_t extent = 1;
        for (std::size_t i = 0; i < count; ++i) {
            if (factors[i] != factors[0] * extent) return;
            if (__builtin_mul_overflow(extent, extents[i], &extent) || extent > symbol_limit) return;
        }
        const name_id joined = slot_of(d, g_.exprs.integer(extent));
        expr_id at = g_.exprs.name(joined);
        for (std::size_t i = 0; i < count; ++i) {
            expr_id part = factors[i] == factors[0] ? at : g_.exprs.binary(binary_op::divide, at, g_.exprs.integer(factors[i] / factors[0]));
            if (i + 1 < count) part = g_.exprs.binary(binary_op::remainder, part, g_.exprs.integer(extents[i]));
            replace(axes[i], part);
        }
        if (factors[0] != 1) at = g_.exprs.binary(binary_op::multiply, g_.exprs.integer(factors[0]), at);
        if (offset != 0) at = g_.exprs.binary(binary_op::add, at, g_.exprs.integer(offset));
        index_[d] = at;
        renamed_ = false;
    }
    constexpr bool affine(expr_id id, std::int64_t scale, std::array<name_id, 8>& axes, std::array<std::int64_t, 8>& factors, std::size_t& count, std::int64_t& offset) const {
        const expr& e = g_.exprs[id];
        std::int64_t n = 0;
        if (e.kind == expr_kind::integer) {
            offset += e.integer * scale;
            return true;
        }
        if (e.kind == expr_kind::name) {
            if (count == axes.size() || g_.var(e.name).kind != variable::form::axis) return false;
            for (std::size_t i = 0; i < count; ++i)
                if (axes[i] == e.name) return false;
            axes[count] = e.name, factors[count++] = scale;
            return true;
        }
        if (e.kind != expr_kind::binary) return false;
        if (e.op == binary_op::add) return affine(e.a, scale, axes, factors, count, offset) && affine(e.b, scale, axes, factors, count, offset);
        return e.op == binary_op::multiply && number(e.a, n) && n > 0 && n <= symbol_limit && scale == 1 && affine(e.b, n, axes, factors, count, offset);
    }
    constexpr bool mentions(expr_id id, name_id axis) const {
        const expr& e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: return e.name == axis;
            case expr_kind::binary: return mentions(e.a, axis) || mentions(e.b, axis);
            case expr_kind::ternary: return mentions(e.a, axis) || mentions(e.b, axis) || mentions(e.c, axis);
            case expr_kind::cast: return mentions(e.a, axis);
            case expr_kind::call:
                for (expr_id a : g_.exprs.args(e))
                    if (mentions(a, axis)) return true;
                return false;
            default: return false;
        }
    }
    constexpr void replace(name_id axis, expr_id by) { from_.push_back(axis), to_.push_back(by); }
    constexpr bool replaced(name_id axis) const {
        for (name_id a : from_)
            if (a == axis) return true;
        return false;
    }
    /// The axis of dimension d: the same variable in every effect that has such a dimension.
    constexpr name_id slot_of(std::size_t d, expr_id extent, std::uint32_t window = no_place) {
        const name_id slot = g_.bound_axis(extent, window, first_slot + static_cast<std::uint32_t>(d));
        path_.push_back(slot);
        return slot;
    }
    graph& g_;
    std::vector<expr_id> index_, to_;
    std::vector<name_id> path_, from_;
    bool renamed_ = true;  // nothing but names changed: expressions stay simplified
};

}  // namespace detail

/// Gives every effect its own axes: index entry d that is a bare axis, or a mixed-radix number over axes of static extent
/// (`Q * p + q`), is the axis of dimension d; an axis that the index takes apart completely (`f / Q`, `f % Q`) becomes those of the
/// dimensions. Values follow, simplified. Effects with like dimensions share axes, so an elementwise kernel over a fused axis and the
/// same one over two axes are one, and how loops are shared between stores does not show.
constexpr void use_store_axes(graph& g) {
    detail::store_axes rewriter(g);
    for (std::size_t i = 0; i < g.effects.size(); ++i) {
        effect e = g.effects[i];
        rewriter.rewrite(e);
        g.effects[i] = e;
    }
}

}  // namespace emmy::loop::normal
