#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fork/structure/impl/nearest.hpp>
#include <emmy/fork/structure/impl/replace.hpp>
#include <emmy/knob/rule/split.hpp>

#include <set>
#include <string>
#include <string_view>

namespace emmy::fork::structure {

/// Does `what` stand in the term `from` or below it?
inline bool below_of(const forest& f, term_id from, term_id what) {
    std::set<term_id> seen{from};
    for (std::vector<term_id> todo{from}; !todo.empty();) {
        const term_id at = todo.back();
        todo.pop_back();
        if (at == what) return true;
        for (const term_id o : f[at].operands)
            if (seen.insert(o).second) todo.push_back(o);
    }
    return false;
}

/// The fold that a REDUCE key of this kernel splits, and what the rules ask of it.
struct split_site {
    term_id head = no_term;
    std::string address{};
    knob::split_facts facts{};
};

/// Is a value a multiple of `sum`? A value without it counts as none.
inline bool depends(const forest& f, const term& t, name_id value, name_id sum) {
    if (value == sum) return true;
    for (const pure& s : t.body)
        if (s.name == value)
            for (const name_id r : f.reads(s))
                if (depends(f, t, r, sum)) return true;
    return false;
}
inline bool multiple_of_sum(const forest& f, const term& t, name_id value, name_id sum) {
    if (value == sum) return true;
    for (const pure& s : t.body) {
        if (s.name != value) continue;
        if (s.kind != loop::stmt_kind::assign) return false;
        const auto linear = [&](name_id n) { return multiple_of_sum(f, t, n, sum); };
        const auto constant = [&](name_id n) { return !depends(f, t, n, sum); };
        switch (s.op) {
            case loop::op::negative: return linear(s.args[0]);
            case loop::op::copy: return (s.type == dtype::none || s.type == dtype::f32) && linear(s.args[0]);
            case loop::op::divide: return linear(s.args[0]) && constant(s.args[1]);
            case loop::op::multiply: return (linear(s.args[0]) && constant(s.args[1])) || (constant(s.args[0]) && linear(s.args[1]));
            case loop::op::add:
            case loop::op::subtract: return linear(s.args[0]) && linear(s.args[1]);
            default: return false;
        }
    }
    return false;
}

inline knob::split_facts split_facts_of(const forest& f, term_id head) {
    const term& h = f[head];
    const term& root = f[f.root];
    knob::split_facts out;
    out.extent = h.axis.extent.kind == dim::form::number ? h.axis.extent.number : 0;
    out.head = head == f.root || (root.is_map() && holds(root.operands, head));
    const fold::closed::geometry g = fold::closed::geometry_of(f);
    for (const auto& s : f.stores)
        for (const loop::axis& a : s.sweeps)
            if (holds(h.free, a.name) && !holds(g.promoted, a.name)) out.on_grid = false;
    for (term_id id = 0; id < f.terms.size(); ++id)
        if (id != head && !f[id].is_map() && f[id].axis.name == h.axis.name && below_of(f, head, id)) out.axis_free_below = false;
    std::size_t folding = 0;
    if (root.is_map())
        for (const term_id o : root.operands) folding += !f[o].is_map();
    out.own_outputs = folding < 2 || !fold::closed::regions(f).empty();
    out.carried = f.step != no_name || !h.observe.empty();
    out.affine = false;
    out.states = static_cast<std::uint32_t>(h.states.size());
    out.additive = h.twist == fold::closed::recipe::none && std::all_of(h.states.begin(), h.states.end(), [](const auto& s) { return s.op == loop::op::add; });
    for (const auto& s : f.stores) {
        out.linear = out.linear && !h.states.empty() && multiple_of_sum(f, head == f.root ? h : root, s.value, h.states[0].name);
        for (const loop::buffer& b : f.outputs)
            if (b.name == s.buffer) out.half_output = out.half_output || b.type == dtype::f16 || b.type == dtype::bf16;
    }
    return out;
}

/// Addresses of the folds that a split may take: the root's, or those of its operands.
inline std::vector<fold::closed::site> fold_sites(const forest& f) {
    std::vector<fold::closed::site> out;
    for (fold::closed::site& s : fold::closed::sites(f))
        if (!f[s.term].is_map()) out.push_back(std::move(s));
    return out;
}
/// The written key of a fold: bare where the kernel has one.
inline std::string reduce_key(const std::vector<fold::closed::site>& folds, const fold::closed::site& s) {
    return folds.size() == 1 ? "REDUCE" : "REDUCE@" + s.address;
}

inline result<split_site> find_split_site(const forest& f, const std::string& kernel, std::string_view key, std::string_view address) {
    const std::vector<fold::closed::site> folds = fold_sites(f);
    split_site out;
    if (address.empty() && folds.size() == 1) out.head = folds[0].term;
    if (!address.empty())
        if (const auto at = fold::closed::find(f, address); at && !f[*at].is_map()) out.head = *at;
    if (out.head == no_term) {
        std::vector<std::string> keys;
        for (const fold::closed::site& s : folds) keys.push_back(reduce_key(folds, s));
        return refuse(fault_kind::user, "names no fold of " + kernel + nearest_text(key, keys), std::string(key));
    }
    out.address = address;
    out.facts = split_facts_of(f, out.head);
    return out;
}

}  // namespace emmy::fork::structure
