#pragma once
#include <emmy/fold/lower_terms.hpp>

#include <emmy/fold/impl/lower_emit.ipp>

namespace emmy::fold::closed {
namespace detail {

/// Free axes, then sweeps: each by how many terms are evaluated over it, most first, then by first reading. A peeled axis that only stores
/// read stands outermost.
inline std::vector<loop::axis> nesting(const forest& f) {
    std::vector<name_id> seen;
    std::vector<std::pair<name_id, std::size_t>> counts;
    std::vector<bool> reached(f.terms.size());
    auto walk = [&](auto& self, term_id id) -> void {
        if (reached[id]) return;
        reached[id] = true;
        for (term_id o : f[id].operands) self(self, o);
        for (name_id n : f[id].free) {
            auto at = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == n; });
            if (at == counts.end()) at = counts.insert(counts.end(), {n, 0});
            ++at->second;
        }
    };
    walk(walk, f.root);
    struct entry {
        loop::axis a{};
        int group = 0;
        std::size_t count = 0, first = 0;
    };
    std::vector<entry> all;
    auto take = [&](const loop::axis& a, bool sweep) {
        if (std::any_of(all.begin(), all.end(), [&](const entry& e) { return e.a.name == a.name; })) return;
        const auto at = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == a.name; });
        const bool read = at != counts.end();
        all.push_back({a, sweep ? 2 : read ? 1 : 0, read ? at->second : 0, static_cast<std::size_t>(at - counts.begin())});
    };
    for (const loop::axis& a : f.free) take(a, false);
    for (const store& s : f.stores)
        for (const loop::axis& a : s.sweeps) take(a, true);
    std::stable_sort(all.begin(), all.end(), [](const entry& x, const entry& y) { return std::tuple(x.group, y.count, x.first) < std::tuple(y.group, x.count, y.first); });
    std::vector<loop::axis> out;
    for (const entry& e : all) out.push_back(e.a);
    return out;
}

/// A chain of free loops in storage order: an axis further left in storage stands further out, one that no entry names alone before all.
/// In a rescaled kernel, whose identity tells the order of loops, an axis that any index multiplies stands before all as well.
inline bool by_storage(const forest& f, const lower_graph& g, const std::vector<scope_id>& chain, bool rescaled, std::vector<loop::axis>& order) {
    constexpr std::size_t unresolved = ~std::size_t{0};
    auto factored = [&](auto& self, expr_id id, name_id n) -> bool {  // c * a
        const expr& x = f.exprs[id];
        if (x.kind != expr_kind::binary) return false;
        if (x.op == binary_op::add || x.op == binary_op::subtract) return self(self, x.a, n) || self(self, x.b, n);
        auto is_axis = [&](expr_id q) { return f.exprs[q].kind == expr_kind::name && f.exprs[q].name == n; };
        return x.op == binary_op::multiply && (is_axis(x.a) || is_axis(x.b));
    };
    std::vector<std::pair<std::size_t, loop::axis>> sorted;
    for (const scope_id s : chain) {
        const loop::axis& a = g.scopes[s].axis;
        std::size_t depth = unresolved;
        bool resolved = true, first = true;
        for (const store& st : f.stores) {
            std::size_t at = unresolved;
            for (std::size_t d = 0; d < st.index.size(); ++d) {
                std::vector<name_id> named;
                f.names_in(st.index[d], named);
                if (!has(named, a.name)) continue;
                at = st.index.size() - 1 - d;
                if (factored(factored, st.index[d], a.name)) resolved = false;
            }
            if (at == unresolved || (!first && at != depth)) resolved = false;
            if (first) depth = at;
            first = false;
        }
        for (std::size_t id = 0; rescaled && resolved && id < f.terms.size(); ++id)
            for (const pure& p : f.terms[id].body)
                for (const expr_id e : p.index)
                    if (factored(factored, e, a.name)) resolved = false;
        sorted.emplace_back(resolved ? depth : unresolved, a);
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<loop::axis> out;
    for (const auto& [d, a] : sorted) out.push_back(a);
    bool changed = false;
    for (std::size_t i = 0; i < out.size(); ++i) changed |= out[i].name != g.scopes[chain[i]].axis.name;
    for (const loop::axis& a : order)
        if (std::none_of(out.begin(), out.end(), [&](const loop::axis& x) { return x.name == a.name; })) out.push_back(a);
    order = std::move(out);
    return changed;
}

}  // namespace detail

EMMY_DECL result<loop::kernel> lower(const forest& f, grid_nesting grid) {
    std::vector<loop::axis> order = detail::nesting(f);
    const bool rescaled = std::any_of(f.terms.begin(), f.terms.end(), [](const term& t) { return t.twist != recipe::none; });
    for (bool again = false;; again = true) {
        detail::lower_graph graph(f, grid == grid_nesting::inside);
        EMMY_CHECK_OK(graph.build(order));
        detail::lower_emitter emit(graph);
        emit.collect();
        if (!again && detail::by_storage(f, graph, emit.chain(rescaled), rescaled, order)) continue;
        emit.order();
        return emit.emit();
    }
}

}  // namespace emmy::fold::closed
