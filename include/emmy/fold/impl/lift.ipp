#pragma once
#include <emmy/fold/tree.hpp>
#include <emmy/loop/infer.hpp>

#include <algorithm>

namespace emmy::fold {
namespace detail {

inline fault no_tree(const std::string& what) { return fault(fault_kind::device_limit, "no fold tree for " + what); }

/// One walk over the body: scopes of names, types, dependence, terms.
struct lifter {
    const loop::kernel& k;
    const loop::body& b;
    tree t;
    std::vector<std::pair<name_id, value_id>> scope;
    std::vector<std::uint32_t> open_axes;
    int open_folds = 0;

    explicit lifter(const loop::kernel& kernel) : k(kernel), b(kernel.body) {
        const std::size_t n = b.stmts.size();
        t.args.resize(n), t.depends.resize(n), t.types.resize(n), t.gathers.resize(n), t.state_of.assign(n, none);
    }

    value_id find(name_id name) const {
        for (std::size_t i = scope.size(); i-- > 0;)
            if (scope[i].first == name) return scope[i].second;
        return none;
    }
    std::string quoted(name_id name) const { return "'" + std::string(b.text(name)) + "'"; }

    result<value_id> resolve(name_id name) const {
        const value_id v = find(name);
        if (v == none) return refuse(no_tree("a prefix value: " + quoted(name) + " is read while its reduction runs"));
        return v;
    }
    std::uint32_t axis_place(name_id name) const {
        for (std::size_t i = open_axes.size(); i-- > 0;)
            if (t.axes[open_axes[i]].name == name) return open_axes[i];
        return none;
    }
    result<std::uint32_t> open_axis(const loop::axis& a) {
        for (std::uint32_t i = 0; i < t.axes.size(); ++i)
            if (t.axes[i].name == a.name) {
                if (!(t.axes[i].extent == a.extent) && !(t.axes[i].extent.kind == a.extent.kind && a.extent.kind == dim::form::symbol && t.axes[i].extent.symbol == a.extent.symbol))
                    return refuse(no_tree("two loops named " + quoted(a.name) + " of different extent"));
                open_axes.push_back(i);
                return i;
            }
        if (t.axes.size() == 64) return refuse(no_tree("more than 64 axes"));
        if (a.extent.kind == dim::form::expression) return refuse(no_tree("a loop extent that is an expression"));
        t.axes.push_back({a.name, a.extent});
        open_axes.push_back(static_cast<std::uint32_t>(t.axes.size() - 1));
        return static_cast<std::uint32_t>(t.axes.size() - 1);
    }

    /// Axes and values that an expression names.
    result<void> note_expression(loop::stmt_id s, expr_id id) {
        if (id == no_expr) return {};
        const expr& e = b.exprs[id];
        switch (e.kind) {
            case expr_kind::name: {
                if (const std::uint32_t a = axis_place(e.name); a != none) {
                    t.depends[s] |= axis_set{1} << a;
                    return {};
                }
                EMMY_TRY(v, resolve(e.name));
                t.depends[s] |= t.depends[v];
                for (const auto& g : t.gathers[s])
                    if (g.first == e.name) return {};
                t.gathers[s].emplace_back(e.name, v);
                return {};
            }
            case expr_kind::binary: EMMY_CHECK_OK(note_expression(s, e.a)); return note_expression(s, e.b);
            case expr_kind::ternary: EMMY_CHECK_OK(note_expression(s, e.a)); EMMY_CHECK_OK(note_expression(s, e.b)); return note_expression(s, e.c);
            case expr_kind::cast: return note_expression(s, e.a);
            case expr_kind::call:
            case expr_kind::builtin: return refuse(no_tree("a call in an index expression"));
            default: return {};
        }
    }
    result<void> note_expressions(loop::stmt_id s, loop::run list) {
        for (expr_id e : b.expressions(list)) EMMY_CHECK_OK(note_expression(s, e));
        return {};
    }
    result<void> note_args(loop::stmt_id s, loop::run list) {
        for (name_id name : b.name_list(list)) {
            EMMY_TRY(v, resolve(name));
            t.args[s].push_back(v);
            t.depends[s] |= t.depends[v];
        }
        return {};
    }

    const loop::buffer* buffer(name_id name) const {
        for (const auto* list : {&k.inputs, &k.outputs})
            for (const loop::buffer& x : *list)
                if (x.name == name) return &x;
        return nullptr;
    }
    bool is_output(name_id name) const {
        return std::any_of(k.outputs.begin(), k.outputs.end(), [&](const loop::buffer& x) { return x.name == name; });
    }

