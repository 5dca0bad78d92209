#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/fold/order.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/impl/builder.ipp>
#include <emmy/loop/infer.hpp>

#include <algorithm>

namespace emmy::kernel::detail {

/// An accumulator of one loop: several Accums of one name are one.
struct running_value {
    loop::stmt_id loop = kernel::none;
    name_id name = no_name;
    loop::op op = loop::op::add;
    dtype type = dtype::none;
    bool seeded = true;        ///< starts at the operator's identity; else goes on from what the name meant before the loop
    bool settled = false, read = false;
};

/// Element types of every value of a body, in the order the interpreter settles them: an accumulator read before its first update
/// counts as f32 (or as what it states), and an integer one that is read while it runs is f32.
class value_types {
public:
    explicit value_types(const loop::kernel& k) : k_(k), b_(k.body) { list(b_.top, kernel::none); }

    std::vector<running_value> accumulators;
    bool real_let(loop::stmt_id s) const { return std::find(real_lets_.begin(), real_lets_.end(), s) != real_lets_.end(); }

private:
    struct meaning {
        name_id name = no_name;
        dtype type = dtype::none;
        std::uint32_t running = kernel::none;
    };
    const meaning* find(name_id n) const {
        for (std::size_t i = scope_.size(); i-- > 0;)
            if (scope_[i].name == n) return &scope_[i];
        return nullptr;
    }
    dtype read(name_id n) {
        const meaning* m = find(n);
        if (m == nullptr) return dtype::i64;
        if (m->running != kernel::none) accumulators[m->running].read = true;
        return m->type;
    }
    void note(expr_id id) {
        if (id == no_expr) return;
        const expr& e = b_.exprs[id];
        if (e.kind == expr_kind::name) read(e.name);
        if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary || e.kind == expr_kind::cast)
            for (expr_id child : {e.a, e.b, e.c})
                if (child != no_expr) note(child);
    }
    void define(name_id n, dtype t) { scope_.push_back({n, t, kernel::none}); }

    static void find_accums(const loop::body& b, loop::run r, bool direct, std::vector<std::pair<loop::stmt_id, bool>>& out) {
        for (loop::stmt_id s : b.statements(r)) {
            if (b.stmts[s].kind == loop::stmt_kind::accum) out.emplace_back(s, direct);
            if (b.stmts[s].kind == loop::stmt_kind::cond) find_accums(b, b.stmts[s].body, false, out), find_accums(b, b.stmts[s].else_body, false, out);
        }
    }

