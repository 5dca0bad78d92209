#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/fold/access.hpp>
#include <emmy/loop/infer.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>
#include <map>
#include <string>

/// A body as pure values of coordinates: what stages() works on.
namespace emmy::fold::detail {

using node_id = std::uint32_t;
using axis_id = std::uint32_t;  ///< place in value_graph::axes: one per loop statement
constexpr std::uint32_t nothing = 0xffffffffu;

/// What a name inside an expression stands for.
struct name_meaning {
    name_id name = no_name;
    bool is_axis = false;
    std::uint32_t id = nothing;
};

struct value_node {
    enum class form : std::uint8_t { statement, state, running } from = form::statement;
    loop::stmt_id stmt = nothing;              ///< statement: load, assign, select, let. running: the Accum
    loop::op op = loop::op::none;              ///< statement: an assign's; state: the fold's
    dtype stated = dtype::none;                ///< state: the Accum's dtype
    std::vector<node_id> args;                 ///< a state: the value it accumulates
    std::vector<name_meaning> names;           ///< of its expressions
    std::vector<axis_id> depends;              ///< sorted; no quotient beside its base
    std::vector<axis_id> index_depends;        ///< the expressions' part of it
    axis_id axis = nothing;                    ///< state: the reduced axis
    dtype type = dtype::none;
};
/// A loop's coordinate, or the quotient of one: a value that reads x only as x / c depends on that.
struct graph_axis {
    dim extent;
    std::uint32_t depth = 0;
    axis_id base = nothing;                    ///< quotient: of which
    std::int64_t divisor = 1;
};
struct graph_write {
    loop::stmt_id stmt = nothing;
    std::vector<axis_id> loops;                ///< outermost first
    node_id value = nothing;
    std::vector<name_meaning> names;
};

inline bool has(const std::vector<axis_id>& set, axis_id a) { return std::binary_search(set.begin(), set.end(), a); }

class value_graph {
public:
    explicit value_graph(const loop::kernel& kernel) : k(kernel), b(kernel.body) {}
    /// False where the body is no pure function of coordinates.
    bool build() { return list(b.top) && !writes.empty(); }

    const loop::kernel& k;
    const loop::body& b;
    std::vector<value_node> nodes;
    std::vector<graph_axis> axes;
    std::vector<graph_write> writes;

