#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/fold/access.hpp>
#include <emmy/fold/tree.hpp>
#include <emmy/kernel/ir.hpp>
#include <emmy/kernel/print_cpu.hpp>
#include <emmy/loop/dims.hpp>
#include <emmy/loop/infer.hpp>
#include <emmy/loop/op_table.hpp>

#include <deque>
#include <map>
#include <span>
#include <utility>

namespace emmy::kernel::detail {

/// A list of nodes under construction, and the pure values it already computes.
struct block {
    std::vector<node_id> nodes;
    std::map<std::string, value_id> known;
};

/// Where values are computed: coordinates for some axes on top of an outer point, and the block that takes the code. A value goes to the
/// outermost point that binds all axes it varies with, so what does not change in a loop is computed before it.
struct point {
    point* up = nullptr;
    block* where = nullptr;
    std::vector<std::pair<std::uint32_t, expr_id>> coordinates;
    fold::axis_set own = 0;
    std::uint32_t lane_axis = kernel::none;  ///< this axis stands for `lanes` neighbours
    int lanes = 1;
    std::map<fold::value_id, value_id> values;
};

/// A program with the memories and symbols of a kernel and no code yet.
inline program empty_program(const loop::kernel& k) {
    program p;
    for (const auto* list : {&k.inputs, &k.outputs})
        for (const loop::buffer& b : *list) p.memories.push_back({list == &k.inputs ? space::input : space::output, b.type, std::string(k.body.text(b.name)), 0, {}});
    for (name_id s : loop::symbols(k)) p.symbols.emplace_back(k.body.text(s));
    p.entry = "emmy_kernel";
    return p;
}

/// Index arithmetic and nodes of a program that several builders may add to.
class arithmetic {
public:
    arithmetic(const loop::kernel& k, program& p) : k_(k), p_(p) {
        for (const auto* list : {&k.inputs, &k.outputs})
            for (const loop::buffer& b : *list)
                for (memory_id m = 0; m < p.memories.size(); ++m)
                    if (p.memories[m].name == k.body.text(b.name)) memory_of_.emplace_back(b.name, m);
        for (name_id s : loop::symbols(k))
            for (std::size_t i = 0; i < p.symbols.size(); ++i)
                if (p.symbols[i] == k.body.text(s)) symbol_names_.emplace_back(s, p.names.intern("n" + std::to_string(i)));
    }

