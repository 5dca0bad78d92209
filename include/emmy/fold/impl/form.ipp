#pragma once
#include <emmy/fold/form.hpp>

#include <emmy/fold/impl/geometry.ipp>
#include <emmy/fold/impl/term_twist.ipp>
#include <emmy/fold/lower_terms.hpp>

namespace emmy::fold::closed {
namespace detail {

/// Regions that each write one output below sweeps of their own, of one extent, get the sweeps of the first. True where they did.
inline bool align_sweeps(forest& f) {
    const std::vector<region> parts = regions(f);
    if (parts.size() < 2 || !f[f.root].body.empty()) return false;
    forest out = f;
    std::map<term_id, term_id> becomes;
    const std::vector<loop::axis>* common = nullptr;
    std::vector<name_id> used;
    for (const region& r : parts) {
        if (r.stores.size() != 1) return false;
        store& s = out.stores[r.stores[0]];
        if (s.sweeps.empty()) return false;
        for (const loop::axis& a : s.sweeps)
            if (has(used, a.name)) return false;
        for (const loop::axis& a : s.sweeps) used.push_back(a.name);
        if (!common) {
            common = &out.stores[r.stores[0]].sweeps;
            continue;
        }
        if (s.sweeps.size() != common->size()) return false;
        term_id t = r.operand;
        for (std::size_t i = 0; i < s.sweeps.size(); ++i) {
            if (!same_extent(s.sweeps[i].extent, (*common)[i].extent)) return false;
            if (s.sweeps[i].name == (*common)[i].name) continue;
            for (term_id below : reached(out, t))
                if (out[below].axis.name == (*common)[i].name) return false;
            std::map<term_id, term_id> along;
            t = twister{out}.over_axis(t, s.sweeps[i].name, (*common)[i].name, along);
            const expr_id by = out.exprs.name((*common)[i].name);
            for (expr_id& e : s.index) e = with(out, e, {{s.sweeps[i].name, by}});
        }
        s.sweeps = *common;
        becomes[r.operand] = t;
    }
    term root = out[out.root];
    for (term_id& o : root.operands)
        if (const auto at = becomes.find(o); at != becomes.end()) o = at->second;
    out.root = out.add(std::move(root));
    if (geometry_of(out).swept) return false;
    f = std::move(out);
    return true;
}

/// A contraction of one product with an operand that is computed.
inline bool computes_operand(const forest& f) {
    for (term_id id : reached(f, f.root)) {
        const contraction c = as_contraction(f, id);
        if (c && f[id].states.size() == 1 && (!f[c.a].is_slab() || !f[c.b].is_slab())) return true;
    }
    return false;
}

/// The grid has as many axes as before; without a contraction in the order of the first store.
inline void settle_grid(forest& f, std::size_t axes) {
    while (f.free.size() > axes) {
        for (store& s : f.stores) s.sweeps.insert(s.sweeps.begin(), f.free.back());
        f.free.pop_back();
    }
    if (f.stores.empty() || !folds_seen(f).contractions.empty()) return;
    std::vector<name_id> named;
    for (expr_id e : f.stores[0].index) f.names_in(e, named);
    std::stable_sort(f.free.begin(), f.free.end(), [&](const loop::axis& a, const loop::axis& b) {
        return std::find(named.begin(), named.end(), a.name) < std::find(named.begin(), named.end(), b.name);
    });
}

}  // namespace detail

EMMY_DECL result<kernel_form> form(forest minted) {
    kernel_form out;
    out.formed = false;
    forest grid = minted;
    bool again = minted.step == no_name;
    for (term_id id : detail::reached(grid, grid.root)) again &= grid[id].twist == recipe::none;
    if (again && geometry_of(grid).swept) again = detail::align_sweeps(grid);
    if (again && promote(grid)) {
        EMMY_TRY(body, lower(grid));
        auto lifted = lift_terms(body);
        if (lifted && detail::computes_operand(*lifted)) {
            EMMY_TRY(cell, lower(grid, grid_nesting::inside));
            if (auto inside = lift_terms(cell)) lifted = std::move(inside);
        }
        if (lifted) {
            detail::settle_grid(*lifted, grid.free.size());
            out.kernel = std::move(body), out.terms = std::move(*lifted), out.formed = true;
            return out;
        }
    }
    EMMY_TRY(body, lower(minted));
    out.kernel = std::move(body), out.terms = std::move(minted);
    return out;
}

}  // namespace emmy::fold::closed
