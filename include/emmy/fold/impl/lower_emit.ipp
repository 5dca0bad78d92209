#pragma once
#include <emmy/fold/impl/lower_graph.ipp>

#include <set>
#include <tuple>

namespace emmy::fold::closed::detail {

/// Writes a graph as a body: statements of every scope in an order that needs no names, then names a0 in0 v0 acc0 as they come.
class lower_emitter {
public:
    explicit lower_emitter(const lower_graph& graph) : g_(graph), f_(graph.f) {}

    /// Loops that hold one free loop and nothing else, outermost first, the last being the first that holds more. `above`: statements may
    /// stand before the outermost loop.
    std::vector<scope_id> chain(bool above) const {
        std::vector<scope_id> out;
        for (scope_id at = 0;;) {
            scope_id next = 0;
            std::size_t others = 0;
            for (const item& i : items_)
                if (i.scope == at && i.loop != 0 && !g_.scopes[i.loop].fold && next == 0) next = i.loop;
                else others += i.scope == at && !(above && at == 0 && i.loop == 0);
            if (next == 0 || others != 0) return out;
            out.push_back(at = next);
        }
    }
    void collect() {
        std::vector<bool> live(g_.nodes.size());
        std::vector<node_id> todo;
        auto want = [&](node_id n) {
            if (!live[n]) live[n] = true, todo.push_back(n);
        };
        for (node_id n = 0; n < g_.nodes.size(); ++n)
            if (g_.nodes[n].form == lower_node::kind::store) want(n);
        while (!todo.empty()) {
            const node_id n = todo.back();
            todo.pop_back();
            for (node_id a : g_.nodes[n].args) want(a);
            for (expr_id e : g_.nodes[n].index) each_value(e, want);
        }
        loop_item_.assign(g_.scopes.size(), none), node_item_.assign(g_.nodes.size(), none), stores_.assign(g_.scopes.size(), false), inner_.resize(g_.scopes.size());
        for (node_id n = 0; n < g_.nodes.size(); ++n) {
            if (!live[n] || g_.nodes[n].form == lower_node::kind::running) continue;
            const scope_id home = g_.nodes[n].home;
            add_loops(home);
            node_item_[n] = add({n, 0, home});
            if (g_.nodes[n].form != lower_node::kind::store) continue;
            for (scope_id s = home; s != 0; s = g_.scopes[s].parent) stores_[s] = true;
        }
    }
    void order() {
        std::vector<std::vector<std::uint32_t>> after(items_.size());
        std::vector<std::uint32_t> waits(items_.size(), 0);
        auto edge = [&](std::uint32_t from, std::uint32_t to) {
            if (from != to) after[from].push_back(to), ++waits[to];
        };
        auto before_in = [&](std::uint32_t made, std::uint32_t user) {  // `made` stands in a scope around `user`
            while (items_[user].scope != items_[made].scope && items_[user].scope != 0) user = loop_item_[items_[user].scope];
            edge(made, user);
        };
        for (std::uint32_t id = 0; id < items_.size(); ++id) {
            if (items_[id].loop != 0) continue;
            const lower_node& n = g_.nodes[items_[id].node];
            auto use = [&](node_id u) {
                const lower_node& made = g_.nodes[u];
                if (made.form == lower_node::kind::running) return edge(id, node_item_[made.args[0]]);  // read, then updated
                if (made.form != lower_node::kind::accum) return before_in(node_item_[u], id);
                if (items_[id].scope == made.home) return edge(node_item_[u], id);  // observed: updated, then stored
                before_in(loop_item_[made.home], id);
            };
            for (node_id a : n.args) use(a);
            for (expr_id e : n.index) each_value(e, use);
            // The pivot of a rescaled fold moves last.
            if (n.form == lower_node::kind::accum && n.args.size() == 2)
                for (const std::uint32_t other : inner_[n.home])
                    if (const item& o = items_[other]; o.loop == 0 && g_.nodes[o.node].form == lower_node::kind::accum && g_.nodes[o.node].args.size() == 1 && g_.nodes[o.node].op == loop::op::maximum && reads_pivot(n, o.node))
                        edge(id, other);
        }
        for (auto& list : inner_) {
            std::set<decltype(priority(0))> ready;
            for (const std::uint32_t id : list)
                if (waits[id] == 0) ready.insert(priority(id));
            std::vector<std::uint32_t> sorted;
            while (!ready.empty()) {
                const std::uint32_t id = std::get<4>(*ready.begin());
                ready.erase(ready.begin());
                sorted.push_back(id);
                for (const std::uint32_t next : after[id])
                    if (--waits[next] == 0) ready.insert(priority(next));
            }
            complete_ &= sorted.size() == list.size();
            list = std::move(sorted);
        }
    }
    result<loop::kernel> emit() {
        if (!complete_) return refuse(fault(fault_kind::internal, "terms need each other in a circle"));
        out_.name = f_.kernel_name;
        for (const loop::buffer& b : f_.inputs) out_.inputs.push_back(declared(b));
        for (const loop::buffer& b : f_.outputs) out_.outputs.push_back(declared(b));
        axis_names_.assign(g_.scopes.size(), no_name), node_names_.assign(g_.nodes.size(), no_name), numbers_.assign(g_.nodes.size(), 0);
        const std::vector<loop::stmt_id> top = statements(0);
        body().top = body().add_statements(top);
        return std::move(out_);
    }

private:
    struct item {
        node_id node = none;
        scope_id loop = 0;   ///< 0: a statement
        scope_id scope = 0;  ///< whose body holds it
    };
    loop::body& body() { return out_.body; }