    static bool holds_accum(const loop::body& b, loop::run list) {
        return std::any_of(b.statements(list).begin(), b.statements(list).end(), [&](loop::stmt_id s) { return b.stmts[s].kind == loop::stmt_kind::accum; });
    }

    result<void> plain(loop::stmt_id s, term& into) {
        const loop::stmt& st = b.stmts[s];
        std::vector<dtype> types;
        switch (st.kind) {
            case loop::stmt_kind::load: {
                if (st.names.count > 1) return refuse(no_tree("a vector load"));
                if (is_output(st.buffer)) return refuse(no_tree("a kernel that reads its own output " + quoted(st.buffer)));
                EMMY_CHECK_OK(note_expressions(s, st.index));
                const loop::buffer* from = buffer(st.buffer);
                t.types[s] = st.type != dtype::none ? st.type : from != nullptr ? from->type : dtype::f32;
                break;
            }
            case loop::stmt_kind::assign: {
                EMMY_CHECK_OK(note_args(s, st.args));
                for (value_id v : t.args[s]) types.push_back(t.types[v]);
                t.types[s] = st.type != dtype::none ? st.type : loop::infer_assign(st.op, types, t.args[s].size() == 2 && t.args[s][0] == t.args[s][1]);
                break;
            }
            case loop::stmt_kind::select: {
                EMMY_CHECK_OK(note_args(s, st.args));
                EMMY_CHECK_OK(note_expressions(s, st.index));
                for (value_id v : t.args[s]) types.push_back(t.types[v]);
                t.types[s] = loop::infer_select(types);
                break;
            }
            case loop::stmt_kind::let:
                EMMY_CHECK_OK(note_expression(s, st.value));
                t.types[s] = loop::infer_let(st.type, loop::is_real(b.exprs, st.value, [&](name_id n) { return axis_place(n) == none && !reads_as_integer(t.types[find(n)]); }));
                break;
            case loop::stmt_kind::write:
                if (st.atomic) return refuse(no_tree("an atomic store"));
                if (st.swizzle != no_name) return refuse(no_tree("a swizzled store"));
                if (st.args.count != 1) return refuse(no_tree("a vector store"));
                EMMY_CHECK_OK(note_args(s, st.args));
                EMMY_CHECK_OK(note_expressions(s, st.index));
                if (open_folds > 0) return refuse(no_tree("a store inside a reduction"));
                break;
            case loop::stmt_kind::pre:
            case loop::stmt_kind::carry: return refuse(no_tree("a state carried between steps"));
            case loop::stmt_kind::cond: return refuse(no_tree("a condition"));
            case loop::stmt_kind::strided_loop: return refuse(no_tree("a strided loop"));
            default: return refuse(no_tree("scheduled kernel code"));
        }
        into.steps.push_back({false, s});
        if (st.kind != loop::stmt_kind::write) scope.emplace_back(st.name, s);
        return {};
    }

    result<void> accum(loop::stmt_id s, term& into) {
        const loop::stmt& st = b.stmts[s];
        if (st.base != no_name) return refuse(no_tree("a rescaled accumulator " + quoted(st.name)));
        for (value_id other : into.states)
            if (b.stmts[other].name == st.name) return refuse(no_tree("several updates of accumulator " + quoted(st.name)));
        EMMY_CHECK_OK(note_args(s, st.args));
        t.types[s] = st.type != dtype::none ? st.type : loop::infer_accum(st.op, t.types[t.args[s][0]]);
        into.states.push_back(s);
        into.steps.push_back({false, s});
        return {};
    }

    result<term_id> close(term&& made) {
        t.terms.push_back(std::move(made));
        return static_cast<term_id>(t.terms.size() - 1);
    }

