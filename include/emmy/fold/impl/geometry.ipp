#pragma once
#include <emmy/fold/geometry.hpp>

#include <emmy/core/dim.hpp>
#include <emmy/fold/impl/roles.ipp>
#include <emmy/fold/impl/term_axes.ipp>
#include <emmy/loop/normal/simplify.hpp>

#include <optional>

namespace emmy::fold::closed {
namespace detail {

inline bool extent_is_one(const loop::axis& a) { return a.extent.kind == dim::form::number && a.extent.number == 1; }

/// Sweeps of a store that are no fold's own axis: an observed store rides its fold's loop last.
inline std::vector<loop::axis> sweeps_of(const forest& f, const store& s) {
    std::vector<loop::axis> out = s.sweeps;
    for (const term& t : f.terms)
        for (const observer& o : t.observe)
            if (o.name == s.value && !out.empty()) return out.pop_back(), out;
    return out;
}

/// A store's address, as far as sizes are known: what stands from the right up to the first symbolic size.
class addresses {
public:
    explicit addresses(const forest& from) : f_(from), exprs_(from.exprs), simple_(exprs_, known_) {
        auto learn = [&](const loop::axis& a) {
            if (a.extent.kind == dim::form::number) known_.axis(a.name, a.extent.number, 0);
            else known_.unknown_axis(a.name, 0);
        };
        for (const loop::axis& a : f_.free) learn(a);
        for (const store& s : f_.stores)
            for (const loop::axis& a : s.sweeps) learn(a);
    }
    /// The address over the dimensions that `take(place)` admits, row-major over those alone; no_expr where a size is symbolic.
    template <class Take>
    expr_id dense(const store& s, const Take& take, std::int64_t& cells) {
        const loop::buffer* b = output(s.buffer);
        cells = 1;
        if (!b || b->shape.size() != s.index.size()) return no_expr;
        expr_id sum = no_expr;
        for (std::size_t d = s.index.size(); d-- > 0;) {
            if (!take(d)) continue;
            if (b->shape[d].kind != dim::form::number) return no_expr;
            add(sum, s.index[d], cells);
            cells *= b->shape[d].number;
        }
        return sum == no_expr ? no_expr : simple_.simplify(sum);
    }
    /// Smallest step of the address along a coordinate over the stores; none where none is known.
    std::optional<std::int64_t> stride(name_id n) {
        std::optional<std::int64_t> out;
        for (const store& s : f_.stores) {
            const loop::buffer* b = output(s.buffer);
            if (!b || b->shape.size() != s.index.size()) continue;
            expr_id sum = no_expr;
            std::int64_t step = 1;
            for (std::size_t d = s.index.size(); d-- > 0;) {
                add(sum, s.index[d], step);
                if (b->shape[d].kind != dim::form::number) break;
                step *= b->shape[d].number;
            }
            if (sum == no_expr) continue;
            std::int64_t c = 0;
            if (!coefficient(simple_.simplify(sum), n, 1, c) || c == 0) continue;
            if (c < 0) c = -c;
            if (!out || c < *out) out = c;
        }
        return out;
    }
    bool is_zero(expr_id e) const { return exprs_[e].kind == expr_kind::integer && exprs_[e].integer == 0; }
    bool is_name(expr_id e, name_id n) const { return e != no_expr && exprs_[e].kind == expr_kind::name && exprs_[e].name == n; }

private:
    const loop::buffer* output(name_id n) const {
        for (const loop::buffer& b : f_.outputs)
            if (b.name == n) return &b;
        return nullptr;
    }
    void add(expr_id& sum, expr_id e, std::int64_t step) {
        const expr_id part = exprs_.binary(binary_op::multiply, e, exprs_.integer(step));
        sum = sum == no_expr ? part : exprs_.binary(binary_op::add, part, sum);
    }
    /// False where the name stands in anything but a sum of multiples.
    bool coefficient(expr_id id, name_id n, std::int64_t scale, std::int64_t& c) const {
        const expr& e = exprs_[id];
        std::vector<name_id> named;
        forest::names_in(exprs_, id, named);
        if (!has(named, n)) return true;
        if (e.kind == expr_kind::name) return c += scale, true;
        if (e.kind != expr_kind::binary) return false;
        if (e.op == binary_op::add) return coefficient(e.a, n, scale, c) && coefficient(e.b, n, scale, c);
        if (e.op == binary_op::subtract) return coefficient(e.a, n, scale, c) && coefficient(e.b, n, -scale, c);
        if (e.op != binary_op::multiply) return false;
        const bool left = exprs_[e.a].kind == expr_kind::integer;
        if (!left && exprs_[e.b].kind != expr_kind::integer) return false;
        std::int64_t by = 0;
        if (__builtin_mul_overflow(scale, exprs_[left ? e.a : e.b].integer, &by)) return false;
        return coefficient(left ? e.b : e.a, n, by, c);
    }
    const forest& f_;
    expr_pool exprs_;
    loop::normal::ranges known_{};
    loop::normal::simplifier simple_;
};

/// The tree as geometry sees it: its folds and what their contractions take.
struct folds_seen {
    std::vector<term_id> folds{};
    std::vector<roles> contractions{};
    explicit folds_seen(const forest& f) {
        for (term_id id : reached(f, f.root)) {
            if (f[id].is_map()) continue;
            folds.push_back(id);
            if (roles r = roles_of(f, id)) contractions.push_back(std::move(r));
        }
    }
    /// Whether an operand of a contraction varies with a coordinate.
    bool contracted(const forest& f, name_id n) const {
        for (const roles& r : contractions) {
            if (has(f[r.a].free, n)) return true;
            for (term_id b : r.b)
                if (has(f[b].free, n)) return true;
        }
        return false;
    }
};

inline bool needs_unit_row(const forest& f, const folds_seen& seen) {
    if (seen.contractions.empty() || f.stores.empty()) return false;
    addresses at(f);
    if (f.free.size() >= 2) {
        const roles r = roles_of(f, f.root);
        if (!r || !r.left.empty() || !r.shared.empty()) return false;
    }
    for (const store& s : f.stores) {
        const std::vector<loop::axis> sweeps = sweeps_of(f, s);
        std::size_t zeros = 0;
        std::vector<expr_id> rest;
        for (expr_id e : s.index) at.is_zero(e) ? void(++zeros) : rest.push_back(e);
        if (zeros == 0) return false;
        if (f.free.size() >= 2) {
            if (rest.size() != f.free.size()) return false;
            for (std::size_t i = 0; i < rest.size(); ++i)
                if (!at.is_name(rest[i], f.free[i].name)) return false;
            continue;
        }
        const loop::axis* column = f.free.size() == 1 ? &f.free[0] : sweeps.size() == 1 ? &sweeps[0] : nullptr;
        if (!column) return false;
        if (rest.size() == 1 && at.is_name(rest[0], column->name)) continue;
        std::int64_t cells = 0;
        const expr_id whole = at.dense(s, [&](std::size_t d) { return !at.is_zero(s.index[d]); }, cells);
        if (!at.is_name(whole, column->name) || column->extent.kind != dim::form::number || column->extent.number != cells) return false;
    }
    return true;
}

}  // namespace detail

EMMY_DECL geometry geometry_of(const forest& f) {
    const detail::folds_seen seen(f);
    geometry out;
    const bool unit = detail::needs_unit_row(f, seen);
    out.grid = f.free;
    const bool single = std::all_of(f.free.begin(), f.free.end(), [](const loop::axis& a) { return detail::extent_is_one(a); });
    std::vector<std::vector<loop::axis>> sweeps;
    for (const store& s : f.stores) sweeps.push_back(detail::sweeps_of(f, s));
    for (const loop::axis& a : sweeps.empty() ? std::vector<loop::axis>{} : sweeps[0]) {
        bool all = true;
        for (const auto& list : sweeps)
            all &= std::any_of(list.begin(), list.end(), [&](const loop::axis& x) { return x.name == a.name && same_extent(x.extent, a.extent); });
        if (!all) continue;
        const bool everywhere = std::all_of(seen.folds.begin(), seen.folds.end(), [&](term_id t) { return detail::has(f[t].free, a.name); });
        if (!detail::extent_is_one(a) && !seen.contracted(f, a.name) && !(everywhere && (!seen.folds.empty() || single))) continue;
        out.grid.push_back(a), out.promoted.push_back(a.name);
    }
    for (const auto& list : sweeps)
        for (const loop::axis& a : list) out.swept |= !detail::has(out.promoted, a.name);
    if (unit) out.grid.insert(out.grid.begin(), loop::axis{.name = no_name, .extent = number_dim(1)});
    // A row of a batch of rows: before the columns.
    const std::vector<term_id> roots = kernel_roots(f);
    bool rowless = !roots.empty() && !f.free.empty();
    const std::size_t own = out.grid.size() - (unit ? 1 : 0);
    if (rowless && own > 0) {
        const name_id last = out.grid.back().name;
        for (term_id t : roots) {
            const roles r = roles_of(f, t);
            if (!r || !r.left.empty() || !detail::has(r.right, last)) {
                rowless = false;
                break;
            }
            rowless &= (r.shared.empty() && own == 1) || (r.shared.empty() && r.right.size() == own) || (!r.shared.empty() && own >= 2);
        }
        if (rowless) {
            if (unit) out.grid.erase(out.grid.begin());
            out.grid.insert(out.grid.end() - 1, loop::axis{.name = no_name, .extent = number_dim(1)});
        }
    }
    return out;
}

EMMY_DECL bool promote(forest& f) {
    const geometry g = geometry_of(f);
    for (const loop::axis& a : g.grid)
        if (detail::has(g.promoted, a.name)) f.free.push_back(a);
    for (store& s : f.stores) std::erase_if(s.sweeps, [&](const loop::axis& a) { return detail::has(g.promoted, a.name); });
    return !g.swept;
}

EMMY_DECL std::vector<loop::axis> workspace_order(const forest& f) {
    std::vector<loop::axis> out = geometry_of(f).grid;
    detail::addresses at(f);
    std::vector<std::pair<std::int64_t, loop::axis>> keyed;
    for (const loop::axis& a : out) {
        const auto step = a.name == no_name ? std::nullopt : at.stride(a.name);
        keyed.emplace_back(step ? *step : std::numeric_limits<std::int64_t>::max(), a);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = keyed[i].second;
    return out;
}

EMMY_DECL bool bind_row(forest& f) {
    auto rowless = [](const forest& x) {
        for (term_id id : detail::reached(x, x.root))
            if (const roles r = roles_of(x, id); r && r.left.empty()) return true;
        return false;
    };
    if (f.outputs.empty() || !rowless(f)) return false;
    for (const loop::axis& a : f.free)
        if (detail::extent_is_one(a)) return false;
    std::size_t rank = ~std::size_t{0};
    for (const loop::buffer& b : f.outputs) rank = std::min(rank, b.shape.size());
    auto is_one = [](const dim& d) { return d.kind == dim::form::number && d.number == 1; };
    for (std::size_t place = 0; place < rank; ++place) {
        if (!std::all_of(f.outputs.begin(), f.outputs.end(), [&](const loop::buffer& b) { return is_one(b.shape[b.shape.size() - 1 - place]); })) continue;
        forest bound = f;
        const name_id row = bound.names.intern("_row");
        detail::mark(bound.is_axis, row);
        const expr_id by = bound.exprs.name(row);
        auto bind = [&](name_id buffer, std::vector<expr_id>& index) {
            for (const auto* list : {&f.inputs, &f.outputs})
                for (const loop::buffer& b : *list) {
                    if (b.name != buffer || index.size() != b.shape.size() || place >= index.size()) continue;
                    const std::size_t d = index.size() - 1 - place;
                    const expr e = bound.exprs[index[d]];
                    if (is_one(b.shape[d]) && e.kind == expr_kind::integer && e.integer == 0) index[d] = by;
                }
        };
        // Terms in their order: operands have smaller ids, so that free coordinates are found anew.
        std::vector<term> terms = std::move(bound.terms);
        bound.terms.clear();
        for (term& t : terms) {
            for (pure& s : t.body)
                if (s.kind == loop::stmt_kind::load) bind(s.buffer, s.index);
            bound.add(std::move(t));
        }
        for (store& s : bound.stores) bind(s.buffer, s.index);
        for (term_id id : detail::reached(bound, bound.root)) {
            const roles r = roles_of(bound, id);
            if (!r || r.left != std::vector<name_id>{row}) continue;
            bound.free.insert(bound.free.begin(), loop::axis{.name = row, .extent = number_dim(1)});
            f = std::move(bound);
            return true;
        }
    }
    return false;
}

}  // namespace emmy::fold::closed
