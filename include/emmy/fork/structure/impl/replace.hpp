#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/fold/term.hpp>
#include <emmy/loop/normal/graph.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace emmy::fork::structure {

using fold::closed::forest;
using fold::closed::no_term;
using fold::closed::pure;
using fold::closed::term;
using fold::closed::term_id;

template <class T>
bool holds(const std::vector<T>& list, const T& x) { return std::find(list.begin(), list.end(), x) != list.end(); }
template <class T>
void add_once(std::vector<T>& list, const T& x) {
    if (!holds(list, x)) list.push_back(x);
}

/// The one pass over terms that cuts, splits and layouts share: terms of a forest with some replaced and every other one edited. What
/// replaces a term exposes the names that its readers take, so that their bodies stay as they are. `edit(term&)` says whether it changed
/// anything. New terms stand behind the old ones in the same forest; old ones stay.
template <class Edit>
struct replacing {
    forest& f;
    Edit edit;
    std::map<term_id, std::vector<term_id>> to{};  ///< given: what is replaced; then what was made

    /// What stands for a term.
    const std::vector<term_id>& at(term_id id) {
        const auto known = to.find(id);
        if (known != to.end()) return known->second;
        const term_id made = inside(id);
        return to[id] = {made};
    }
    /// The term itself over what stands for its operands.
    term_id inside(term_id id) {
        term t = f[id];
        bool changed = edit(t);
        std::vector<term_id> operands;
        for (const term_id o : t.operands)
            for (const term_id x : at(o)) add_once(operands, x);
        changed |= operands != t.operands;
        if (!changed) return id;
        t.operands = std::move(operands);
        return f.add(std::move(t));
    }
};
struct no_edit {
    bool operator()(term&) const { return false; }
};
template <class Edit>
replacing(forest&, Edit) -> replacing<Edit>;

/// Expressions of a term with coordinates replaced. An edit.
struct coordinates_replaced {
    loop::normal::substitution& map;
    bool operator()(term& t) const {
        bool changed = false;
        for (pure& s : t.body)
            for (expr_id& e : s.index) {
                const expr_id by = map(e);
                changed |= by != e;
                e = by;
            }
        return changed;
    }
};

/// The forest below `root` alone, with the pools, windows and buffers of `f`; no stores, no free axes.
inline forest below(const forest& f, term_id root) {
    forest out;
    out.kernel_name = f.kernel_name, out.inputs = f.inputs, out.outputs = f.outputs;
    out.names = f.names, out.exprs = f.exprs, out.windows = f.windows, out.is_axis = f.is_axis, out.is_value = f.is_value;
    std::vector<term_id> placed(f.terms.size(), no_term);
    const auto place = [&](const auto& self, term_id id) -> term_id {
        if (placed[id] != no_term) return placed[id];
        term t = f[id];
        for (term_id& o : t.operands) o = self(self, o);
        out.terms.push_back(std::move(t));
        return placed[id] = static_cast<term_id>(out.terms.size() - 1);
    };
    out.root = place(place, root);
    return out;
}

inline name_id new_name(forest& f, std::string text, bool axis) {
    const std::string base = text;
    for (int n = 1; f.names.find(text) != no_name; ++n) text = base + "_" + std::to_string(n);
    const name_id out = f.names.intern(text);
    std::vector<bool>& set = axis ? f.is_axis : f.is_value;
    if (set.size() <= out) set.resize(out + 1);
    set[out] = true;
    return out;
}

inline bool is_unit(const loop::axis& a) { return a.extent.kind == dim::form::number && a.extent.number == 1; }
/// The coordinate of an axis in a buffer's index; 0 on an axis of extent 1.
inline expr_id coordinate(forest& f, const loop::axis& a) { return is_unit(a) ? f.exprs.integer(0) : f.exprs.name(a.name); }

}  // namespace emmy::fork::structure
