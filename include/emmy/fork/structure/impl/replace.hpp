#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/fold/seams.hpp>
#include <emmy/loop/normal/graph.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
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
        if constexpr (requires { edit.enters(f[id]); })
            if (!edit.enters(f[id])) return to[id] = {id};
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

/// Expressions with one coordinate replaced, in terms that vary with it: a fold over an axis of that name has its own. An edit.
struct coordinate_replaced {
    name_id coordinate;
    loop::normal::substitution& map;
    bool enters(const term& t) const { return holds(t.free, coordinate); }
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

/// A term read over another coordinate beside the term itself: what varies with the coordinate is copied, its values under names of their
/// own (a name means one value in a forest).
class shifted_copy {
public:
    shifted_copy(forest& f, name_id coordinate, expr_id by) : f_(f), coordinate_(coordinate), map_(f.exprs) { map_.set(coordinate, by); }

    term_id of(term_id root) {
        std::set<term_id> seen;
        rename_below(root, seen);
        replacing<edit> by{f_, {*this}, {}};
        return by.at(root)[0];
    }
    name_id value(name_id n) const {
        const auto at = names_.find(n);
        return at == names_.end() ? n : at->second;
    }
    expr_id expression(expr_id e) { return map_(e); }

private:
    struct edit {
        shifted_copy& to;
        bool enters(const term& t) const { return to.varies(t); }
        bool operator()(term& t) const {
            coordinate_replaced{to.coordinate_, to.map_}(t);
            for (pure& s : t.body) {
                s.name = to.value(s.name);
                for (name_id& a : s.args) a = to.value(a);
            }
            for (name_id& n : t.results) n = to.value(n);
            for (auto& s : t.states) s.name = to.value(s.name), s.contribution = to.value(s.contribution);
            for (auto& o : t.observe) o.name = to.value(o.name), o.of = to.value(o.of);
            return true;
        }
    };
    bool varies(const term& t) const { return holds(t.free, coordinate_); }
    void rename_below(term_id id, std::set<term_id>& seen) {
        const term t = f_[id];
        if (!varies(t) || !seen.insert(id).second) return;
        for (const term_id o : t.operands) rename_below(o, seen);
        const auto rename = [&](name_id n) {
            if (n == no_name || names_.count(n)) return;
            const name_id fresh = new_name(f_, std::string(f_.text(n)), false);
            names_.emplace(n, fresh);
            map_.set(n, f_.exprs.name(fresh));  // values in predicates and indices
        };
        for (const pure& s : t.body) rename(s.name);
        for (const auto& s : t.states) rename(s.name);
        for (const auto& o : t.observe) rename(o.name);
    }

    forest& f_;
    name_id coordinate_;
    loop::normal::substitution map_;
    std::map<name_id, name_id> names_{};
};

inline bool is_unit(const loop::axis& a) { return a.extent.kind == dim::form::number && a.extent.number == 1; }
/// The coordinate of an axis in a buffer's index; 0 on an axis of extent 1.
inline expr_id coordinate(forest& f, const loop::axis& a) { return is_unit(a) ? f.exprs.integer(0) : f.exprs.name(a.name); }

}  // namespace emmy::fork::structure
