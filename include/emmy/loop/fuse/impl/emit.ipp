#pragma once
#include <emmy/loop/fuse/impl/place.hpp>

#include <tuple>

namespace emmy::loop::fusion {

/// Writes a draft as a body: statements of every scope in an order that needs no names, then names a0 in0 v0 acc0 as they come.
class emitter {
public:
    emitter(program_graph& p, const draft& d) : p_(p), v_(p.values), d_(d), at_(p, d) {}

    /// Name of the carried state, after emit().
    std::string state() const { return std::string(out_.body.text(state_)); }

    loop::kernel emit(std::span<const buffer_id> inputs, std::span<const buffer_id> outputs) {
        for (const buffer_id b : inputs) out_.inputs.push_back(declared(b));
        for (const buffer_id b : outputs) out_.outputs.push_back(declared(b));
        std::size_t sums = 0;
        for (const auto& [a, folds] : at_.folds()) sums += folds.size();
        if (d_.step != nothing) state_ = body().names.intern("acc" + std::to_string(sums));
        collect();
        order();
        for (const axis_id a : loops_) alike_.push_back(a);
        const std::vector<stmt_id> top = statements(scope_of(nothing));
        body().top = body().add_statements(top);
        return out_;
    }

private:
    enum class item_kind : std::uint8_t { leaf, accum, store, loop };
    struct item {
        item_kind kind;
        std::uint32_t what;   ///< value, value (fold), place in the draft, axis
        axis_id scope;        ///< loop whose body holds it
    };
    struct scope {
        std::vector<std::uint32_t> items;
        bool stores = false;  ///< it or a loop in it
    };

    loop::body& body() { return out_.body; }
    scope& scope_of(axis_id a) { return scopes_[a]; }

    // Buffers, sizes, expressions in the body's pools.
    name_id text(name_id name) { return body().names.intern(v_.names.text(name)); }
    dim converted(const dim& d) {
        dim to = d;
        if (d.kind == dim::form::symbol) to.symbol = text(d.symbol);
        if (d.kind == dim::form::expression) to.value = converted(d.value);
        return to;
    }
    buffer declared(buffer_id b) {
        buffer to{.name = text(p_.buffers[b].name), .type = p_.buffers[b].type, .shape = {}};
        for (const dim& d : p_.buffers[b].shape) to.shape.push_back(converted(d));
        return to;
    }
    expr_id converted(expr_id id) {
        const expr e = v_.exprs[id];
        expr_pool& to = body().exprs;
        switch (e.kind) {
            case expr_kind::name: {
                if (const axis_id a = v_.axis_of(e.name); a != nothing) return to.name(axis_names_[a]);
                if (const value_id inside = v_.value_of(e.name); inside != nothing) return to.name(names_[inside]);
                return to.name(text(e.name));
            }
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
                std::vector<expr_id> args(v_.exprs.args(e).begin(), v_.exprs.args(e).end());
                for (expr_id& a : args) a = converted(a);
                return to.call(text(e.name), args);
            }
            default: return to.add(e);
        }
    }
    run index(std::span<const expr_id> list) {
        std::vector<expr_id> to;
        for (const expr_id e : list) to.push_back(converted(e));
        return body().add_expressions(to);
    }

    // What stands where.
    std::uint32_t add(const item& i) {
        items_.push_back(i);
        scopes_[i.scope].items.push_back(static_cast<std::uint32_t>(items_.size() - 1));
        return static_cast<std::uint32_t>(items_.size() - 1);
    }
    void add_loop(axis_id a) {
        if (loop_item_.contains(a)) return;
        loops_.push_back(a);
        scopes_[a];
        loop_item_[a] = add({item_kind::loop, a, at_.parent(a)});
    }
    void collect() {
        scopes_[nothing];
        for (const axis_id a : at_.free_axes()) add_loop(a);
        for (const auto& [a, folds] : at_.folds()) add_loop(a);
        for (const value_id v : at_.values()) {
            const value& x = v_.at(v);
            if (x.kind == value_kind::fold) accum_item_[v] = add({item_kind::accum, v, x.target});
            else leaf_item_[v] = add({item_kind::leaf, v, at_.home(v)});
        }
        for (std::uint32_t i = 0; i < d_.stores.size(); ++i) {
            const axis_id within = d_.stores[i].sum != nothing ? d_.stores[i].sum : d_.stores[i].scope;
            add({item_kind::store, i, within});
            for (axis_id a = within;; a = at_.parent(a)) {
                scopes_[a].stores = true;
                if (a == nothing) break;
            }
        }
    }