    std::int64_t extent(axis_id a) const {
        const dim& d = axes[a].extent;
        return d.kind == dim::form::number || d.has_hint ? d.number : default_hint;
    }
    void unite(std::vector<axis_id>& to, const std::vector<axis_id>& from) const {
        std::vector<axis_id> all, out;
        std::set_union(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(all));
        for (std::size_t i = 0; i < all.size(); ++i) {
            const graph_axis& a = axes[all[i]];
            const axis_id base = a.base;
            const bool other = base != nothing && std::any_of(all.begin(), all.end(), [&](axis_id x) { return x != all[i] && axes[x].base == base; });
            const axis_id kept = other ? base : all[i];  // two quotients of one coordinate: the coordinate
            if (base != nothing && !other && has(all, base)) continue;
            if (std::find(out.begin(), out.end(), kept) == out.end()) out.push_back(kept);
        }
        std::sort(out.begin(), out.end());
        to = std::move(out);
    }
    /// The set depends on the coordinate or on a quotient of it.
    bool touches(const std::vector<axis_id>& set, axis_id a) const {
        return std::any_of(set.begin(), set.end(), [&](axis_id x) { return x == a || axes[x].base == a; });
    }
    /// The quotient that an expression is, if it is one that was met.
    axis_id quotient(const expr& e, const std::vector<name_meaning>& names) const {
        if (e.kind != expr_kind::binary || (e.op != binary_op::divide && e.op != binary_op::floor_divide) || b.exprs[e.a].kind != expr_kind::name || b.exprs[e.b].kind != expr_kind::integer) return nothing;
        for (const name_meaning& m : names)
            if (m.name == b.exprs[e.a].name && m.is_axis) {
                const auto found = quotients_.find({m.id, b.exprs[e.b].integer});
                return found == quotients_.end() ? nothing : found->second;
            }
        return nothing;
    }
    bool is(node_id n, loop::op o) const { return nodes[n].from == value_node::form::statement && nodes[n].op == o; }
    /// Some node of the cone of n satisfies `test`; `through`: go on below this node.
    template <class Test, class Through>
    bool any_of(node_id n, const Test& test, const Through& through) const {
        std::vector<char> seen(nodes.size(), 0);
        std::vector<node_id> open{n};
        while (!open.empty()) {
            const node_id x = open.back();
            open.pop_back();
            if (seen[x]) continue;
            seen[x] = 1;
            if (test(x)) return true;
            if (!through(x)) continue;
            for (node_id a : nodes[x].args) open.push_back(a);
            for (const name_meaning& m : nodes[x].names)
                if (!m.is_axis) open.push_back(m.id);
        }
        return false;
    }

private:
    const name_meaning* find(name_id n) const {
        for (std::size_t i = scope_.size(); i-- > 0;)
            if (scope_[i].name == n) return &scope_[i];
        return nullptr;
    }
    bool note(expr_id id, std::vector<name_meaning>& names, std::vector<axis_id>& depends) {
        if (id == no_expr) return true;
        const expr& e = b.exprs[id];
        if (e.kind == expr_kind::binary && (e.op == binary_op::divide || e.op == binary_op::floor_divide) && b.exprs[e.a].kind == expr_kind::name && b.exprs[e.b].kind == expr_kind::integer) {
            const name_meaning* m = find(b.exprs[e.a].name);
            const std::int64_t c = b.exprs[e.b].integer;
            if (m != nullptr && m->is_axis && c > 1 && axes[m->id].extent.kind == dim::form::number && axes[m->id].extent.number % c == 0) {
                const auto [at, fresh] = quotients_.emplace(std::pair{m->id, c}, static_cast<axis_id>(axes.size()));
                if (fresh) {
                    graph_axis q = axes[m->id];
                    q.extent.number /= c, q.base = m->id, q.divisor = c;
                    axes.push_back(q);
                }
                if (std::none_of(names.begin(), names.end(), [&](const name_meaning& known) { return known.name == m->name; })) names.push_back(*m);
                unite(depends, {at->second});
                return true;
            }
        }
        switch (e.kind) {
            case expr_kind::name: {
                const name_meaning* m = find(e.name);
                if (m == nullptr || (!m->is_axis && nodes[m->id].from == value_node::form::running)) return false;
                if (std::none_of(names.begin(), names.end(), [&](const name_meaning& known) { return known.name == e.name; })) names.push_back(*m);
                unite(depends, m->is_axis ? std::vector<axis_id>{m->id} : nodes[m->id].depends);
                return true;
            }
            case expr_kind::binary: return note(e.a, names, depends) && note(e.b, names, depends);
            case expr_kind::ternary: return note(e.a, names, depends) && note(e.b, names, depends) && note(e.c, names, depends);
            case expr_kind::cast: return note(e.a, names, depends);
            case expr_kind::call:
            case expr_kind::builtin: return false;
            default: return true;
        }
    }
    node_id add(value_node n) {
        nodes.push_back(std::move(n));
        return static_cast<node_id>(nodes.size() - 1);
    }