    // Index arithmetic, folded where constant.
    expr_id num(std::int64_t x) { return p_.exprs.integer(x); }
    expr_id name(std::string_view text) { return p_.exprs.name(p_.names.intern(text)); }
    name_id fresh(std::string_view stem) { return p_.names.intern(std::string(stem) + std::to_string(p_.counter++)); }
    bool is_num(expr_id e, std::int64_t& x) const {
        if (p_.exprs[e].kind != expr_kind::integer) return false;
        x = p_.exprs[e].integer;
        return true;
    }
    expr_id add(expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        const bool p = is_num(a, x), q = is_num(b, y);
        if (p && q) return num(x + y);
        if (p && x == 0) return b;
        if (q && y == 0) return a;
        return p_.exprs.binary(binary_op::add, a, b);
    }
    expr_id sub(expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        const bool p = is_num(a, x), q = is_num(b, y);
        if (p && q) return num(x - y);
        if (q && y == 0) return a;
        if (a == b) return num(0);
        return p_.exprs.binary(binary_op::subtract, a, b);
    }
    expr_id mul(expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        const bool p = is_num(a, x), q = is_num(b, y);
        if (p && q) return num(x * y);
        if ((p && x == 0) || (q && y == 0)) return num(0);
        if (p && x == 1) return b;
        if (q && y == 1) return a;
        return p_.exprs.binary(binary_op::multiply, a, b);
    }
    expr_id div(expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        const bool p = is_num(a, x), q = is_num(b, y);
        if (p && q && y > 0 && x >= 0) return num(x / y);
        if (q && y == 1) return a;
        return p_.exprs.binary(binary_op::divide, a, b);
    }
    expr_id mod(expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        const bool p = is_num(a, x), q = is_num(b, y);
        if (p && q && y > 0 && x >= 0) return num(x % y);
        if (q && y == 1) return num(0);
        return p_.exprs.binary(binary_op::remainder, a, b);
    }
    /// Never below zero, as far as that is plain: numbers, sizes, coordinates and what sums, products and quotients keep. Values of the kernel may be.
    bool not_negative(expr_id id) const {
        const expr& e = p_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer: return e.integer >= 0;
            case expr_kind::name: return p_.names.text(e.name).front() != 'v';
            case expr_kind::binary: return (e.op == binary_op::add || e.op == binary_op::multiply || e.op == binary_op::divide || e.op == binary_op::remainder) && not_negative(e.a) && not_negative(e.b);
            case expr_kind::ternary: return not_negative(e.b) && not_negative(e.c);
            default: return false;
        }
    }
    /// A binary operator of a body: quotients and remainders go down, whatever the signs.
    expr_id combined(binary_op op, expr_id a, expr_id b) {
        switch (op) {
            case binary_op::add: return add(a, b);
            case binary_op::subtract: return sub(a, b);
            case binary_op::multiply: return mul(a, b);
            case binary_op::divide:
            case binary_op::floor_divide:
            case binary_op::remainder: {
                const bool quotient = op != binary_op::remainder;
                std::int64_t divisor = 0;
                if (is_num(b, divisor) && divisor > 0 && not_negative(a)) return quotient ? div(a, b) : mod(a, b);
                const expr_id both_args[] = {a, b};
                return p_.exprs.call(p_.names.intern(quotient ? "floor_div_1" : "floor_mod_1"), both_args);
            }
            case binary_op::shift_left:
            case binary_op::shift_right: return p_.exprs.binary(op, a, p_.exprs.binary(binary_op::bit_and, b, num(63)));
            default: return p_.exprs.binary(op, a, b);
        }
    }
    /// A cast of a body: whole numbers stay what they are, reals are truncated.
    expr_id cast(name_id type, expr_id a) {
        const dtype to = dtype_from_alias(k_.body.text(type));
        return p_.exprs.cast(p_.names.intern(to == dtype::none ? "bool" : reads_as_integer(to) ? "long long" : to == dtype::f64 ? "double" : "float"), a);
    }
    expr_id less(expr_id a, expr_id b) { return p_.exprs.binary(binary_op::less, a, b); }
    expr_id at_most(expr_id a, expr_id b) { return p_.exprs.binary(binary_op::less_equal, a, b); }
    expr_id both(expr_id a, expr_id b) { return a == no_expr ? b : b == no_expr ? a : p_.exprs.binary(binary_op::logical_and, a, b); }
    expr_id min(expr_id a, expr_id b) {
        std::int64_t x = 0, y = 0;
        if (is_num(a, x) && is_num(b, y)) return num(x < y ? x : y);
        return p_.exprs.ternary(less(a, b), a, b);
    }
    expr_id ceil_div(expr_id a, std::int64_t b) { return div(add(a, num(b - 1)), num(b)); }
    /// a is provably a multiple of b.
    bool divides(std::int64_t b, expr_id a) const {
        std::int64_t x = 0;
        return b == 1 || (is_num(a, x) && x % b == 0);
    }
    expr_id whole(expr_id a, std::int64_t b) { return sub(a, mod(a, num(b))); }  ///< a rounded down to a multiple of b

    expr_id symbol(name_id s) {
        for (const auto& [from, to] : symbol_names_)
            if (from == s) return p_.exprs.name(to);
        return num(default_hint);
    }
    expr_id size(const dim& d) { return d.kind == dim::form::number ? num(d.number) : symbol(d.symbol); }