    result<term_id> loop(loop::stmt_id s) {
        const loop::stmt& st = b.stmts[s];
        if (!st.seed) return refuse(no_tree("a loop that continues an accumulator"));
        term made;
        const std::size_t mark = scope.size();
        EMMY_TRY(axis, open_axis(st.axis));
        made.axes.push_back(axis);
        if (holds_accum(b, st.body)) {
            made.kind = term_kind::reduce;
            ++open_folds;
            EMMY_CHECK_OK(list(st.body, made));
            --open_folds;
            bool product = true;
            for (value_id a : made.states) {
                t.depends[a] &= ~(axis_set{1} << axis);
                const value_id v = t.args[a][0];
                product = product && b.stmts[a].op == loop::op::add && b.stmts[v].kind == loop::stmt_kind::assign && b.stmts[v].op == loop::op::multiply &&
                          t.args[v][0] != t.args[v][1] && (t.depends[t.args[v][0]] >> axis & 1) != 0 && (t.depends[t.args[v][1]] >> axis & 1) != 0;
            }
            if (product) made.kind = term_kind::inner;
        } else {
            if (open_folds > 0) return refuse(no_tree("a free loop inside a reduction"));
            EMMY_CHECK_OK(list(st.body, made));
            // Perfectly nested free loops are one map over several axes.
            if (made.steps.size() == 1 && made.steps[0].is_term && made.steps[0].id + 1 == t.terms.size() && !t.terms.back().is_fold()) {
                term inner = std::move(t.terms.back());
                t.terms.pop_back();
                inner.axes.insert(inner.axes.begin(), axis);
                made = std::move(inner);
            }
        }
        open_axes.pop_back();
        scope.resize(mark);
        const std::vector<value_id> states = made.states;
        EMMY_TRY(id, close(std::move(made)));
        for (value_id a : states) t.state_of[a] = id, scope.emplace_back(b.stmts[a].name, a);
        return id;
    }

    result<void> list(loop::run statements, term& into) {
        for (loop::stmt_id s : b.statements(statements)) {
            const loop::stmt& st = b.stmts[s];
            if (st.kind == loop::stmt_kind::loop) {
                EMMY_TRY(child, loop(s));
                into.steps.push_back({true, child});
            } else if (st.kind == loop::stmt_kind::accum) {
                EMMY_CHECK_OK(accum(s, into));
            } else {
                EMMY_CHECK_OK(plain(s, into));
            }
        }
        return {};
    }