    template <class Use>
    void each_use(const item& i, Use&& use) {
        const auto in_index = [&](std::span<const expr_id> list) {
            for (const expr_id e : list)
                each_name(v_.exprs, e, [&](name_id n) {
                    if (const value_id inside = v_.value_of(n); inside != nothing) use(inside);
                });
        };
        switch (i.kind) {
            case item_kind::leaf:
                for (const value_id a : v_.args(i.what)) use(a);
                in_index(v_.index(i.what));
                break;
            case item_kind::accum: use(v_.args(i.what)[0]); break;
            case item_kind::store: use(d_.stores[i.what].stored), in_index(d_.stores[i.what].index); break;
            case item_kind::loop: break;
        }
    }
    /// The order in which ready statements of a scope stand: loops without stores, leaves, loops with stores; then by kind, operator, buffer.
    auto priority(std::uint32_t id) const {
        const item& i = items_[id];
        int group = 1, rank = 0;
        std::string_view op, buffer;
        std::string shape;
        const value* x = i.kind == item_kind::leaf ? &v_.at(i.what) : nullptr;
        switch (i.kind) {
            case item_kind::loop: group = scopes_.at(i.what).stores ? 2 : 0; break;
            case item_kind::accum: rank = 0; break;
            case item_kind::store:
                if (d_.stores[i.what].carry) rank = 2;
                else rank = 7, buffer = v_.names.text(p_.buffers[d_.stores[i.what].buffer].name);
                break;
            case item_kind::leaf:
                switch (x->kind) {
                    case value_kind::op: rank = 1, op = facts(x->op).text; break;
                    case value_kind::let: rank = 3; break;
                    case value_kind::load: rank = 4, shape = index_shape(i.what), buffer = v_.names.text(p_.buffers[x->target].name); break;
                    case value_kind::pre: rank = 5; break;
                    default: rank = 6; break;
                }
        }
        return std::tuple(group, rank, op, shape, buffer, id);
    }
    /// What a read's index looks like without names, spelled so that the longer of two that begin alike is the lesser.
    std::string index_shape(value_id v) const {
        std::string out;
        for (const expr_id e : v_.index(v)) {
            const expr_kind k = v_.exprs[e].kind;
            out += k == expr_kind::binary ? 'b' : k == expr_kind::integer ? 'l' : k == expr_kind::name ? 'v' : 't';
        }
        return out + '~';
    }
    void order() {
        std::vector<std::vector<std::uint32_t>> after(items_.size());
        std::vector<std::uint32_t> waits(items_.size(), 0);
        const auto edge = [&](std::uint32_t from, std::uint32_t to) {
            if (from == to) return;
            after[from].push_back(to);
            ++waits[to];
        };
        for (std::uint32_t id = 0; id < items_.size(); ++id)
            each_use(items_[id], [&](value_id u) {
                const bool fold = v_.at(u).kind == value_kind::fold;
                const std::uint32_t made = fold ? loop_item_.at(v_.at(u).target) : leaf_item_.at(u);
                std::uint32_t user = id;
                if (fold && items_[id].scope == v_.at(u).target) return edge(accum_item_.at(u), id);  // a scan stores what it has summed so far
                while (items_[user].scope != items_[made].scope && items_[user].scope != nothing) user = loop_item_.at(items_[user].scope);
                edge(made, user);
            });
        for (auto& [axis, s] : scopes_) {
            std::set<decltype(priority(0))> ready;
            for (const std::uint32_t id : s.items)
                if (waits[id] == 0) ready.insert(priority(id));
            std::vector<std::uint32_t> sorted;
            while (!ready.empty()) {
                const std::uint32_t id = std::get<5>(*ready.begin());
                ready.erase(ready.begin());
                sorted.push_back(id);
                for (const std::uint32_t next : after[id])
                    if (--waits[next] == 0) ready.insert(priority(next));
            }
            s.items = std::move(sorted);
        }
    }

    // Statements.
    name_id fresh(std::string_view prefix, int& counter) { return body().names.intern(std::string(prefix) + std::to_string(counter++)); }