    void list(loop::run r, loop::stmt_id in) {
        for (loop::stmt_id s : b_.statements(r)) one(s, in);
    }
    void one(loop::stmt_id s, loop::stmt_id in) {
        const loop::stmt& st = b_.stmts[s];
        switch (st.kind) {
            case loop::stmt_kind::loop:
            case loop::stmt_kind::strided_loop: {
                for (expr_id e : {st.value, st.step, st.end}) note(e);
                const std::size_t mark = scope_.size();
                std::vector<std::pair<loop::stmt_id, bool>> found;
                find_accums(b_, st.body, true, found);
                std::stable_partition(found.begin(), found.end(), [](const auto& x) { return x.second; });
                const std::size_t first = accumulators.size();
                for (const auto& [a, direct] : found) {
                    const loop::stmt& acc = b_.stmts[a];
                    if (std::any_of(accumulators.begin() + static_cast<std::ptrdiff_t>(first), accumulators.end(), [&](const running_value& x) { return x.name == acc.name; })) continue;
                    accumulators.push_back({s, acc.name, acc.op, acc.type, st.seed && direct, false, false});
                }
                const std::size_t last = accumulators.size();
                define(st.axis.name, dtype::i64);
                for (std::size_t i = first; i < last; ++i)
                    scope_.push_back({accumulators[i].name, accumulators[i].type == dtype::none ? dtype::f32 : accumulators[i].type, static_cast<std::uint32_t>(i)});
                list(st.body, s);
                scope_.resize(mark);
                for (std::size_t i = first; i < last; ++i) {
                    running_value& x = accumulators[i];
                    if (x.type == dtype::none) x.type = dtype::f32;
                    define(x.name, x.type);
                }
                return;
            }
            case loop::stmt_kind::cond: {
                note(st.value);
                for (loop::run r : {st.body, st.else_body}) {
                    const std::size_t mark = scope_.size();
                    list(r, in);
                    scope_.resize(mark);
                }
                return;
            }
            case loop::stmt_kind::load: {
                for (expr_id e : b_.expressions(st.index)) note(e);
                const loop::buffer* from = fold::find_buffer(k_, st.buffer);
                const dtype t = st.type != dtype::none ? st.type : from != nullptr ? from->type : dtype::f32;
                if (st.names.count == 0) return define(st.name, t);
                for (name_id n : b_.name_list(st.names)) define(n, t);
                return;
            }
            case loop::stmt_kind::assign: {
                std::vector<dtype> types;
                const auto args = b_.name_list(st.args);
                for (name_id n : args) types.push_back(read(n));
                return define(st.name, st.type != dtype::none ? st.type : loop::infer_assign(st.op, types, args.size() == 2 && args[0] == args[1]));
            }
            case loop::stmt_kind::select: {
                std::vector<dtype> types;
                for (name_id n : b_.name_list(st.args)) types.push_back(read(n));
                for (expr_id e : b_.expressions(st.index)) note(e);
                return define(st.name, loop::infer_select(types));
            }
            case loop::stmt_kind::let: {
                note(st.value);
                const bool real = loop::is_real(b_.exprs, st.value, [&](name_id n) { const meaning* m = find(n); return m != nullptr && !reads_as_integer(m->type); });
                if (real) real_lets_.push_back(s);
                return define(st.name, loop::infer_let(st.type, real));
            }
            case loop::stmt_kind::init: return define(st.name, st.type);
            case loop::stmt_kind::pre: return define(st.name, dtype::f32);
            case loop::stmt_kind::accum: {
                const dtype value = read(b_.name_list(st.args)[0]);
                if (st.base != no_name) read(st.base);
                for (std::size_t i = scope_.size(); i-- > 0;) {
                    if (scope_[i].name != st.name || scope_[i].running == kernel::none) continue;
                    running_value& x = accumulators[scope_[i].running];
                    if (!x.settled) {
                        if (x.type == dtype::none) {
                            x.type = loop::infer_accum(st.op, value);
                            if (reads_as_integer(x.type) && x.read) x.type = dtype::f32;
                        }
                        x.settled = true;
                    }
                    scope_[i].type = x.type;
                    return;
                }
                return;
            }
            case loop::stmt_kind::write:
            case loop::stmt_kind::carry:
                for (name_id n : b_.name_list(st.args)) read(n);
                for (expr_id e : b_.expressions(st.index)) note(e);
                return;
            default: return;
        }
    }

    const loop::kernel& k_;
    const loop::body& b_;
    std::vector<meaning> scope_;
    std::vector<loop::stmt_id> real_lets_;
};

/// The simple lowering, for what has no fold tree: statement after statement, one cell at a time, in the body's order. Outer free loops
/// are dealt to the team; what must run in order (a state carried by an outermost loop, atomic sums) runs on one member.
class ordered_plan : public arithmetic {
public:
    ordered_plan(const fork::cpu_part& part, const fork::cpu_row& row, program& p) : arithmetic(part.kernel, p), b_(part.kernel.body), row_(row), types_(part.kernel), order_(part.kernel.body) {
        for (const fold::carried_state& x : order_.states()) states_.push_back({x, kernel::none, kernel::none, b_.stmts[x.carry].type == dtype::none ? dtype::f32 : b_.stmts[x.carry].type});
    }
    using arithmetic::add;
    using arithmetic::loop;

