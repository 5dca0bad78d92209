#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/fold/impl/term.ipp>
#include <emmy/loop/normal/order.hpp>
#include <emmy/loop/normal/simplify.hpp>

#include <map>

/// The values of a forest and the loops that they stand in: what lowering orders and names.
namespace emmy::fold::closed::detail {

using node_id = std::uint32_t;
using scope_id = std::uint32_t;

/// One loop of the body; 0 is the outermost scope and none.
struct lower_scope {
    loop::axis axis{};
    name_id variable = no_name;           ///< in expressions while lowering
    scope_id parent = 0;
    std::uint32_t depth = 0;
    bool fold = false, closed = false;    ///< closed: no other fold may share the loop
    std::vector<scope_id> uses{};         ///< fold: loops outside it whose results it needs
};

struct lower_node {
    enum class kind : std::uint8_t { pure, running, accum, store } form = kind::pure;
    loop::stmt_kind statement = loop::stmt_kind::assign;  ///< pure
    loop::op op = loop::op::none;
    dtype type = dtype::none;
    bool atomic = false, carries = false;
    scope_id around = 0;                  ///< pre: the loop of its step
    name_id buffer = no_name;
    scope_id home = 0;                    ///< where the statement stands; a state is readable in the scope around
    std::vector<node_id> args{};          ///< accum: contribution, then the base if there is one; running: the accumulator
    std::vector<expr_id> index{};         ///< over loop variables and values (`%n`)
};

/// Coordinates of a place: names to loops, later ones first; a loop 0 is a coordinate that is always 0.
using lower_place = std::vector<std::pair<name_id, scope_id>>;

class lower_graph {
public:
    lower_graph(const forest& from, bool inside_grid)
        : f(from), names(from.names), exprs(from.exprs), simple_(exprs, ranges_), order_(exprs, ranges_), inside_grid_(inside_grid) {
        scopes.emplace_back();
        ranges_.integer_cast = names.intern("int");
        zero_ = exprs.integer(0);
    }
    lower_graph(const lower_graph&) = delete;
    lower_graph& operator=(const lower_graph&) = delete;

    const forest& f;
    text_pool names;
    expr_pool exprs;
    std::vector<lower_scope> scopes{};
    std::vector<lower_node> nodes{};

    node_id value_of(name_id n) const { return n < value_by_name_.size() ? value_by_name_[n] : none; }
    scope_id scope_of(name_id n) const { return n < scope_by_name_.size() ? scope_by_name_[n] : 0; }
    /// The scope in which a node's value is read.
    scope_id readable(node_id n) const { return nodes[n].form == lower_node::kind::accum ? scopes[nodes[n].home].parent : nodes[n].home; }

    /// Everything, free loops nested in the order of `coordinates`.
    result<void> build(std::span<const loop::axis> coordinates) {
        for (const store& s : f.stores) {
            const bool observed = observer_of(s.value) != no_term;
            lower_place at;
            scope_id around = 0;
            for (const loop::axis& a : coordinates) {
                bool mine = is_free(a.name);
                for (std::size_t i = 0; i + (observed ? 1 : 0) < s.sweeps.size(); ++i) mine |= s.sweeps[i].name == a.name;
                if (!mine) continue;
                if (!is_one(a.extent)) around = free_scope(around, a);
                if (inside_grid_ && !is_one(a.extent) && is_free(a.name)) innermost_ = around;
                at.emplace_back(a.name, is_one(a.extent) ? 0 : around);
            }
            lower_node made;
            made.form = lower_node::kind::store, made.buffer = s.buffer, made.atomic = s.atomic, made.carries = s.carries, made.home = around;
            if (observed) {
                EMMY_CHECK_OK(observe(s, at, around, made));
            } else {
                EMMY_TRY(v, component(f.root, s.value, at));
                made.args = {v};
            }
            for (expr_id e : s.index) {
                EMMY_TRY(put, converted(e, f.root, at));
                made.index.push_back(put);
            }
            nodes.push_back(std::move(made));
        }
        return {};
    }

private:
    bool is_free(name_id n) const {
        return std::any_of(f.free.begin(), f.free.end(), [&](const loop::axis& x) { return x.name == n; });
    }
    static bool is_one(const dim& d) { return d.kind == dim::form::number && d.number == 1; }
    static fault undefined(const forest& f, name_id n) { return fault(fault_kind::internal, "no term defines " + std::string(f.text(n))); }