    std::vector<stmt_id> statements(const scope& s) {
        std::vector<stmt_id> list;
        for (const std::uint32_t id : s.items) list.push_back(statement(items_[id]));
        return list;
    }
    stmt_id statement(const item& i) {
        switch (i.kind) {
            case item_kind::loop: return loop(i.what);
            case item_kind::accum: {
                const value_id v = i.what;
                stmt s{.kind = stmt_kind::accum, .op = v_.at(v).op, .name = names_[v]};
                s.args = body().add_names(std::array{names_[v_.args(v)[0]]});
                s.axes = body().add_names(std::array{axis_names_[v_.at(v).target]});
                return body().add(s);
            }
            case item_kind::store: {
                const draft_store& from = d_.stores[i.what];
                if (from.carry) {
                    stmt s{.kind = stmt_kind::carry, .name = state_};
                    s.seed_is_buffer = d_.seed != nothing;
                    if (s.seed_is_buffer) s.buffer = text(p_.buffers[d_.seed].name);
                    s.index = index(from.index);
                    s.args = body().add_names(std::array{names_[from.stored]});
                    return body().add(s);
                }
                stmt s{.kind = stmt_kind::write, .buffer = text(p_.buffers[from.buffer].name)};
                s.index = index(from.index);
                s.args = body().add_names(std::array{names_[from.stored]});
                return body().add(s);
            }
            case item_kind::leaf: return leaf(i.what);
        }
        return 0;
    }
    stmt_id leaf(value_id v) {
        const value& x = v_.at(v);
        stmt s{.kind = stmt_kind::assign, .op = x.op, .type = x.type};
        switch (x.kind) {
            case value_kind::load: s.kind = stmt_kind::load, s.buffer = text(p_.buffers[x.target].name); break;
            case value_kind::pre: s.kind = stmt_kind::pre, s.buffer = state_; break;
            case value_kind::let: s.kind = stmt_kind::let, s.value = converted(v_.index(v)[0]); break;
            case value_kind::select: s.kind = stmt_kind::select; break;
            default: break;
        }
        if (x.kind != value_kind::op && x.kind != value_kind::let) s.index = index(v_.index(v));
        std::vector<name_id> args;
        for (const value_id a : operands(v)) args.push_back(names_[a]);
        s.args = body().add_names(args);
        s.name = names_[v] = x.kind == value_kind::load ? fresh("in", loads_) : fresh("v", values_);
        numbers_[v] = next_number_++;
        return body().add(s);
    }
    /// Operands of commutative operators: accumulators, loads, then computed values, each in order of definition.
    std::vector<value_id> operands(value_id v) {
        std::vector<value_id> list(v_.args(v).begin(), v_.args(v).end());
        if (v_.at(v).kind != value_kind::op || !facts(v_.at(v).op).commutative) return list;
        const auto rank = [&](value_id a) {
            const value_kind k = v_.at(a).kind;
            return std::pair(k == value_kind::fold ? 0 : k == value_kind::load ? 1 : 2, numbers_[a]);
        };
        std::stable_sort(list.begin(), list.end(), [&](value_id a, value_id b) { return rank(a) < rank(b); });
        return list;
    }
    stmt_id loop(axis_id a) {
        const std::string own = "a" + std::to_string(axes_++);
        name_id name = no_name;
        if (const axis_id like = alike(a); like != nothing) name = axis_names_[like];
        axis_names_[a] = name != no_name ? name : body().names.intern(own);
        const scope& s = scopes_[a];
        for (const std::uint32_t id : s.items)
            if (items_[id].kind == item_kind::accum) names_[items_[id].what] = fresh("acc", accums_), numbers_[items_[id].what] = next_number_++;
        stmt made{.kind = stmt_kind::loop};
        made.axis.name = axis_names_[a];
        made.axis.extent = converted(v_.axes[a].extent);
        const std::vector<stmt_id> inner = statements(s);
        made.body = body().add_statements(inner);
        return body().add(made);
    }
    /// An earlier loop of the same scope that walks a buffer the same way: one name for one coordinate.
    axis_id alike(axis_id a) {
        if (v_.axes[a].role != axis_role::fold) return nothing;
        const axis_id above = at_.parent(a);
        for (const axis_id other : named_[above])
            if (at_.walks_alike(a, other)) return other;
        named_[above].push_back(a);
        return nothing;
    }

    program_graph& p_;
    value_graph& v_;
    const draft& d_;
    placement at_;
    loop::kernel out_;
    name_id state_ = no_name;
    std::vector<item> items_;
    std::vector<axis_id> loops_, alike_;
    std::map<axis_id, scope> scopes_;
    std::map<axis_id, std::uint32_t> loop_item_;
    std::map<value_id, std::uint32_t> leaf_item_, accum_item_;
    std::map<axis_id, std::vector<axis_id>> named_;
    std::map<axis_id, name_id> axis_names_;
    std::map<value_id, name_id> names_;
    std::map<value_id, std::uint32_t> numbers_;
    std::uint32_t next_number_ = 0;
    int axes_ = 0, loads_ = 0, values_ = 0, accums_ = 0;
};

}  // namespace emmy::loop::fusion