    bool list(loop::run r) {
        for (loop::stmt_id s : b.statements(r))
            if (!one(s)) return false;
        return true;
    }
    bool one(loop::stmt_id s) {
        const loop::stmt& st = b.stmts[s];
        switch (st.kind) {
            case loop::stmt_kind::loop: return loop(s);
            case loop::stmt_kind::accum: return true;  // by its loop
            case loop::stmt_kind::write: return write(s);
            case loop::stmt_kind::load:
            case loop::stmt_kind::assign:
            case loop::stmt_kind::select:
            case loop::stmt_kind::let: return pure(s);
            default: return false;
        }
    }
    bool pure(loop::stmt_id s) {
        const loop::stmt& st = b.stmts[s];
        value_node n;
        n.stmt = s, n.op = st.kind == loop::stmt_kind::assign ? st.op : loop::op::none;
        std::vector<dtype> types;
        for (name_id a : b.name_list(st.args)) {
            const name_meaning* m = find(a);
            if (m == nullptr || m->is_axis) return false;
            n.args.push_back(m->id);
            types.push_back(nodes[m->id].type);
            unite(n.depends, nodes[m->id].depends);
        }
        for (expr_id e : b.expressions(st.index))
            if (!note(e, n.names, n.index_depends)) return false;
        if (st.kind == loop::stmt_kind::let && !note(st.value, n.names, n.index_depends)) return false;
        unite(n.depends, n.index_depends);
        switch (st.kind) {
            case loop::stmt_kind::load: {
                const loop::buffer* from = find_buffer(k, st.buffer);
                if (st.names.count > 1 || from == nullptr || std::any_of(k.outputs.begin(), k.outputs.end(), [&](const loop::buffer& x) { return x.name == st.buffer; })) return false;
                n.type = st.type != dtype::none ? st.type : from->type;
                break;
            }
            case loop::stmt_kind::assign: n.type = st.type != dtype::none ? st.type : loop::infer_assign(st.op, types, n.args.size() == 2 && n.args[0] == n.args[1]); break;
            case loop::stmt_kind::select: n.type = loop::infer_select(types); break;
            default:
                n.type = loop::infer_let(st.type, loop::is_real(b.exprs, st.value, [&](name_id x) { const name_meaning* m = find(x); return m != nullptr && !m->is_axis && !reads_as_integer(nodes[m->id].type); }));
        }
        scope_.push_back({st.name, false, add(std::move(n))});
        return true;
    }
    bool write(loop::stmt_id s) {
        const loop::stmt& st = b.stmts[s];
        if (st.swizzle != no_name || st.args.count != 1 || open_folds_ > 0) return false;
        graph_write w;
        w.stmt = s, w.loops = open_;
        const name_meaning* m = find(b.name_list(st.args)[0]);
        std::vector<axis_id> depends;
        if (m == nullptr || m->is_axis) return false;
        w.value = m->id;
        for (expr_id e : b.expressions(st.index))
            if (!note(e, w.names, depends)) return false;
        if (st.atomic && !sum_over_missing(s, w)) return false;
        writes.push_back(std::move(w));
        return true;
    }
    /// An atomic sum as plain sums over the loops that its index does not name. Only where the indices are bare axes that cover the buffer.
    bool sum_over_missing(loop::stmt_id s, graph_write& w) {
        const loop::stmt& st = b.stmts[s];
        const loop::buffer* to = find_buffer(k, st.buffer);
        if (to->type != dtype::f32 || nodes[w.value].type != dtype::f32) return false;
        std::size_t writers = 0;
        for (const loop::stmt& other : b.stmts) writers += other.kind == loop::stmt_kind::write && other.buffer == st.buffer;
        if (writers != 1) return false;
        std::vector<axis_id> kept;
        const auto index = b.expressions(st.index);
        for (std::size_t d = 0; d < index.size(); ++d) {
            const expr& e = b.exprs[index[d]];
            if (e.kind == expr_kind::integer && e.integer == 0 && to->shape[d].kind == dim::form::number && to->shape[d].number == 1) continue;
            if (e.kind != expr_kind::name) return false;
            const name_meaning* m = find(e.name);
            if (m == nullptr || !m->is_axis || std::find(kept.begin(), kept.end(), m->id) != kept.end()) return false;
            const dim &have = axes[m->id].extent, &want = to->shape[d];
            if (have.kind != want.kind || (have.kind == dim::form::number ? have.number != want.number : have.symbol != want.symbol)) return false;
            kept.push_back(m->id);
        }
        for (std::size_t i = w.loops.size(); i-- > 0;) {
            const axis_id a = w.loops[i];
            if (std::find(kept.begin(), kept.end(), a) != kept.end()) continue;
            value_node n;
            n.from = value_node::form::state, n.op = loop::op::add, n.axis = a, n.args = {w.value}, n.type = dtype::f32;
            n.depends = nodes[w.value].depends;
            if (!touches(n.depends, a)) return false;
            drop(n.depends, a);
            w.value = add(std::move(n));
            w.loops.erase(w.loops.begin() + static_cast<std::ptrdiff_t>(i));
        }
        return true;
    }