    void build() {
        block& top = new_block();
        if (order_.alone()) {
            block& body = new_block();
            for (const loop::buffer& out : k_.outputs)
                if (std::any_of(b_.stmts.begin(), b_.stmts.end(), [&](const loop::stmt& s) { return s.kind == loop::stmt_kind::write && s.atomic && s.buffer == out.name; })) zero(body, out);
            list(b_.top, body);
            one_member(top, body);
        } else {
            shared_list(b_.top, top);
        }
        p_.body.insert(p_.body.end(), top.nodes.begin(), top.nodes.end());
    }

private:
    struct state : fold::carried_state {
        memory_id previous = kernel::none, next = kernel::none;
        dtype type = dtype::f32;
    };
    struct meaning {
        name_id name = no_name;
        value_id value = kernel::none;
        expr_id axis = no_expr;
    };

    // ---- what runs where
    void one_member(block& where, block& body) {
        add(where, {.kind = node_kind::team, .var = fresh("item"), .end = num(1), .how = deal::runs, .body = std::move(body.nodes)});
    }

    /// The outermost statements: free loops that write are dealt; other statements that write run on one member; the rest on all.
    void shared_list(loop::run r, block& where) {
        for (loop::stmt_id s : b_.statements(r)) {
            if (!order_.writes(s)) {
                one(s, where);
            } else if (order_.is_free(s)) {
                dealt(s, where);
            } else {
                block& body = new_block();
                one(s, body);
                one_member(where, body);
            }
        }
    }
    void dealt(loop::stmt_id s, block& where) {
        std::vector<loop::stmt_id> chain{s};
        std::int64_t cells = b_.stmts[s].axis.extent.kind == dim::form::number ? b_.stmts[s].axis.extent.number : 64;
        while (cells < 256) {
            const auto inner = b_.statements(b_.stmts[chain.back()].body);
            if (inner.empty() || b_.stmts[inner.back()].kind != loop::stmt_kind::loop || !order_.is_free(inner.back())) break;
            if (std::any_of(inner.begin(), inner.end() - 1, [&](loop::stmt_id x) { return order_.writes(x) || b_.stmts[x].body.count != 0; })) break;
            chain.push_back(inner.back());
            const dim& d = b_.stmts[inner.back()].axis.extent;
            cells *= d.kind == dim::form::number ? d.number : 64;
        }
        const std::size_t mark = scope_.size();
        const name_id item = fresh("item");
        expr_id total = num(1);
        for (loop::stmt_id l : chain) total = mul(total, size_of(b_.stmts[l].axis.extent));
        block &body = new_block(), &deal_body = new_block();
        const std::int64_t n = row_.work.form == knob::work_form::threads ? row_.work.n : 1;
        const name_id cell = n > 1 ? fresh("i") : item;
        node tile{.kind = node_kind::tile};
        expr_id flat = p_.exprs.name(cell);
        std::vector<name_id> coordinates(chain.size());
        for (std::size_t i = chain.size(); i-- > 0;) {
            coordinates[i] = fresh("c");
            const expr_id extent = size_of(b_.stmts[chain[i]].axis.extent);
            tile.bind.emplace_back(coordinates[i], i == 0 ? flat : mod(flat, extent));
            if (i > 0) flat = div(flat, extent);
        }
        for (std::size_t i = 0; i < chain.size(); ++i) {
            define_axis(b_.stmts[chain[i]].axis.name, p_.exprs.name(coordinates[i]));
            const auto inner = b_.statements(b_.stmts[chain[i]].body);
            for (loop::stmt_id x : inner)
                if (i + 1 == chain.size() || x != chain[i + 1]) one(x, body);
        }
        scope_.resize(mark);
        tile.body = std::move(body.nodes);
        node team{.kind = node_kind::team, .var = item, .end = n > 1 ? ceil_div(total, n) : total, .how = n > 1 ? deal::rounds : deal::runs};
        if (n > 1) {
            block& loop_body = new_block();
            add(loop_body, std::move(tile));
            const expr_id first = mul(p_.exprs.name(item), num(n));
            loop(deal_body, cell, first, divides(n, total) ? arithmetic::add(first, num(n)) : min(arithmetic::add(first, num(n)), total), 1, loop_body);
        } else {
            add(deal_body, std::move(tile));
        }
        team.body = std::move(deal_body.nodes);
        add(where, std::move(team));
    }