    // Nodes.
    block& new_block() { return blocks_.emplace_back(); }
    node_id add(block& b, node n) {
        p_.nodes.push_back(std::move(n));
        b.nodes.push_back(static_cast<node_id>(p_.nodes.size() - 1));
        return b.nodes.back();
    }
    value_id new_value(dtype type, int lanes, block& home, bool accumulator = false) {
        p_.values.push_back({type, lanes, accumulator});
        homes_.resize(p_.values.size(), nullptr);
        homes_.back() = &home;
        return static_cast<value_id>(p_.values.size() - 1);
    }
    value_id pure(block& b, node n, dtype type, int lanes) {
        std::string key = std::to_string(static_cast<int>(n.kind)) + "," + std::to_string(static_cast<int>(n.op)) + "," + std::to_string(static_cast<int>(type)) + "," +
                          std::to_string(lanes) + "," + std::to_string(n.memory) + "," + std::to_string(n.at) + "," + std::to_string(n.stride) + "," + std::to_string(n.condition) + "," +
                          std::to_string(std::bit_cast<std::uint64_t>(n.number));
        bool stable = true;
        for (value_id a : n.args) key += "," + std::to_string(a), stable = stable && !p_.values[a].accumulator;
        if (n.memory != kernel::none) stable = stable && is_input(n.memory);
        stable = stable && is_stable(n.at) && is_stable(n.condition);
        if (stable)
            if (const auto found = b.known.find(key); found != b.known.end()) return found->second;
        n.dst = new_value(type, lanes, b);
        n.lanes = lanes;
        const value_id out = n.dst;
        add(b, std::move(n));
        if (stable) b.known.emplace(std::move(key), out);
        return out;
    }
    bool is_input(memory_id m) const {
        for (const loop::buffer& b : k_.inputs)
            if (p_.memories[m].name == k_.body.text(b.name)) return true;
        return false;
    }
    /// Names no accumulator.
    bool is_stable(expr_id id) const {
        if (id == no_expr) return true;
        const expr& e = p_.exprs[id];
        if (e.kind == expr_kind::name) {
            const std::string_view text = p_.names.text(e.name);
            if (text.front() != 'v') return true;
            std::size_t v = 0;
            for (char c : text.substr(1)) v = v * 10 + static_cast<std::size_t>(c - '0');
            return v >= p_.values.size() || !p_.values[v].accumulator;
        }
        if (e.kind == expr_kind::call) {
            for (expr_id a : p_.exprs.args(e))
                if (!is_stable(a)) return false;
            return true;
        }
        if (e.kind == expr_kind::binary) return is_stable(e.a) && is_stable(e.b);
        if (e.kind == expr_kind::ternary) return is_stable(e.a) && is_stable(e.b) && is_stable(e.c);
        return e.kind != expr_kind::cast || is_stable(e.a);
    }
    value_id literal(block& b, double x) { return pure(b, {.kind = node_kind::assign, .number = x}, dtype::f32, 1); }
    value_id apply(block& b, loop::op o, std::vector<value_id> args, dtype type = dtype::f32) {
        int lanes = 1;
        for (value_id a : args) lanes = std::max(lanes, p_.values[a].lanes);
        return pure(b, {.kind = node_kind::assign, .op = o, .args = std::move(args)}, type, lanes);
    }
    value_id load(block& b, memory_id m, expr_id at, int lanes) { return pure(b, {.kind = node_kind::load, .memory = m, .at = at}, dtype::f32, lanes); }
    void store(block& b, memory_id m, expr_id at, value_id v, int lanes, bool streaming = false) {
        add(b, {.kind = node_kind::write, .args = {v}, .streaming = streaming, .memory = m, .at = at, .lanes = lanes});
    }
    value_id start(block& b, dtype type, int lanes, double x) {
        const value_id v = new_value(type, lanes, b, true);
        add(b, {.kind = node_kind::accum, .dst = v, .number = x, .first = true, .lanes = lanes});
        return v;
    }
    value_id start_as(block& b, value_id from) {
        const value_id v = new_value(p_.values[from].type, p_.values[from].lanes, b, true);
        add(b, {.kind = node_kind::accum, .dst = v, .args = {from}, .first = true, .lanes = p_.values[from].lanes});
        return v;
    }
    void update(block& b, value_id acc, loop::op o, std::vector<value_id> args) { add(b, {.kind = node_kind::accum, .op = o, .dst = acc, .args = std::move(args), .lanes = p_.values[acc].lanes}); }
    void loop(block& b, name_id var, expr_id begin, expr_id end, std::int64_t step, block& body) {
        std::int64_t x = 0, y = 0;
        if (is_num(begin, x) && is_num(end, y) && x >= y) return;
        add(b, {.kind = node_kind::loop, .var = var, .begin = begin, .end = end, .step = num(step), .body = std::move(body.nodes)});
    }
    void guard(block& b, expr_id condition, block& body, block* otherwise = nullptr) {
        node n{.kind = node_kind::guard, .condition = condition, .body = std::move(body.nodes)};
        if (otherwise != nullptr) n.otherwise = std::move(otherwise->nodes);
        add(b, std::move(n));
    }
    memory_id slab(block& b, space where, std::uint64_t elements) {
        memory_id id = kernel::none;
        if (p_.slabs_in_use < p_.part_slabs.size()) {
            id = p_.part_slabs[p_.slabs_in_use];
            p_.memories[id].elements = std::max(p_.memories[id].elements, elements);
        } else {
            p_.memories.push_back({where, dtype::f32, {}, elements, {}});
            id = static_cast<memory_id>(p_.memories.size() - 1);
            p_.part_slabs.push_back(id);
        }
        ++p_.slabs_in_use;
        add(b, {.kind = node_kind::slab, .memory = id});
        return id;
    }