    bool loop(loop::stmt_id s) {
        const loop::stmt& st = b.stmts[s];
        if (!st.seed) return false;
        const auto statements = b.statements(st.body);
        std::vector<loop::stmt_id> accums;
        for (loop::stmt_id c : statements)
            if (b.stmts[c].kind == loop::stmt_kind::accum) accums.push_back(c);
        for (std::size_t i = 0; i < accums.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (b.stmts[accums[i]].name == b.stmts[accums[j]].name) return false;
        if (accums.empty() && open_folds_ > 0) return false;
        const auto axis = static_cast<axis_id>(axes.size());
        axes.push_back({st.axis.extent, static_cast<std::uint32_t>(open_.size())});
        if (st.axis.extent.kind == dim::form::expression) return false;
        const std::size_t mark = scope_.size();
        open_.push_back(axis), open_folds_ += !accums.empty();
        scope_.push_back({st.axis.name, true, axis});
        std::vector<std::pair<loop::stmt_id, node_id>> running;
        for (loop::stmt_id a : accums) {
            value_node n;
            n.from = value_node::form::running, n.stmt = a, n.depends = {axis}, n.type = b.stmts[a].type == dtype::none ? dtype::f32 : b.stmts[a].type;
            running.emplace_back(a, add(std::move(n)));
            scope_.push_back({b.stmts[a].name, false, running.back().second});
        }
        if (!list(st.body)) return false;
        std::vector<std::pair<loop::stmt_id, node_id>> values;
        for (loop::stmt_id a : accums) {
            const name_meaning* m = find(b.name_list(b.stmts[a].args)[0]);
            if (m == nullptr || m->is_axis) return false;
            values.emplace_back(a, m->id);
        }
        if (!untwist(accums, running, values)) return false;
        open_.pop_back(), open_folds_ -= !accums.empty();
        scope_.resize(mark);
        for (std::size_t i = 0; i < accums.size(); ++i) scope_.push_back({b.stmts[accums[i]].name, false, states_[accums[i]]});
        return true;
    }

    void drop(std::vector<axis_id>& set, axis_id a) const {
        set.erase(std::remove_if(set.begin(), set.end(), [&](axis_id x) { return x == a || axes[x].base == a; }), set.end());
    }
    node_id state(loop::stmt_id accum, node_id value, axis_id axis) {
        value_node n;
        n.from = value_node::form::state, n.op = b.stmts[accum].op, n.stated = b.stmts[accum].type, n.axis = axis, n.args = {value}, n.depends = nodes[value].depends;
        drop(n.depends, axis);
        n.type = b.stmts[accum].type != dtype::none ? b.stmts[accum].type : loop::infer_accum(b.stmts[accum].op, nodes[value].type);
        return states_[accum] = add(std::move(n));
    }
    bool reads_running(node_id n) const {
        return any_of(n, [&](node_id x) { return nodes[x].from == value_node::form::running; }, [&](node_id x) { return nodes[x].from == value_node::form::statement; });
    }
    /// The node with `from` replaced by `to`.
    node_id replaced(node_id n, node_id from, node_id to, std::map<node_id, node_id>& done) {
        if (n == from) return to;
        if (nodes[n].from != value_node::form::statement) return n;
        if (const auto found = done.find(n); found != done.end()) return found->second;
        value_node copy = nodes[n];
        bool changed = false;
        for (node_id& a : copy.args) {
            const node_id r = replaced(a, from, to, done);
            changed = changed || r != a;
            a = r;
        }
        if (!changed) return done[n] = n;
        copy.depends.clear();
        for (node_id a : copy.args) unite(copy.depends, nodes[a].depends);
        unite(copy.depends, copy.index_depends);
        return done[n] = add(std::move(copy));
    }
    /// Makes the states of a loop. Rescaled ones: with m the pivot's final value, acc = Σ value[maximum(m so far, s) := m].
    bool untwist(const std::vector<loop::stmt_id>& accums, const std::vector<std::pair<loop::stmt_id, node_id>>& running, const std::vector<std::pair<loop::stmt_id, node_id>>& values) {
        const axis_id axis = open_.back();
        const bool twisted = std::any_of(accums.begin(), accums.end(), [&](loop::stmt_id a) { return b.stmts[a].base != no_name; });
        if (!twisted) {
            for (const auto& [a, v] : values) {
                if (reads_running(v)) return false;
                state(a, v, axis);
            }
            return true;
        }
        std::size_t pivot = accums.size();
        for (std::size_t i = 0; i < accums.size(); ++i)
            if (b.stmts[accums[i]].base == no_name) {
                if (pivot != accums.size() || b.stmts[accums[i]].op != loop::op::maximum) return false;
                pivot = i;
            }
        if (pivot == accums.size()) return false;
        const node_id before = running[pivot].second, score = values[pivot].second;
        if (reads_running(score)) return false;
        node_id top = nothing;
        for (node_id n = 0; n < nodes.size(); ++n)
            if (is(n, loop::op::maximum) && ((nodes[n].args[0] == before && nodes[n].args[1] == score) || (nodes[n].args[1] == before && nodes[n].args[0] == score))) top = n;
        if (top == nothing) return false;
        const auto is_scale = [&](node_id n) { return is(n, loop::op::exp) && is(nodes[n].args[0], loop::op::subtract) && nodes[nodes[n].args[0]].args[0] == before && nodes[nodes[n].args[0]].args[1] == top; };
        const node_id m = state(accums[pivot], score, axis);
        for (std::size_t i = 0; i < accums.size(); ++i) {
            if (i == pivot) continue;
            const loop::stmt& st = b.stmts[accums[i]];
            if (st.op != loop::op::add) return false;
            const name_meaning* base = find(st.base);
            if (base == nullptr || base->is_axis || !is(base->id, loop::op::multiply)) return false;
            const auto& factors = nodes[base->id].args;
            if (!((factors[0] == running[i].second && is_scale(factors[1])) || (factors[1] == running[i].second && is_scale(factors[0])))) return false;
            // exp(s - top) must be a factor of the value, or the replacement is no rescaling.
            if (!scales_with(values[i].second, score, top)) return false;
            std::map<node_id, node_id> done;
            const node_id v = replaced(values[i].second, top, m, done);
            if (reads_running(v)) return false;
            state(accums[i], v, axis);
        }
        return true;
    }
    bool scales_with(node_id n, node_id score, node_id top) const {
        if (is(n, loop::op::exp)) {
            const node_id d = nodes[n].args[0];
            return is(d, loop::op::subtract) && nodes[d].args[0] == score && nodes[d].args[1] == top;
        }
        if (!is(n, loop::op::multiply)) return false;
        for (int side : {0, 1})
            if (scales_with(nodes[n].args[static_cast<std::size_t>(side)], score, top) && !reads(nodes[n].args[static_cast<std::size_t>(1 - side)], top)) return true;
        return false;
    }
    bool reads(node_id n, node_id what) const {
        return any_of(n, [&](node_id x) { return x == what; }, [&](node_id x) { return nodes[x].from == value_node::form::statement; });
    }

    std::vector<name_meaning> scope_;
    std::vector<axis_id> open_;
    std::map<loop::stmt_id, node_id> states_;
    std::map<std::pair<axis_id, std::int64_t>, axis_id> quotients_;
    int open_folds_ = 0;
};

}  // namespace emmy::fold::detail