    // ---- names and expressions
    void define(name_id n, value_id v) { scope_.push_back({n, v, no_expr}); }
    void define_axis(name_id n, expr_id e) { scope_.push_back({n, kernel::none, e}); }
    const meaning* find(name_id n) const {
        for (std::size_t i = scope_.size(); i-- > 0;)
            if (scope_[i].name == n) return &scope_[i];
        return nullptr;
    }
    value_id value_named(name_id n) const {
        const meaning* m = find(n);
        return m == nullptr ? kernel::none : m->value;
    }
    expr_id translate(expr_id id) {
        const expr e = b_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return num(e.integer);
            case expr_kind::real: return p_.exprs.real(e.real());
            case expr_kind::name: {
                const meaning* m = find(e.name);
                if (m == nullptr) return symbol(e.name);
                return m->axis != no_expr ? m->axis : name("v" + std::to_string(m->value));
            }
            case expr_kind::binary: {
                const expr_id a = translate(e.a), b = translate(e.b);
                return combined(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = translate(e.a), b = translate(e.b), c = translate(e.c);
                return p_.exprs.ternary(a, b, c);
            }
            case expr_kind::cast: return cast(e.name, translate(e.a));
            default: return num(0);
        }
    }
    expr_id size_of(const dim& d) { return d.kind == dim::form::expression ? translate(d.value) : size(d); }
    expr_id offset(const loop::stmt& st, std::span<const dim> shape) {
        expr_id out = num(0), stride = num(1);
        const auto index = b_.expressions(st.index);
        for (std::size_t i = index.size(); i-- > 0;) {
            out = arithmetic::add(out, mul(translate(index[i]), stride));
            if (i > 0) stride = mul(stride, size_of(shape[i]));
        }
        return out;
    }

    // ---- statements
    void list(loop::run r, block& where) {
        for (loop::stmt_id s : b_.statements(r)) one(s, where);
    }
    value_id converted(block& where, value_id v, dtype t) { return facts(v).type == t ? v : apply(where, loop::op::copy, {v}, t); }