    memory_id memory_of(name_id buffer) const {
        for (const auto& [n, m] : memory_of_)
            if (n == buffer) return m;
        return kernel::none;
    }

    const value& facts(value_id v) const { return p_.values[v]; }

protected:
    const loop::kernel& k_;
    program& p_;
    std::deque<block> blocks_;
    std::vector<block*> homes_;
    std::vector<std::pair<name_id, memory_id>> memory_of_;
    std::vector<std::pair<name_id, name_id>> symbol_names_;
};

/// Builds programs from a fold tree: the value of any statement at any point, on demand.
class builder : public arithmetic {
public:
    builder(const loop::kernel& k, const fold::tree& t, program& p) : arithmetic(k, p), t_(t) {}

    expr_id extent(std::uint32_t axis) { return size(t_.axes[axis].extent); }
    point& new_point(point* up, block& where) {
        point& p = points_.emplace_back();
        p.up = up, p.where = &where;
        return p;
    }
    void bind(point& p, std::uint32_t axis, expr_id at, int lanes = 1) {
        p.coordinates.emplace_back(axis, at);
        p.own |= fold::axis_set{1} << axis;
        if (lanes > 1) p.lane_axis = axis, p.lanes = lanes;
    }

    // Values.
    int lanes_of(fold::value_id v, const point& p) const {
        fold::axis_set nearer = 0;  // bound again by a nearer point
        for (const point* q = &p; q != nullptr; q = q->up) {
            if (q->lanes > 1 && (nearer >> q->lane_axis & 1) == 0 && (t_.depends[v] >> q->lane_axis & 1) != 0) return q->lanes;
            nearer |= q->own;
        }
        return 1;
    }
    expr_id coordinate(std::uint32_t axis, const point& p) {
        for (const point* q = &p; q != nullptr; q = q->up)
            for (const auto& [a, e] : q->coordinates)
                if (a == axis) return e;
        return num(0);
    }
    std::uint32_t axis_named(name_id n) const {
        for (std::uint32_t i = 0; i < t_.axes.size(); ++i)
            if (t_.axes[i].name == n) return i;
        return kernel::none;
    }
    /// The axis that vectors of a point run along.
    std::uint32_t lane_axis(const point& p) const {
        fold::axis_set nearer = 0;
        for (const point* q = &p; q != nullptr; q = q->up) {
            if (q->lanes > 1 && (nearer >> q->lane_axis & 1) == 0) return q->lane_axis;
            nearer |= q->own;
        }
        return kernel::none;
    }
    /// An expression of the body at a point. With `lanes`, the lane axis stands for all its coordinates: the name `lane` counts them.
    expr_id translate(fold::value_id s, expr_id id, point& p, bool lanes = false) {
        const expr e = k_.body.exprs[id];
        switch (e.kind) {
            case expr_kind::integer: return num(e.integer);
            case expr_kind::boolean: return num(e.integer);
            case expr_kind::name: {
                for (const auto& [n, v] : t_.gathers[s])
                    if (n == e.name) return name("v" + std::to_string(value_of(v, p)));
                const std::uint32_t axis = axis_named(e.name);
                const expr_id at = coordinate(axis, p);
                return lanes && axis == lane_axis(p) ? p_.exprs.binary(binary_op::add, at, name("lane")) : at;
            }
            case expr_kind::binary: {
                const expr_id a = translate(s, e.a, p, lanes), b = translate(s, e.b, p, lanes);
                return combined(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = translate(s, e.a, p, lanes), b = translate(s, e.b, p, lanes);
                return p_.exprs.ternary(a, b, translate(s, e.c, p, lanes));
            }
            case expr_kind::cast: return cast(e.name, translate(s, e.a, p, lanes));
            case expr_kind::real: return p_.exprs.real(e.real());
            default: return num(0);
        }
    }
    /// Row-major element offset of a Load or Write; recomposed where quotient and remainder meet.
    expr_id offset(fold::value_id s, point& p) {
        const loop::stmt& st = k_.body.stmts[s];
        const auto terms = fold::flatten(k_, fold::find_buffer(k_, st.buffer)->shape, k_.body.expressions(st.index));
        expr_id out = num(0);
        for (const fold::offset_term& term : *terms) {
            expr_id x = term.atom == no_expr ? num(term.coefficient) : mul(translate(s, term.atom, p), num(term.coefficient));
            for (name_id symbol_name : term.symbols) x = mul(x, symbol(symbol_name));
            out = add(out, x);
        }
        return out;
    }
    /// Elements between neighbours along the lane axis.
    std::int64_t stride(fold::value_id s, const point& p) {
        const loop::stmt& st = k_.body.stmts[s];
        const auto terms = fold::flatten(k_, fold::find_buffer(k_, st.buffer)->shape, k_.body.expressions(st.index));
        for (const point* q = &p; q != nullptr; q = q->up)
            if (q->lanes > 1) return fold::lane_stride(k_, *terms, t_.axes[q->lane_axis].name, q->lanes).value_or(0);
        return 0;
    }
    /// The value of a statement at a point, computed once.
    value_id value_of(fold::value_id s, point& at) {
        point* p = &at;
        for (point* q = p; q != nullptr; q = q->up) {
            if (const auto found = q->values.find(s); found != q->values.end()) return found->second;
            if ((t_.depends[s] & q->own) != 0) break;
        }
        while (p->up != nullptr && (t_.depends[s] & p->own) == 0) p = p->up;
        if (k_.body.stmts[s].kind == loop::stmt_kind::accum) {
            on_fold(t_.state_of[s], *p);
            return p->values.at(s);
        }
        value_id out = kernel::none;
        if (const int lanes = lanes_of(s, *p); lanes > 1 && is_lane_by_lane(s, lane_axis(*p), lanes)) out = spread(s, *p, lanes);
        else out = compute(s, *p);
        p->values.emplace(s, out);
        return out;
    }

    virtual ~builder() = default;

protected:
    /// Emits a fold at a point and binds its states there.
    virtual void on_fold(fold::term_id term, point& p) = 0;
    virtual bool is_lane_by_lane(fold::value_id s, std::uint32_t axis, int lanes) const = 0;

    /// A vector whose lanes are computed one after another, over a small slab.
    value_id spread(fold::value_id s, point& p, int lanes) {
        block& b = *p.where;
        const std::uint32_t axis = lane_axis(p);
        const memory_id m = slab(b, space::part_slab, 16);
        block& body = new_block();
        const name_id l = fresh("l");
        point& one = new_point(&p, body);
        bind(one, axis, arithmetic::add(coordinate(axis, p), p_.exprs.name(l)));
        store(body, m, p_.exprs.name(l), value_of(s, one), 1);
        loop(b, l, num(0), num(lanes), 1, body);
        return load(b, m, num(0), lanes);
    }

    value_id compute(fold::value_id s, point& p) {
        const loop::stmt& st = k_.body.stmts[s];
        block& b = *p.where;
        const dtype type = t_.types[s];
        switch (st.kind) {
            case loop::stmt_kind::load: {
                const int lanes = lanes_of(s, p);
                node n{.kind = node_kind::load, .memory = memory_of(st.buffer), .at = offset(s, p)};
                int wide = 1;
                if (lanes > 1) {
                    n.stride = stride(s, p);
                    wide = n.stride == 0 ? 1 : lanes;
                    if (n.stride == 0) n.stride = 1;
                }
                return pure(b, std::move(n), type, wide);
            }
            case loop::stmt_kind::let: {
                const expr& e = k_.body.exprs[st.value];
                if (e.kind == expr_kind::real) return pure(b, {.kind = node_kind::assign, .number = e.real()}, type, 1);
                if (e.kind == expr_kind::integer) return pure(b, {.kind = node_kind::assign, .number = static_cast<double>(e.integer)}, type, 1);
                const dtype computed = loop::is_real(k_.body.exprs, st.value, [&](name_id n) { return axis_named(n) == kernel::none; }) ? dtype::f32 : dtype::i64;
                const value_id v = pure(b, {.kind = node_kind::assign, .at = translate(s, st.value, p)}, computed, 1);
                return computed == type ? v : apply(b, loop::op::copy, {v}, type);
            }
            case loop::stmt_kind::select: {
                std::vector<value_id> branches;
                for (fold::value_id v : t_.args[s]) branches.push_back(value_of(v, p));
                const auto tests = k_.body.expressions(st.index);
                value_id out = branches.back();
                for (std::size_t i = branches.size() - 1; i-- > 0;) {
                    int lanes = std::max(p_.values[branches[i]].lanes, p_.values[out].lanes);
                    const std::uint32_t axis = lane_axis(p);
                    const bool by_lane = axis != kernel::none && fold::names(k_.body, tests[i], t_.axes[axis].name);
                    if (by_lane) lanes = lanes_of(s, p);
                    out = pure(b, {.kind = node_kind::assign, .args = {branches[i], out}, .condition = translate(s, tests[i], p, by_lane)}, type, lanes);
                }
                return out;
            }
            default: break;
        }
        std::vector<value_id> args;
        for (fold::value_id v : t_.args[s]) args.push_back(value_of(v, p));
        // One divisor for all lanes: its reciprocal once, where the divisor is known.
        if ((st.op == loop::op::divide || st.op == loop::op::divide_rn_f32) && type == dtype::f32 && p_.values[args[0]].lanes > 1 && p_.values[args[1]].lanes == 1 && !reads_as_integer(p_.values[args[1]].type))
            args.push_back(apply(*homes_[args[1]], loop::op::reciprocal, {args[1]}));
        if (st.op == loop::op::copy && p_.values[args[0]].type == type) return args[0];
        return apply(b, st.op, std::move(args), type);
    }

    const fold::tree& t_;
    std::deque<point> points_;
};

}  // namespace emmy::kernel::detail