    std::uint32_t add(const item& i) {
        items_.push_back(i);
        inner_[i.scope].push_back(static_cast<std::uint32_t>(items_.size() - 1));
        return static_cast<std::uint32_t>(items_.size() - 1);
    }
    void add_loops(scope_id s) {
        if (s == 0 || loop_item_[s] != none) return;
        add_loops(g_.scopes[s].parent);
        loop_item_[s] = add({none, s, g_.scopes[s].parent});
    }
    template <class See>
    void each_value(expr_id id, const See& see) const {
        std::vector<name_id> named;
        f_.names_in(g_.exprs, id, named);
        for (name_id n : named)
            if (const node_id v = g_.value_of(n); v != none) see(v);
    }
    /// Whether a rescaled accumulator's base was scaled by this pivot's move.
    bool reads_pivot(const lower_node& n, node_id pivot) const {
        std::vector<node_id> cone(n.args.begin(), n.args.end());
        for (std::size_t i = 0; i < cone.size() && i < 64; ++i) {
            const lower_node& x = g_.nodes[cone[i]];
            if (x.form == lower_node::kind::running) {
                if (x.args[0] == pivot) return true;
            } else if (x.form == lower_node::kind::pure && x.home == n.home) {
                for (node_id a : x.args)
                    if (std::find(cone.begin(), cone.end(), a) == cone.end()) cone.push_back(a);
            }
        }
        return false;
    }
    /// Loops without stores, leaves, loops with stores; then by kind, operator, buffer.
    std::tuple<int, int, std::string_view, std::string_view, std::uint32_t> priority(std::uint32_t id) const {
        const item& i = items_[id];
        if (i.loop != 0) return {stores_[i.loop] ? 2 : 0, 0, {}, {}, id};
        const lower_node& n = g_.nodes[i.node];
        if (n.form == lower_node::kind::accum) return {1, 0, {}, {}, id};
        if (n.form == lower_node::kind::store && n.carries) return {1, 2, {}, {}, id};
        if (n.form == lower_node::kind::store) return {1, 7, {}, g_.names.text(n.buffer), id};
        switch (n.statement) {
            case loop::stmt_kind::assign: return {1, 1, loop::facts(n.op).text, {}, id};
            case loop::stmt_kind::let: return {1, 3, {}, {}, id};
            case loop::stmt_kind::load: return {1, 4, {}, g_.names.text(n.buffer), id};
            case loop::stmt_kind::pre: return {1, 5, {}, {}, id};
            default: return {1, 6, {}, {}, id};
        }
    }