    void one(loop::stmt_id s, block& where) {
        const loop::stmt& st = b_.stmts[s];
        switch (st.kind) {
            case loop::stmt_kind::loop:
            case loop::stmt_kind::strided_loop: return nested(s, where);
            case loop::stmt_kind::cond: {
                const expr_id condition = translate(st.value);
                block &then = new_block(), &otherwise = new_block();
                const std::size_t mark = scope_.size();
                list(st.body, then);
                scope_.resize(mark);
                list(st.else_body, otherwise);
                scope_.resize(mark);
                return guard(where, condition, then, &otherwise);
            }
            case loop::stmt_kind::load: {
                const loop::buffer* from = fold::find_buffer(k_, st.buffer);
                const dtype t = st.type != dtype::none ? st.type : from->type;
                const expr_id at = offset(st, from->shape);
                const auto names = b_.name_list(st.names);
                for (std::size_t i = 0; i < std::max<std::size_t>(1, names.size()); ++i) {
                    node n{.kind = node_kind::load, .memory = memory_of(st.buffer), .at = arithmetic::add(at, num(static_cast<std::int64_t>(i)))};
                    define(names.empty() ? st.name : names[i], pure(where, std::move(n), t, 1));
                }
                return;
            }
            case loop::stmt_kind::assign: {
                std::vector<value_id> args;
                std::vector<dtype> types;
                for (name_id n : b_.name_list(st.args)) args.push_back(value_named(n)), types.push_back(facts(args.back()).type);
                const dtype t = st.type != dtype::none ? st.type : loop::infer_assign(st.op, types, args.size() == 2 && args[0] == args[1]);
                return define(st.name, apply(where, st.op, std::move(args), t));
            }
            case loop::stmt_kind::select: {
                std::vector<value_id> branches;
                std::vector<dtype> types;
                for (name_id n : b_.name_list(st.args)) branches.push_back(value_named(n)), types.push_back(facts(branches.back()).type);
                const dtype t = loop::infer_select(types);
                const auto tests = b_.expressions(st.index);
                value_id out = apply(where, loop::op::copy, {branches.back()}, t);
                for (std::size_t i = branches.size() - 1; i-- > 0;)
                    out = pure(where, {.kind = node_kind::assign, .args = {converted(where, branches[i], t), out}, .condition = translate(tests[i])}, t, 1);
                return define(st.name, out);
            }
            case loop::stmt_kind::let: {
                const dtype computed = types_.real_let(s) ? dtype::f32 : dtype::i64, t = loop::infer_let(st.type, computed == dtype::f32);
                const expr& e = b_.exprs[st.value];
                if (e.kind == expr_kind::real) return define(st.name, pure(where, {.kind = node_kind::assign, .number = e.real()}, t == dtype::f64 || t == dtype::f32 ? t : dtype::f32, 1)), retype(where, t);
                define(st.name, pure(where, {.kind = node_kind::assign, .at = translate(st.value)}, computed, 1));
                return retype(where, t);
            }
            case loop::stmt_kind::init: {
                const value_id v = start(where, st.type, 1, reads_as_integer(st.type) ? static_cast<double>(real_to_integer(st.type, st.seed_number)) : round_to(st.type, st.seed_number));
                return define(st.name, v);
            }
            case loop::stmt_kind::accum: return accum(st, where);
            case loop::stmt_kind::write: return write(st, where);
            case loop::stmt_kind::pre: {
                const state& x = state_named(st.buffer);
                define(st.name, pure(where, {.kind = node_kind::load, .memory = x.previous, .at = offset(st, shape_of(x))}, p_.memories[x.previous].type, 1));
                return;
            }
            case loop::stmt_kind::carry: {
                const state& x = state_named(st.name);
                const value_id v = converted(where, value_named(b_.name_list(st.args)[0]), x.type);
                return store(where, x.next, offset(st, shape_of(x)), v, 1);
            }
            default: return;
        }
    }
    void retype(block& where, dtype t) { scope_.back().value = converted(where, scope_.back().value, t); }

    void accum(const loop::stmt& st, block& where) {
        const value_id acc = value_named(st.name), v = value_named(b_.name_list(st.args)[0]);
        const value_id base = st.base != no_name ? value_named(st.base) : acc;
        const dtype t = facts(acc).type;
        if (st.base == no_name && t == dtype::f32 && st.op == loop::op::add && facts(v).type != dtype::f64 && !reads_as_integer(facts(v).type)) return update(where, acc, loop::op::add, {v});
        update(where, acc, loop::op::none, {apply(where, st.op, {converted(where, base, t), converted(where, v, t)}, t)});
    }
    void write(const loop::stmt& st, block& where) {
        const loop::buffer* to = fold::find_buffer(k_, st.buffer);
        const memory_id m = memory_of(st.buffer);
        const expr_id at = offset(st, to->shape);
        const auto names = b_.name_list(st.args);
        for (std::size_t i = 0; i < names.size(); ++i) {
            value_id v = value_named(names[i]);
            if (st.type != dtype::none) v = converted(where, v, st.type);
            const expr_id place = arithmetic::add(at, num(static_cast<std::int64_t>(i)));
            if (st.atomic) {
                const value_id before = pure(where, {.kind = node_kind::load, .memory = m, .at = place}, to->type, 1);
                v = apply(where, loop::op::add, {converted(where, before, dtype::f32), converted(where, v, dtype::f32)}, dtype::f32);
            }
            store(where, m, place, v, 1);
        }
    }
    void zero(block& where, const loop::buffer& out) {
        expr_id count = num(1);
        for (const dim& d : out.shape) count = mul(count, size_of(d));
        block& body = new_block();
        const name_id i = fresh("i");
        store(body, memory_of(out.name), p_.exprs.name(i), pure(body, {.kind = node_kind::assign, .number = 0}, dtype::f32, 1), 1);
        loop(where, i, num(0), count, 1, body);
    }