    /// Max then sum of exp(score - max) over one axis: one twisted fold.
    void find_twists(term& parent) {
        for (std::size_t i = 0; i + 1 < parent.steps.size(); ++i) {
            if (!parent.steps[i].is_term) continue;
            std::size_t j = i + 1;
            while (j < parent.steps.size() && !parent.steps[j].is_term) ++j;
            if (j == parent.steps.size()) return;
            term &first = t.terms[parent.steps[i].id], &second = t.terms[parent.steps[j].id];
            if (!is_twist(first, second)) continue;
            first.kind = term_kind::twist;
            first.steps.insert(first.steps.end(), second.steps.begin(), second.steps.end());
            first.states.push_back(second.states[0]);
            t.state_of[second.states[0]] = parent.steps[i].id;
            second.steps.clear(), second.states.clear(), second.axes.clear(), second.kind = term_kind::map;  // absorbed
            parent.steps.erase(parent.steps.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }
    bool is_twist(const term& first, const term& second) const {
        if (first.kind != term_kind::reduce || second.kind != term_kind::reduce || first.states.size() != 1 || second.states.size() != 1) return false;
        if (first.axes != second.axes) return false;
        const value_id pivot = first.states[0], sum = second.states[0];
        if (b.stmts[pivot].op != loop::op::maximum || b.stmts[sum].op != loop::op::add) return false;
        const value_id e = t.args[sum][0];
        if (b.stmts[e].kind != loop::stmt_kind::assign || b.stmts[e].op != loop::op::exp || t.types[e] != dtype::f32) return false;
        const value_id d = t.args[e][0];
        if (b.stmts[d].kind != loop::stmt_kind::assign || b.stmts[d].op != loop::op::subtract || t.types[d] != dtype::f32 || t.args[d][1] != pivot) return false;
        const name_id a = t.axes[first.axes[0]].name;
        return equal_under(k, t, t.args[pivot][0], t.args[d][0], a, a);
    }

    void find_operands(term& made) {
        const auto add = [&](value_id v) {
            operand o{operand::form::value, v, none};
            if (b.stmts[v].kind == loop::stmt_kind::load && t.gathers[v].empty()) o.from = operand::form::slab;
            if (b.stmts[v].kind == loop::stmt_kind::accum) o.from = operand::form::state, o.term = t.state_of[v];
            const bool inside = std::any_of(made.steps.begin(), made.steps.end(), [&](const step& x) { return !x.is_term && x.id == v; });
            if (inside && o.from == operand::form::value) return;
            for (const operand& other : made.operands)
                if (other.from == o.from && (o.from == operand::form::state ? other.term == o.term : other.value == o.value)) return;
            made.operands.push_back(o);
        };
        if (made.kind == term_kind::inner)
            for (value_id v : t.args[t.args[made.states[0]][0]])
                made.operands.push_back({b.stmts[v].kind == loop::stmt_kind::load && t.gathers[v].empty() ? operand::form::slab : operand::form::value, v, none});
        for (const step& x : made.steps) {
            if (x.is_term) continue;
            if (b.stmts[x.id].kind == loop::stmt_kind::load) continue;
            for (value_id v : t.args[x.id])
                if (std::none_of(made.states.begin(), made.states.end(), [&](value_id s) { return s == v; })) add(v);
        }
    }
};

inline bool equal_expressions(const loop::body& b, expr_id x, expr_id y, name_id a, name_id c) {
    if (x == no_expr || y == no_expr) return x == y;
    const expr &p = b.exprs[x], &q = b.exprs[y];
    if (p.kind == expr_kind::name && q.kind == expr_kind::name) return (p.name == a ? c : p.name) == q.name;
    if (p.kind != q.kind || p.op != q.op || p.integer != q.integer || p.real_bits != q.real_bits) return false;
    switch (p.kind) {
        case expr_kind::binary: return equal_expressions(b, p.a, q.a, a, c) && equal_expressions(b, p.b, q.b, a, c);
        case expr_kind::ternary: return equal_expressions(b, p.a, q.a, a, c) && equal_expressions(b, p.b, q.b, a, c) && equal_expressions(b, p.c, q.c, a, c);
        case expr_kind::cast: return p.name == q.name && equal_expressions(b, p.a, q.a, a, c);
        case expr_kind::call:
        case expr_kind::builtin: return false;
        default: return true;
    }
}

}  // namespace detail

EMMY_DECL bool equal_under(const loop::kernel& k, const tree& t, value_id first, value_id second, name_id a, name_id c) {
    const loop::body& b = k.body;
    if (first == second && a == c) return true;
    const loop::stmt &x = b.stmts[first], &y = b.stmts[second];
    if (first == second) {
        for (std::size_t i = 0; i < t.axes.size(); ++i)
            if ((t.depends[first] >> i & 1) != 0 && t.axes[i].name == a) return false;
        return true;
    }
    if (x.kind != y.kind || x.op != y.op || t.types[first] != t.types[second] || x.kind == loop::stmt_kind::accum) return false;
    if (x.kind == loop::stmt_kind::load && x.buffer != y.buffer) return false;
    if (!t.gathers[first].empty() || !t.gathers[second].empty()) return false;
    if (t.args[first].size() != t.args[second].size() || x.index.count != y.index.count) return false;
    for (std::uint32_t i = 0; i < x.index.count; ++i)
        if (!detail::equal_expressions(b, b.expressions(x.index)[i], b.expressions(y.index)[i], a, c)) return false;
    if (!detail::equal_expressions(b, x.value, y.value, a, c)) return false;
    for (std::size_t i = 0; i < t.args[first].size(); ++i)
        if (!equal_under(k, t, t.args[first][i], t.args[second][i], a, c)) return false;
    return true;
}

EMMY_DECL result<tree> lift(const loop::kernel& k) {
    detail::lifter l(k);
    const loop::body& b = k.body;
    term root;
    // Peel the outer free chain: pure statements on the way belong to every cell.
    loop::run at = b.top;
    for (;;) {
        const auto list = b.statements(at);
        std::size_t loops = 0;
        for (loop::stmt_id s : list) loops += b.stmts[s].kind == loop::stmt_kind::loop;
        const bool writes = std::any_of(list.begin(), list.end(), [&](loop::stmt_id s) { return b.stmts[s].kind == loop::stmt_kind::write; });
        if (list.empty() || loops != 1 || writes || b.stmts[list.back()].kind != loop::stmt_kind::loop || detail::lifter::holds_accum(b, b.stmts[list.back()].body)) break;
        for (loop::stmt_id s : list.first(list.size() - 1)) EMMY_CHECK_OK(l.plain(s, root));
        const loop::stmt& st = b.stmts[list.back()];
        EMMY_TRY(axis, l.open_axis(st.axis));
        l.t.grid.push_back(axis);
        at = st.body;
    }
    EMMY_CHECK_OK(l.list(at, root));
    for (term& made : l.t.terms) l.find_twists(made);
    l.find_twists(root);
    l.t.terms.push_back(std::move(root));
    l.t.root = static_cast<term_id>(l.t.terms.size() - 1);
    for (term& made : l.t.terms) l.find_operands(made);
    return std::move(l.t);
}

}  // namespace emmy::fold