    // --- names, sizes, expressions in the body's pools ---

    name_id text(name_id n) { return body().names.intern(g_.names.text(n)); }
    name_id fresh(std::string_view prefix, int& counter) { return body().names.intern(std::string(prefix) + std::to_string(counter++)); }
    dim converted(const dim& d) {
        dim to = d;
        if (d.kind == dim::form::symbol) to.symbol = text(d.symbol);
        if (d.kind == dim::form::expression) to.value = converted(d.value);
        return to;
    }
    loop::buffer declared(const loop::buffer& b) {
        loop::buffer to{.name = text(b.name), .type = b.type, .shape = {}};
        for (const dim& d : b.shape) to.shape.push_back(converted(d));
        return to;
    }
    name_id renamed(name_id n) {
        if (const scope_id s = g_.scope_of(n); s != 0) return axis_names_[s];
        if (const node_id v = g_.value_of(n); v != none) return name_of(v);
        return text(n);
    }
    name_id name_of(node_id n) const { return node_names_[g_.nodes[n].form == lower_node::kind::running ? g_.nodes[n].args[0] : n]; }
    expr_id converted(expr_id id) {
        const expr e = g_.exprs[id];
        expr_pool& to = body().exprs;
        switch (e.kind) {
            case expr_kind::name: return to.name(renamed(e.name));
            case expr_kind::builtin: return to.builtin(text(e.name));
            case expr_kind::binary: {
                const expr_id a = converted(e.a), b = converted(e.b);
                return to.binary(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = converted(e.a), b = converted(e.b), c = converted(e.c);
                return to.ternary(a, b, c);
            }
            case expr_kind::cast: return to.cast(text(e.name), converted(e.a));
            case expr_kind::call: {
                std::vector<expr_id> args(g_.exprs.args(e).begin(), g_.exprs.args(e).end());
                for (expr_id& a : args) a = converted(a);
                return to.call(text(e.name), args);
            }
            default: return to.add(e);
        }
    }
    loop::run index(const std::vector<expr_id>& list) {
        std::vector<expr_id> to;
        for (expr_id e : list) to.push_back(converted(e));
        return body().add_expressions(to);
    }

    // --- statements ---

    std::vector<loop::stmt_id> statements(scope_id s) {
        std::vector<loop::stmt_id> list;
        for (const std::uint32_t id : inner_[s]) list.push_back(items_[id].loop != 0 ? loop_of(items_[id].loop) : statement(items_[id].node));
        return list;
    }
    loop::stmt_id statement(node_id id) {
        const lower_node& n = g_.nodes[id];
        loop::stmt s{.kind = n.statement, .op = n.op, .type = n.type};
        const bool pre = n.form == lower_node::kind::pure && n.statement == loop::stmt_kind::pre;
        if (n.buffer != no_name && !n.carries) s.buffer = pre ? state_name(n.buffer) : text(n.buffer);
        std::vector<name_id> args;
        if (n.form == lower_node::kind::accum) {
            s.kind = loop::stmt_kind::accum, s.name = node_names_[id];
            args = {name_of(n.args[0])};
            if (n.args.size() == 2) s.base = name_of(n.args[1]);
            s.axes = body().add_names(std::array{axis_names_[n.home]});
        } else if (n.form == lower_node::kind::store && n.carries) {
            s.kind = loop::stmt_kind::carry, s.index = index(n.index), s.buffer = no_name, s.name = state_name(n.buffer);
            for (const carried_state& c : f_.carried) {
                if (c.name != n.buffer) continue;
                s.seed_is_buffer = c.seed_buffer != no_name, s.seed_number = c.seed, s.seed_is_integer = c.seed_is_integer, s.type = c.type;
                if (s.seed_is_buffer) s.buffer = text(c.seed_buffer);
            }
            args = {name_of(n.args[0])};
        } else if (n.form == lower_node::kind::store) {
            s.kind = loop::stmt_kind::write, s.atomic = n.atomic, s.index = index(n.index);
            args = {name_of(n.args[0])};
        } else {
            if (n.statement == loop::stmt_kind::let) s.value = converted(n.index[0]);
            else s.index = index(n.index);
            for (node_id a : operands(n)) args.push_back(name_of(a));
            s.name = node_names_[id] = n.statement == loop::stmt_kind::load ? fresh("in", loads_) : fresh("v", values_);
            numbers_[id] = next_number_++;
        }
        s.args = body().add_names(args);
        return body().add(s);
    }
    /// Carried states are numbered behind all accumulators.
    name_id state_name(name_id carrier) {
        int at = 0;
        for (node_id n = 0; n < g_.nodes.size(); ++n) at += node_item_[n] != none && g_.nodes[n].form == lower_node::kind::accum;
        for (const carried_state& c : f_.carried) {
            if (c.name == carrier) break;
            ++at;
        }
        return body().names.intern("acc" + std::to_string(at));
    }
    /// Operands of commutative operators: accumulators, loads, then computed values, each in order of definition.
    std::vector<node_id> operands(const lower_node& n) const {
        std::vector<node_id> list = n.args;
        if (n.statement != loop::stmt_kind::assign || !loop::facts(n.op).commutative) return list;
        auto rank = [&](node_id a) {
            const lower_node& x = g_.nodes[a];
            if (x.form == lower_node::kind::running) return std::pair(0, numbers_[x.args[0]]);
            return std::pair(x.form == lower_node::kind::accum ? 0 : x.statement == loop::stmt_kind::load ? 1 : 2, numbers_[a]);
        };
        std::stable_sort(list.begin(), list.end(), [&](node_id a, node_id b) { return rank(a) < rank(b); });
        return list;
    }
    loop::stmt_id loop_of(scope_id id) {
        const lower_scope& s = g_.scopes[id];
        const name_id own = fresh("a", axes_);
        name_id name = own;
        if (s.fold)  // one name for one coordinate
            for (scope_id other = 1; other < id && name == own; ++other)
                if (const lower_scope& o = g_.scopes[other]; o.fold && o.parent == s.parent && o.axis.name == s.axis.name && same_extent(o.axis.extent, s.axis.extent) && axis_names_[other] != no_name)
                    name = axis_names_[other];
        axis_names_[id] = name;
        for (const std::uint32_t i : inner_[id])
            if (items_[i].loop == 0 && g_.nodes[items_[i].node].form == lower_node::kind::accum)
                node_names_[items_[i].node] = fresh("acc", accums_), numbers_[items_[i].node] = next_number_++;
        loop::stmt made{.kind = loop::stmt_kind::loop};
        made.axis = {name, converted(s.axis.extent), s.axis.has_window() ? window(s.axis.window) : 0xffffffffu};
        const std::vector<loop::stmt_id> inner = statements(id);
        made.body = body().add_statements(inner);
        return body().add(made);
    }
    std::uint32_t window(std::uint32_t id) {
        loop::window w = f_.windows[id];
        if (w.parent != no_name) w.parent = fresh("p", parents_);
        w.parent_extent = converted(w.parent_extent);
        if (w.base != no_expr) w.base = converted(w.base);
        if (w.bound != no_expr) w.bound = converted(w.bound);
        body().windows.push_back(w);
        return static_cast<std::uint32_t>(body().windows.size() - 1);
    }

    const lower_graph& g_;
    const forest& f_;
    bool complete_ = true;
    loop::kernel out_;
    std::vector<item> items_{};
    std::vector<std::uint32_t> loop_item_{}, node_item_{};
    std::vector<bool> stores_{};
    std::vector<std::vector<std::uint32_t>> inner_{};
    std::vector<name_id> axis_names_{}, node_names_{};
    std::vector<std::uint32_t> numbers_{};
    std::uint32_t next_number_ = 0;
    int axes_ = 0, loads_ = 0, values_ = 0, accums_ = 0, parents_ = 0;
};

}  // namespace emmy::fold::closed::detail