    // ---- loops and states
    std::vector<dim> shape_of(const state& x) const {
        std::vector<dim> out;
        for (const loop::axis& a : x.cells) {
            out.push_back(a.extent);
            if (a.name == no_name) out.back() = dim{.number = 1};
        }
        return out;
    }
    const state& state_named(name_id n) const {
        for (const state& x : states_)
            if (b_.stmts[x.carry].name == n) return x;
        return states_.front();
    }
    void every_cell(block& where, const state& x, const auto& make) {
        expr_id count = num(1);
        for (const dim& d : shape_of(x)) count = mul(count, size_of(d));
        block& body = new_block();
        const name_id i = fresh("i");
        make(body, p_.exprs.name(i));
        loop(where, i, num(0), count, 1, body);
    }
    memory_id state_slab(block& where, const state& x) {
        const memory_id m = slab(where, space::part_slab, 1);
        memory& slot = p_.memories[m];
        slot.type = x.type == dtype::f64 ? dtype::f64 : dtype::f32;
        for (const dim& d : shape_of(x)) {
            if (d.kind == dim::form::number) slot.elements *= static_cast<std::uint64_t>(d.number);
            else
                for (std::uint32_t i = 0; i < p_.symbols.size(); ++i)
                    if (p_.symbols[i] == b_.text(d.symbol)) slot.symbols.push_back(i);
        }
        return m;
    }
    void nested(loop::stmt_id s, block& where) {
        const loop::stmt& st = b_.stmts[s];
        const std::size_t mark = scope_.size();
        const name_id var = fresh("i");
        expr_id begin = num(0), end = size_of(st.axis.extent), step = num(1);
        if (st.kind == loop::stmt_kind::strided_loop) {
            begin = translate(st.value), step = translate(st.step);
            if (st.end != no_expr) end = translate(st.end);
            std::int64_t x = 0;
            if (!is_num(step, x)) step = p_.exprs.ternary(less(step, num(1)), num(1), step);
        }
        std::vector<std::pair<name_id, value_id>> running;
        for (const running_value& x : types_.accumulators) {
            if (x.loop != s) continue;
            value_id v = kernel::none;
            const double seed = loop::facts(x.op).identity;
            if (x.seeded) v = start(where, x.type, 1, reads_as_integer(x.type) ? static_cast<double>(real_to_integer(x.type, seed)) : round_to(x.type, seed));
            else v = start_as(where, converted(where, value_named(x.name), x.type));
            running.emplace_back(x.name, v);
        }
        for (state& x : states_) {
            if (x.loop != s) continue;
            x.previous = state_slab(where, x), x.next = state_slab(where, x);
            const loop::stmt& carry = b_.stmts[x.carry];
            every_cell(where, x, [&](block& b, expr_id i) {
                value_id v = kernel::none;
                if (carry.seed_is_buffer) v = pure(b, {.kind = node_kind::load, .memory = memory_of(carry.buffer), .at = i}, fold::find_buffer(k_, carry.buffer)->type, 1);
                else v = pure(b, {.kind = node_kind::assign, .number = carry.seed_number}, dtype::f32, 1);
                v = converted(b, v, x.type);
                store(b, x.previous, i, v, 1), store(b, x.next, i, v, 1);
            });
        }
        block& body = new_block();
        define_axis(st.axis.name, p_.exprs.name(var));
        for (const auto& [n, v] : running) define(n, v);
        list(st.body, body);
        for (const state& x : states_)
            if (x.loop == s) every_cell(body, x, [&](block& b, expr_id i) { store(b, x.previous, i, pure(b, {.kind = node_kind::load, .memory = x.next, .at = i}, p_.memories[x.next].type, 1), 1); });
        add(where, {.kind = node_kind::loop, .var = var, .begin = begin, .end = end, .step = step, .body = std::move(body.nodes)});
        scope_.resize(mark);
        for (const auto& [n, v] : running) define(n, v);
    }

    const loop::body& b_;
    const fork::cpu_row& row_;
    value_types types_;
    fold::body_order order_;
    std::vector<state> states_;
    std::vector<meaning> scope_;
};

}  // namespace emmy::kernel::detail