    // --- loops ---

    scope_id add_scope(const loop::axis& a, scope_id parent, bool fold) {
        const scope_id id = static_cast<scope_id>(scopes.size());
        const name_id variable = names.intern("$" + std::to_string(id));
        scopes.push_back({a, variable, parent, scopes[parent].depth + 1, fold, false, {}});
        if (scope_by_name_.size() <= variable) scope_by_name_.resize(variable + 1, 0);
        scope_by_name_[variable] = id;
        const std::uint32_t rank = scopes[id].depth + (fold ? 1u << 20 : 0u);
        if (a.extent.kind == dim::form::number) ranges_.axis(variable, a.extent.number, rank);
        else ranges_.symbolic_axis(variable, a.extent.kind == dim::form::symbol ? exprs.name(a.extent.symbol) : a.extent.value, rank);
        if (a.extent.kind == dim::form::symbol) ranges_.symbol(a.extent.symbol);
        return id;
    }
    scope_id free_scope(scope_id parent, const loop::axis& a) {
        for (scope_id s = 1; s < scopes.size(); ++s)
            if (!scopes[s].fold && scopes[s].parent == parent && scopes[s].axis.name == a.name) return s;
        return add_scope(a, parent, false);
    }
    static scope_id scope_at(const lower_place& at, name_id n, bool& bound) {
        for (auto it = at.rbegin(); it != at.rend(); ++it)
            if (it->first == n) return bound = true, it->second;
        return bound = false, scope_id{0};
    }
    scope_id deeper(scope_id a, scope_id b) const { return scopes[b].depth > scopes[a].depth ? b : a; }
    /// The coordinates that a term varies with.
    lower_place restricted(const term& t, const lower_place& at) const {
        lower_place out;
        for (name_id n : t.free) {
            bool bound = false;
            const scope_id s = scope_at(at, n, bound);
            if (bound) out.emplace_back(n, s);
        }
        return out;
    }

    // --- values ---

    result<expr_id> converted(expr_id e, term_id t, const lower_place& at) {
        std::vector<name_id> named;
        f.names_in(e, named);
        std::vector<std::pair<name_id, expr_id>> to;
        for (name_id n : named) {
            if (std::any_of(to.begin(), to.end(), [&](const auto& p) { return p.first == n; })) continue;
            if (f.names_value(n)) {
                EMMY_TRY(v, value(t, n, at));
                const name_id text = names.intern("%" + std::to_string(v));
                if (value_by_name_.size() <= text) value_by_name_.resize(text + 1, none);
                value_by_name_[text] = v;
                to.emplace_back(n, exprs.name(text));
            } else if (f.names_axis(n)) {
                bool bound = false;
                const scope_id s = scope_at(at, n, bound);
                if (!bound) return refuse(fault(fault_kind::internal, "no loop binds " + std::string(f.text(n))));
                to.emplace_back(n, s == 0 ? zero_ : exprs.name(scopes[s].variable));
            }
        }
        return order_(simple_.simplify(put(e, to)));
    }
    expr_id put(expr_id id, const std::vector<std::pair<name_id, expr_id>>& to) {
        const expr e = exprs[id];
        switch (e.kind) {
            case expr_kind::name:
                for (const auto& [n, by] : to)
                    if (n == e.name) return by;
                return id;
            case expr_kind::binary: {
                const expr_id a = put(e.a, to), b = put(e.b, to);
                return exprs.binary(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = put(e.a, to), b = put(e.b, to), c = put(e.c, to);
                return exprs.ternary(a, b, c);
            }
            case expr_kind::cast: return exprs.cast(e.name, put(e.a, to));
            case expr_kind::call: {
                std::vector<expr_id> args(exprs.args(e).begin(), exprs.args(e).end());
                for (expr_id& a : args) a = put(a, to);
                return exprs.call(e.name, args);
            }
            default: return id;
        }
    }
    scope_id home_of(const lower_node& n) const {
        scope_id home = deeper(innermost_, n.around);
        for (node_id a : n.args) home = deeper(home, nodes[a].form == lower_node::kind::running ? nodes[nodes[a].args[0]].home : readable(a));
        auto named = [&](auto& self, expr_id id) -> void {
            const expr& e = exprs[id];
            switch (e.kind) {
                case expr_kind::name:
                    if (const scope_id s = scope_of(e.name); s != 0) home = deeper(home, s);
                    else if (const node_id v = value_of(e.name); v != none) home = deeper(home, readable(v));
                    return;
                case expr_kind::binary: self(self, e.a), self(self, e.b); return;
                case expr_kind::ternary: self(self, e.a), self(self, e.b), self(self, e.c); return;
                case expr_kind::cast: self(self, e.a); return;
                case expr_kind::call:
                    for (expr_id a : exprs.args(e)) self(self, a);
                    return;
                default: return;
            }
        };
        for (expr_id e : n.index) named(named, e);
        return home;
    }
    /// Equal values are one node.
    node_id intern(lower_node n) {
        if (n.form == lower_node::kind::pure && n.args.size() == 2 && loop::facts(n.op).commutative && n.args[1] < n.args[0]) std::swap(n.args[0], n.args[1]);
        std::vector<std::uint32_t> key{static_cast<std::uint32_t>(n.form), static_cast<std::uint32_t>(n.statement), static_cast<std::uint32_t>(n.op), static_cast<std::uint32_t>(n.type),
                                       n.buffer, n.form == lower_node::kind::accum ? n.home : 0, static_cast<std::uint32_t>(n.args.size())};
        key.insert(key.end(), n.args.begin(), n.args.end());
        key.insert(key.end(), n.index.begin(), n.index.end());
        const auto [at, fresh] = known_.try_emplace(std::move(key), static_cast<node_id>(nodes.size()));
        if (fresh) {
            if (n.form == lower_node::kind::pure) n.home = home_of(n);
            nodes.push_back(std::move(n));
        }
        return at->second;
    }
    node_id apply(loop::op o, std::vector<node_id> args, dtype type = dtype::none) {
        lower_node n;
        n.op = o, n.type = type, n.args = std::move(args);
        return intern(std::move(n));
    }

    /// The value that `t` defines, or one of its operands exposes, at a place.
    result<node_id> value(term_id id, name_id n, const lower_place& at) {
        if (++depth_ > 4000) return refuse(fault(fault_kind::device_limit, "no body for terms nested 4000 values deep"));
        auto out = value_here(id, n, at);
        --depth_;
        return out;
    }
    result<node_id> value_here(term_id id, name_id n, const lower_place& at) {
        const term& t = f[id];
        if (const pure* s = defined(t, n)) {
            std::vector<std::uint32_t> key{id, n};
            for (const auto& [name, scope] : at)
                if (has(t.free, name) || name == t.axis.name) key.push_back(name), key.push_back(scope);
            if (const auto seen = done_.find(key); seen != done_.end()) return seen->second;
            EMMY_TRY(made, statement(id, *s, at));
            done_[key] = made;
            return made;
        }
        for (term_id o : t.operands)
            if (has(f.components(f[o]), n)) return component(o, n, at);
        for (const state& s : t.states)
            if (s.name == n) return refuse(fault(fault_kind::device_limit, "no body for a step that reads its own running state"));
        return refuse(undefined(f, n));
    }
    result<node_id> component(term_id id, name_id n, const lower_place& at) {
        const term& x = f[id];
        if (x.is_map()) return value(id, n, restricted(x, at));
        EMMY_TRY(states, fold(id, restricted(x, at)));
        for (std::size_t i = 0; i < x.states.size(); ++i)
            if (x.states[i].name == n) return states[i];
        return refuse(fault(fault_kind::device_limit, "no body for a running state that is not only stored"));
    }
    result<node_id> statement(term_id id, const pure& s, const lower_place& at) {
        lower_node made;
        made.statement = s.kind, made.op = s.op, made.type = s.type, made.buffer = s.buffer;
        for (name_id a : s.args) {
            EMMY_TRY(v, value(id, a, at));
            made.args.push_back(v);
        }
        for (expr_id e : s.index) {
            EMMY_TRY(put, converted(e, id, at));
            made.index.push_back(put);
        }
        if (s.kind == loop::stmt_kind::pre) {
            bool bound = false;
            made.around = scope_at(at, f.step, bound);
            if (!bound) return refuse(fault(fault_kind::internal, "no loop hands on " + std::string(f.text(s.buffer))));
        }
        if (s.kind == loop::stmt_kind::assign && s.op == loop::op::copy && s.type == dtype::none) return made.args[0];  // another name
        if (s.kind == loop::stmt_kind::select) {
            lower_node kept = made;
            kept.args.clear(), kept.index.clear();
            for (std::size_t i = 0; i < made.args.size(); ++i) {
                const expr& p = exprs[made.index[i]];
                const bool literal = p.kind == expr_kind::integer || p.kind == expr_kind::boolean;
                if (i + 1 < made.args.size() && literal && p.integer == 0) continue;
                kept.args.push_back(made.args[i]), kept.index.push_back(made.index[i]);
                if (literal && p.integer != 0) break;
            }
            made = std::move(kept);
        }
        return intern(std::move(made));
    }

    // --- folds ---

    /// Folds that `t` needs and that do not vary with the axes bound inside: they stand before its loop. Made first, so that it is known
    /// which loops the new one must follow.
    result<void> outer_folds(term_id id, const lower_place& at, std::vector<name_id>& inside, std::vector<bool>& seen, std::vector<scope_id>& uses) {
        for (term_id o : f[id].operands) {
            if (seen[o]) continue;
            seen[o] = true;
            const term& x = f[o];
            const bool varies = std::any_of(x.free.begin(), x.free.end(), [&](name_id n) { return has(inside, n); });
            if (!x.is_map() && !varies) {
                const lower_place here = restricted(x, at);
                EMMY_CHECK_OK(fold(o, here));
                if (const scope_id s = loop_of_.at(activation(o, here)); s != 0 && std::find(uses.begin(), uses.end(), s) == uses.end()) uses.push_back(s);
                continue;
            }
            if (x.operands.empty()) continue;
            const bool own = !x.is_map();
            if (own) inside.push_back(x.axis.name);
            EMMY_CHECK_OK(outer_folds(o, at, inside, seen, uses));
            if (own) inside.pop_back();
        }
        return {};
    }
    std::vector<std::uint32_t> activation(term_id id, const lower_place& at) const {
        std::vector<std::uint32_t> key{id};
        for (const auto& [n, s] : at) key.push_back(n), key.push_back(s);
        return key;
    }
    bool follows(const std::vector<scope_id>& uses, scope_id what) const {
        std::vector<scope_id> todo = uses;
        std::vector<bool> seen(scopes.size());
        while (!todo.empty()) {
            const scope_id s = todo.back();
            todo.pop_back();
            if (s == what) return true;
            if (seen[s]) continue;
            seen[s] = true;
            todo.insert(todo.end(), scopes[s].uses.begin(), scopes[s].uses.end());
        }
        return false;
    }
    bool same_loop(const loop::axis& a, const loop::axis& b) const { return a.name == b.name && a.window == b.window && same_extent(a.extent, b.extent); }

    /// The loop of a fold, shared with others of its axis where neither needs the other.
    scope_id fold_loop(const term& t, scope_id parent, const std::vector<scope_id>& uses, bool alone) {
        scope_id out = 0;
        for (scope_id s = 1; s < scopes.size() && out == 0 && !alone; ++s)
            if (scopes[s].fold && !scopes[s].closed && scopes[s].parent == parent && same_loop(scopes[s].axis, t.axis) && !follows(uses, s)) out = s;
        if (out == 0) out = add_scope(t.axis, parent, true), scopes[out].closed = alone;
        for (scope_id u : uses)
            if (u != out && std::find(scopes[out].uses.begin(), scopes[out].uses.end(), u) == scopes[out].uses.end()) scopes[out].uses.push_back(u);
        return out;
    }
    /// The states of a fold at a place, in order.
    result<std::vector<node_id>> fold(term_id id, const lower_place& at, scope_id within = 0, bool alone = false) {
        const std::vector<std::uint32_t> key = activation(id, at);
        if (const auto seen = folds_.find(key); seen != folds_.end()) return seen->second;
        const term& t = f[id];
        std::vector<node_id> out;
        if (is_one(t.axis.extent)) {
            lower_place inner = at;
            inner.emplace_back(t.axis.name, 0);
            for (const state& s : t.states) {
                EMMY_TRY(v, value(id, s.contribution, inner));
                out.push_back(v);
            }
            loop_of_[key] = 0;
            return folds_[key] = out;
        }
        scope_id parent = deeper(innermost_, within);
        for (const auto& [n, s] : at) parent = deeper(parent, s);
        std::vector<name_id> inside{t.axis.name};
        std::vector<bool> seen(f.terms.size());
        std::vector<scope_id> uses;
        EMMY_CHECK_OK(outer_folds(id, at, inside, seen, uses));
        const scope_id loop = fold_loop(t, parent, uses, alone);
        lower_place inner = at;
        inner.emplace_back(t.axis.name, loop);
        std::vector<node_id> contributions;
        for (const state& s : t.states) {
            EMMY_TRY(v, value(id, s.contribution, inner));
            contributions.push_back(v);
        }
        if (t.twist == recipe::none) {
            for (std::size_t i = 0; i < t.states.size(); ++i) out.push_back(accumulate(loop, t.states[i].op, {contributions[i]}));
        } else if (t.twist == recipe::softmax) {
            out = rescaled(loop, t, contributions);
        } else {
            return refuse(fault(fault_kind::device_limit, "no body for a fold of means and squares"));
        }
        loop_of_[key] = loop;
        return folds_[key] = out;
    }
    node_id accumulate(scope_id loop, loop::op o, std::vector<node_id> args) {
        lower_node n;
        n.form = lower_node::kind::accum, n.op = o, n.home = loop, n.args = std::move(args);
        return intern(std::move(n));
    }
    /// m' = max(m, s); every other state c becomes c exp(m - m') + v exp(s - m'); the pivot moves last.
    std::vector<node_id> rescaled(scope_id loop, const term& t, const std::vector<node_id>& v) {
        const node_id m = accumulate(loop, loop::op::maximum, {v[0]});
        const node_id before = running(m), top = apply(loop::op::maximum, {before, v[0]});
        const node_id old = apply(loop::op::exp, {apply(loop::op::subtract, {before, top})}), now = apply(loop::op::exp, {apply(loop::op::subtract, {v[0], top})});
        std::vector<node_id> out{m};
        for (std::size_t i = 1; i < t.states.size(); ++i) {
            // The accumulator is made before what it reads of itself, its arguments after: a node of its own.
            lower_node n;
            n.form = lower_node::kind::accum, n.op = t.states[i].op, n.home = loop;
            const node_id c = static_cast<node_id>(nodes.size());
            nodes.push_back(std::move(n));
            const node_id base = apply(loop::op::multiply, {running(c), old}), add = apply(loop::op::multiply, {v[i], now});
            nodes[c].args = {add, base};
            out.push_back(c);
        }
        return out;
    }
    node_id running(node_id accumulator) {
        lower_node n;
        n.form = lower_node::kind::running, n.args = {accumulator}, n.home = nodes[accumulator].home;
        return intern(std::move(n));
    }

    // --- observed stores ---

    term_id observer_of(name_id n) const {
        for (term_id id = 0; id < f.terms.size(); ++id)
            for (const observer& o : f[id].observe)
                if (o.name == n) return id;
        return no_term;
    }
    result<void> observe(const store& s, lower_place& at, scope_id around, lower_node& made) {
        const term_id id = observer_of(s.value);
        const term& t = f[id];
        if (s.sweeps.empty() || s.sweeps.back().name != t.axis.name) return refuse(fault(fault_kind::device_limit, "no body for a store that observes a fold from outside its loop"));
        const lower_place here = restricted(t, at);
        EMMY_TRY(states, fold(id, here, around, true));
        const scope_id loop = loop_of_.at(activation(id, here));
        if (loop != 0 && scopes[loop].parent != around) return refuse(fault(fault_kind::device_limit, "no body for stores that observe one fold from several loops"));
        name_id of = no_name;
        for (const observer& o : t.observe)
            if (o.name == s.value) of = o.of;
        for (std::size_t i = 0; i < t.states.size(); ++i)
            if (t.states[i].name == of) made.args = {states[i]};
        if (made.args.empty()) return refuse(undefined(f, of));
        made.home = loop == 0 ? around : loop;
        at.emplace_back(t.axis.name, loop);
        return {};
    }

    loop::normal::ranges ranges_{};
    loop::normal::simplifier simple_;
    loop::normal::canonical_order order_;
    expr_id zero_ = no_expr;
    bool inside_grid_ = false;
    scope_id innermost_ = 0;  ///< inside_grid_: the loop of the last peeled axis
    int depth_ = 0;
    std::vector<scope_id> scope_by_name_{};
    std::vector<node_id> value_by_name_{};
    std::map<std::vector<std::uint32_t>, node_id> known_{}, done_{};
    std::map<std::vector<std::uint32_t>, std::vector<node_id>> folds_{};
    std::map<std::vector<std::uint32_t>, scope_id> loop_of_{};
};

}  // namespace emmy::fold::closed::detail
