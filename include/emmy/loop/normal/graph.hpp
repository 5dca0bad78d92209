#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/loop/normal/order.hpp>
#include <emmy/loop/op_table.hpp>

#include <bit>
#include <span>
#include <vector>

/// The value graph: a kernel as functions of coordinates, each value once. What normalises, fuses and identifies kernels works on it.
namespace emmy::loop::normal {

using value_id = std::uint32_t;
constexpr value_id no_value = 0xffffffffu;
constexpr std::uint32_t no_place = 0xffffffffu;

enum class value_kind : std::uint8_t {
    load,    ///< buffers[ref][index]; `type` overrides the element type
    op,      ///< op(args), rounded to `type` where it is set; commutative arguments stand in order of their ids
    select,  ///< args[i] of the first i whose index[i] is not 0; the last predicate is always 1
    let,     ///< index[0] as a scalar
    reduce,  ///< fold of args[0] over the axis variable `ref` by `op`, from its identity
    call,    ///< cones[ref] at index (one expression a parameter)
    pre,     ///< states[ref] as the step that is running found it: index = coordinates of the loops around the state, of the step, then the cells
    last     ///< states[ref] after its loop: index = coordinates of the loops around the state, then the cells
};

struct value {
    value_kind kind = value_kind::op;
    loop::op op = loop::op::none;
    dtype type = dtype::none;
    std::uint32_t ref = no_place;
    run args = {}, index = {};  ///< graph::arguments, graph::expressions
};

/// What a `name` expression of the graph stands for: its name_id is a place in graph::variables().
struct variable {
    enum class form : std::uint8_t {
        axis,    ///< a loop coordinate that somebody chose (free axis, axis of a cone, loop of a state)
        bound,   ///< the axis of reductions: one per (extent, window, height), so that equal reductions are one value
        value,   ///< a computed value inside an index (gather): `ref` is the value
        symbol   ///< a symbolic size: `ref` is its text in graph::names
    };
    form kind = form::axis;
    std::uint32_t ref = no_place;     ///< value, symbol
    expr_id extent = no_expr;         ///< axis, bound
    std::uint32_t window = no_place;  ///< axis, bound: place in graph::windows
    std::uint32_t height = 0;         ///< bound: 1 + the most reductions nested inside the reduced value
};

/// As loop::window, without names.
struct axis_window {
    expr_id parent_extent = no_expr, base = no_expr, bound = no_expr;
    bool partition = false;
    constexpr bool operator==(const axis_window&) const = default;
};

struct graph_buffer {
    name_id name = no_name;  ///< in graph::names: a label, no part of any value
    dtype type = dtype::none;
    run shape;               ///< graph::expressions
    bool input = false, output = false;
};

/// A value that a sequential loop carries: an accumulator that its own loop reads, or the cells of a Carry.
struct state {
    name_id name = no_name;                 ///< label
    bool carried = false;                   ///< Carry / Pre; else an accumulator
    loop::op op = loop::op::none;           ///< accumulator: gives the seed
    dtype type = dtype::none;
    std::uint32_t seed_buffer = no_place;   ///< carried: cells of a buffer, else `seed`
    double seed = 0;
    std::uint32_t around = 0;               ///< loops around the carrying loop; then comes its own coordinate, then the cells
    std::uint32_t cells = 0;
};

/// One store, or one update of a state, per combination of the axes of `path`.
struct effect {
    bool to_state = false;
    std::uint32_t target = no_place;  ///< buffers or states
    run index = {};                   ///< expressions. To a state: coordinates as in value_kind::pre
    value_id value = no_value;
    run path = {};                    ///< graph::lists: axis variables, outermost first
    dtype type = dtype::none;         ///< explicit value dtype
    bool atomic = false;
    name_id swizzle = no_name;        ///< graph::names
};

/// A value as a function of its parameters (axis variables): what a call stands for.
struct cone {
    run parameters;  ///< graph::lists
    value_id value = no_value;
};

/// Which exact rule changed something, and how often.
enum class rule : std::uint8_t { alias, unit_factor, select_decided, select_last, unit_loop, count_ };

/// Hash-consed: equal values have equal ids, arguments have smaller ids than their users. Expressions are taken as they are given:
/// simplify them before (simplifier) or rebuild with a map (rebuild below). Usable in constant expressions.
class graph {
public:
    text_pool names;
    expr_pool exprs;
    ranges known;  ///< of every variable made here (full ranges, symbolic ones included)
    std::vector<graph_buffer> buffers;
    std::vector<state> states;
    std::vector<axis_window> windows;
    std::vector<cone> cones;
    std::vector<effect> effects;  ///< in an order that keeps the stores to one buffer in sequence
    std::vector<std::uint32_t> fired = std::vector<std::uint32_t>(static_cast<std::size_t>(rule::count_), 0u);

    constexpr graph() : slots_(64, no_value), variables_(1, variable{.kind = variable::form::symbol}) { known.integer_cast = names.intern("int"); }

    // Lists.
    constexpr std::span<const value_id> args(const value& v) const { return {arguments_.data() + v.args.first, v.args.count}; }
    constexpr std::span<const expr_id> index(const value& v) const { return expressions(v.index); }
    constexpr std::span<const expr_id> expressions(run r) const { return {expressions_.data() + r.first, r.count}; }
    constexpr std::span<const std::uint32_t> list(run r) const { return {lists_.data() + r.first, r.count}; }
    constexpr run add_expressions(std::span<const expr_id> list) { return loop::detail::append(expressions_, list); }
    constexpr run add_list(std::span<const std::uint32_t> list) { return loop::detail::append(lists_, list); }

    // Variables.
    constexpr std::span<const variable> variables() const { return variables_; }
    constexpr const variable& var(name_id v) const { return variables_[v]; }
    /// A new axis. `extent`: an integer, or an expression over symbols.
    constexpr name_id axis(expr_id extent, std::uint32_t window = no_place) {
        return add_variable({.kind = variable::form::axis, .extent = extent, .window = window});
    }
    /// The axis of reductions of this extent and height: always the same variable.
    constexpr name_id bound_axis(expr_id extent, std::uint32_t window, std::uint32_t height) {
        for (name_id v : bound_)
            if (variables_[v].extent == extent && variables_[v].window == window && variables_[v].height == height) return v;
        bound_.push_back(add_variable({.kind = variable::form::bound, .extent = extent, .window = window, .height = height}));
        return bound_.back();
    }
    constexpr std::uint32_t window(const axis_window& w) {
        for (std::uint32_t i = 0; i < windows.size(); ++i)
            if (windows[i] == w) return i;
        windows.push_back(w);
        return static_cast<std::uint32_t>(windows.size() - 1);
    }
    constexpr name_id symbol(std::string_view text) {
        const name_id t = names.intern(text);
        for (name_id v : symbols_)
            if (variables_[v].ref == t) return v;
        symbols_.push_back(add_variable({.kind = variable::form::symbol, .ref = t}));
        return symbols_.back();
    }
    /// The variable by which an index reads a computed value.
    constexpr name_id variable_of(value_id v) {
        for (name_id known_variable : gathers_)
            if (variables_[known_variable].ref == v) return known_variable;
        gathers_.push_back(add_variable({.kind = variable::form::value, .ref = v}));
        return gathers_.back();
    }

    // Values.
    constexpr std::span<const value> values() const { return values_; }
    constexpr const value& operator[](value_id v) const { return values_[v]; }
    constexpr value_id load(std::uint32_t buffer, std::span<const expr_id> index, dtype type = dtype::none) {
        return add({.kind = value_kind::load, .type = type, .ref = buffer}, {}, index);
    }
    /// A copy without dtype is its argument. Unit factors: with z = a - a and u = exp(z) or u / u: v * u and v / u are v - z.
    constexpr value_id apply(loop::op o, dtype type, std::span<const value_id> args) {
        if (o == op::copy && type == dtype::none) return fire(rule::alias), args[0];
        if (o == op::multiply || o == op::divide) {
            const value_id zero = unit(args[1]), other = o == op::multiply ? unit(args[0]) : no_value;
            const bool quotient_of_units = o == op::divide && args[0] == args[1];
            if (zero != no_value && !quotient_of_units && (other == no_value || other == zero)) return fire(rule::unit_factor), pair(op::subtract, type, args[0], zero);
            if (other != no_value && zero == no_value) return fire(rule::unit_factor), pair(op::subtract, type, args[1], other);
        }
        if (loop::facts(o).commutative && args.size() == 2 && args[1] < args[0]) return pair(o, type, args[1], args[0]);
        return add({.kind = value_kind::op, .op = o, .type = type}, args, {});
    }
    constexpr value_id pair(loop::op o, dtype type, value_id a, value_id b) {
        const value_id both[] = {a, b};
        return add({.kind = value_kind::op, .op = o, .type = type}, both, {});
    }
    /// Branches decided false go, the first decided true becomes the last; the last stands whatever its predicate.
    constexpr value_id select(std::span<const value_id> branches, std::span<const expr_id> predicates) {
        std::vector<value_id> kept;
        std::vector<expr_id> when;
        for (std::size_t i = 0; i < branches.size(); ++i) {
            const expr& e = exprs[predicates[i]];
            const bool literal = e.kind == expr_kind::integer || e.kind == expr_kind::boolean, final_one = i + 1 == branches.size();
            if (!final_one && literal && e.integer == 0) {
                fire(rule::select_decided);
                continue;
            }
            if (final_one && !(literal && e.integer != 0)) fire(rule::select_last);
            kept.push_back(branches[i]);
            if (final_one || (literal && e.integer != 0)) {
                if (!final_one) fire(rule::select_decided);
                when.push_back(exprs.integer(1));
                break;
            }
            when.push_back(predicates[i]);
        }
        return add({.kind = value_kind::select}, kept, when);
    }
    constexpr value_id let(expr_id scalar, dtype type = dtype::none) {
        const expr_id one[] = {scalar};
        return add({.kind = value_kind::let, .type = type}, {}, one);
    }
    /// Binds `over` (an axis variable) in `v`. An axis of extent 1 is coordinate 0, and the reduction its value.
    constexpr value_id reduce(loop::op o, name_id over, value_id v, dtype type = dtype::none) {
        const variable axis = variables_[over];
        if (const expr& e = exprs[axis.extent]; e.kind == expr_kind::integer && e.integer == 1) {
            fire(rule::unit_loop);
            const value_id inside = substituted(v, over, exprs.integer(0));
            if (type == dtype::none) return inside;
            const value_id one[] = {inside};
            return apply(op::copy, type, one);
        }
        const name_id bound = bound_axis(axis.extent, axis.window, heights_[v] + 1);
        const value_id one[] = {bound == over ? v : substituted(v, over, exprs.name(bound))};
        return add({.kind = value_kind::reduce, .op = o, .type = type, .ref = bound}, one, {});
    }
    constexpr std::uint32_t add_cone(std::span<const name_id> parameters, value_id v) {
        cones.push_back({add_list(parameters), v});
        return static_cast<std::uint32_t>(cones.size() - 1);
    }
    constexpr value_id call(std::uint32_t cone_place, std::span<const expr_id> args) { return add({.kind = value_kind::call, .ref = cone_place}, {}, args); }
    constexpr value_id read_state(value_kind kind, std::uint32_t state_place, std::span<const expr_id> coordinates) {
        return add({.kind = kind, .ref = state_place}, {}, coordinates);
    }

    /// The most reductions nested in a value.
    constexpr std::uint32_t height(value_id v) const { return heights_[v]; }
    /// The longest way from a value down to a leaf: what recursion over it needs.
    constexpr std::uint32_t depth(value_id v) const { return depths_[v]; }
    /// Bit v % 64 of every variable v that occurs in a value, bound ones included: a quick "surely not".
    constexpr std::uint64_t mask(value_id v) const { return masks_[v]; }
    constexpr std::uint64_t expression_mask(expr_id id) {
        if (id == no_expr) return 0;
        if (id >= expression_masks_.size()) {
            // Children have smaller ids.
            for (expr_id next = static_cast<expr_id>(expression_masks_.size()); next <= id; ++next) {
                const expr& e = exprs[next];
                std::uint64_t m = 0;
                switch (e.kind) {
                    case expr_kind::name:
                        m = std::uint64_t{1} << (e.name & 63);
                        if (e.name < variables_.size() && variables_[e.name].kind == variable::form::value) m |= masks_[variables_[e.name].ref];
                        break;
                    case expr_kind::binary: m = expression_masks_[e.a] | expression_masks_[e.b]; break;
                    case expr_kind::ternary: m = expression_masks_[e.a] | expression_masks_[e.b] | expression_masks_[e.c]; break;
                    case expr_kind::cast: m = expression_masks_[e.a]; break;
                    case expr_kind::call:
                        for (expr_id a : exprs.args(e)) m |= expression_masks_[a];
                        break;
                    default: break;
                }
                expression_masks_.push_back(m);
            }
        }
        return expression_masks_[id];
    }
    /// The most reductions nested in the values that an index reads.
    constexpr std::uint32_t expression_height(expr_id id) const {
        if (id == no_expr || gathers_.empty()) return 0;
        const expr& e = exprs[id];
        switch (e.kind) {
            case expr_kind::name: return variables_[e.name].kind == variable::form::value ? heights_[variables_[e.name].ref] : 0;
            case expr_kind::binary: return std::max(expression_height(e.a), expression_height(e.b));
            case expr_kind::ternary: return std::max(std::max(expression_height(e.a), expression_height(e.b)), expression_height(e.c));
            case expr_kind::cast: return expression_height(e.a);
            case expr_kind::call: {
                std::uint32_t out = 0;
                for (expr_id a : exprs.args(e)) out = std::max(out, expression_height(a));
                return out;
            }
            default: return 0;
        }
    }

    constexpr std::uint32_t expression_depth(expr_id id) const {
        if (id == no_expr) return 0;
        const expr& e = exprs[id];
        switch (e.kind) {
            case expr_kind::name: return variables_[e.name].kind == variable::form::value ? depths_[variables_[e.name].ref] : 0;
            case expr_kind::binary: return std::max(expression_depth(e.a), expression_depth(e.b));
            case expr_kind::ternary: return std::max(std::max(expression_depth(e.a), expression_depth(e.b)), expression_depth(e.c));
            case expr_kind::cast: return expression_depth(e.a);
            case expr_kind::call: {
                std::uint32_t out = 0;
                for (expr_id a : exprs.args(e)) out = std::max(out, expression_depth(a));
                return out;
            }
            default: return 0;
        }
    }

    /// `v` with expression `to` for variable `from` (free in v).
    constexpr value_id substituted(value_id v, name_id from, expr_id to);

    constexpr void fire(rule r) { ++fired[static_cast<std::size_t>(r)]; }

private:
    constexpr name_id add_variable(const variable& v) {
        const name_id id = static_cast<name_id>(variables_.size());
        variables_.push_back(v);
        switch (v.kind) {
            case variable::form::axis:
            case variable::form::bound:
                if (const expr& e = exprs[v.extent]; e.kind == expr_kind::integer) {
                    known.axis(id, e.integer, id);
                } else {
                    known.symbolic_axis(id, v.extent, id);
                }
                break;
            case variable::form::symbol: known.symbol(id); break;
            case variable::form::value: break;
        }
        return id;
    }
    /// z of a unit u = exp(z) or u / u, z = a - a; none when v is no unit.
    constexpr value_id unit(value_id v) const {
        const value& u = values_[v];
        if (u.kind != value_kind::op) return no_value;
        if (u.op == op::exp) {
            const value& z = values_[args(u)[0]];
            return z.kind == value_kind::op && z.op == op::subtract && args(z)[0] == args(z)[1] ? args(u)[0] : no_value;
        }
        return (u.op == op::divide && args(u)[0] == args(u)[1]) ? unit(args(u)[0]) : no_value;
    }

    constexpr value_id add(value v, std::span<const value_id> args, std::span<const expr_id> index) {
        std::uint64_t h = static_cast<std::uint64_t>(v.kind) << 56 ^ static_cast<std::uint64_t>(v.op) << 48 ^ static_cast<std::uint64_t>(v.type) << 40 ^ v.ref;
        for (value_id a : args) h = (h ^ a) * 0xff51afd7ed558ccdu, h ^= h >> 32;
        for (expr_id e : index) h = (h ^ e) * 0xc4ceb9fe1a85ec53u, h ^= h >> 29;
        h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u, h ^= h >> 32;
        if ((values_.size() + 1) * 2 > slots_.size()) grow();
        std::size_t slot = h & (slots_.size() - 1);
        for (; slots_[slot] != no_value; slot = (slot + 1) & (slots_.size() - 1))
            if (hashes_[slots_[slot]] == h && same(values_[slots_[slot]], v, args, index)) return slots_[slot];
        std::uint64_t m = v.kind == value_kind::reduce ? std::uint64_t{1} << (v.ref & 63) : 0;
        std::uint32_t deep = v.kind == value_kind::call ? heights_[cones[v.ref].value] : 0;
        std::uint32_t levels = 0;
        for (value_id a : args) m |= masks_[a], deep = std::max(deep, heights_[a]), levels = std::max(levels, depths_[a]);
        for (expr_id e : index) m |= expression_mask(e), deep = std::max(deep, expression_height(e));
        if (!gathers_.empty())
            for (expr_id e : index) levels = std::max(levels, expression_depth(e));
        v.args = loop::detail::append(arguments_, args), v.index = add_expressions(index);
        values_.push_back(v), hashes_.push_back(h), masks_.push_back(m), heights_.push_back(deep + (v.kind == value_kind::reduce)), depths_.push_back(levels + 1);
        return slots_[slot] = static_cast<value_id>(values_.size() - 1);
    }
    constexpr bool same(const value& old, const value& v, std::span<const value_id> args, std::span<const expr_id> index) const {
        if (old.kind != v.kind || old.op != v.op || old.type != v.type || old.ref != v.ref || old.args.count != args.size() || old.index.count != index.size()) return false;
        for (std::size_t i = 0; i < args.size(); ++i)
            if (arguments_[old.args.first + i] != args[i]) return false;
        for (std::size_t i = 0; i < index.size(); ++i)
            if (expressions_[old.index.first + i] != index[i]) return false;
        return true;
    }
    constexpr void grow() {
        std::vector<value_id> bigger(slots_.size() * 2, no_value);
        for (value_id v = 0; v < values_.size(); ++v) {
            std::size_t slot = hashes_[v] & (bigger.size() - 1);
            while (bigger[slot] != no_value) slot = (slot + 1) & (bigger.size() - 1);
            bigger[slot] = v;
        }
        slots_ = std::move(bigger);
    }

    std::vector<value> values_;
    std::vector<std::uint64_t> hashes_, masks_, expression_masks_;
    std::vector<std::uint32_t> heights_, depths_;
    std::vector<value_id> arguments_, slots_;
    std::vector<expr_id> expressions_;
    std::vector<std::uint32_t> lists_;
    std::vector<variable> variables_;  // 0 is none
    std::vector<name_id> bound_, symbols_, gathers_;
};

/// Rebuilds values with `map` (expr_id -> expr_id) over every index, predicate and scalar that it wants to see: `touches` is the mask of
/// the variables that the map may change; all ones = everything. Values that hold none of them stay. Each value is rebuilt once.
/// Variables that stand for computed values follow the rebuilt values before `map` sees them.
template <class Map>
class rebuilder {
public:
    constexpr rebuilder(graph& g, Map& map, std::uint64_t touches = ~std::uint64_t{0}) : g_(g), map_(map), touches_(touches) {}

    constexpr value_id operator()(value_id v) {
        if (touches_ != ~std::uint64_t{0} && (g_.mask(v) & touches_) == 0) return v;
        if (v < memo_.size() && memo_[v] != no_value) return memo_[v];
        const value old = g_[v];
        value_id out = no_value;
        if (old.kind == value_kind::reduce) {
            const value_id inside = (*this)(g_.args(old)[0]);
            out = inside == g_.args(old)[0] ? v : g_.reduce(old.op, old.ref, inside, old.type);
        } else {
            std::vector<value_id> args;
            for (std::size_t i = 0; i < old.args.count; ++i) args.push_back((*this)(g_.args(old)[i]));
            std::vector<expr_id> index;
            for (std::size_t i = 0; i < old.index.count; ++i) index.push_back(expression(g_.index(old)[i]));
            switch (old.kind) {
                case value_kind::load: out = g_.load(old.ref, index, old.type); break;
                case value_kind::op: out = g_.apply(old.op, old.type, args); break;
                case value_kind::select: out = g_.select(args, index); break;
                case value_kind::let: out = g_.let(index[0], old.type); break;
                case value_kind::call: out = g_.call(old.ref, index); break;
                default: out = g_.read_state(old.kind, old.ref, index);
            }
        }
        if (v >= memo_.size()) memo_.resize(g_.values().size(), no_value);
        return memo_[v] = out;
    }
    constexpr expr_id expression(expr_id id) { return map_(followed(id)); }

private:
    /// With rebuilt values behind the variables that stand for values.
    constexpr expr_id followed(expr_id id) {
        if (id == no_expr) return id;
        const expr e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: {
                const variable& v = g_.var(e.name);
                if (v.kind != variable::form::value) return id;
                const value_id was = v.ref, is = (*this)(was);
                return is == was ? id : g_.exprs.name(g_.variable_of(is));
            }
            case expr_kind::binary: {
                const expr_id a = followed(e.a), b = followed(e.b);
                return a == e.a && b == e.b ? id : g_.exprs.binary(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = followed(e.a), b = followed(e.b), c = followed(e.c);
                return a == e.a && b == e.b && c == e.c ? id : g_.exprs.ternary(a, b, c);
            }
            case expr_kind::cast: {
                const expr_id a = followed(e.a);
                return a == e.a ? id : g_.exprs.cast(e.name, a);
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                for (std::size_t i = 0; i < e.arg_count; ++i) args.push_back(followed(g_.exprs.args(e)[i]));
                return g_.exprs.call(e.name, args);
            }
            default: return id;
        }
    }

    graph& g_;
    Map& map_;
    std::uint64_t touches_;
    std::vector<value_id> memo_;
};

/// Expressions for variables, in expressions. A variable without one stays.
class substitution {
public:
    constexpr explicit substitution(expr_pool& pool) : pool_(pool) {}
    constexpr void set(name_id from, expr_id to) {
        if (from >= to_.size()) to_.resize(from + 1, no_expr);
        to_[from] = to;
        touches_ |= std::uint64_t{1} << (from & 63);
        memo_.clear();
    }
    constexpr std::uint64_t touches() const { return touches_; }
    constexpr expr_id operator()(expr_id id) {
        if (id == no_expr) return id;
        const expr e = pool_[id];
        if (e.kind == expr_kind::name) return e.name < to_.size() && to_[e.name] != no_expr ? to_[e.name] : id;
        if (e.kind == expr_kind::integer || e.kind == expr_kind::boolean || e.kind == expr_kind::real || e.kind == expr_kind::builtin) return id;
        if (id < memo_.size() && memo_[id] != no_expr) return memo_[id];
        expr_id out = id;
        switch (e.kind) {
            case expr_kind::binary: {
                const expr_id a = (*this)(e.a), b = (*this)(e.b);
                out = pool_.binary(e.op, a, b);
                break;
            }
            case expr_kind::ternary: {
                const expr_id a = (*this)(e.a), b = (*this)(e.b), c = (*this)(e.c);
                out = pool_.ternary(a, b, c);
                break;
            }
            case expr_kind::cast: {
                const expr_id a = (*this)(e.a);
                out = pool_.cast(e.name, a);
                break;
            }
            default: {
                std::vector<expr_id> args;
                for (std::size_t i = 0; i < e.arg_count; ++i) args.push_back((*this)(pool_.args(e)[i]));
                out = pool_.call(e.name, args);
            }
        }
        if (id >= memo_.size()) memo_.resize(pool_.size(), no_expr);
        return memo_[id] = out;
    }

private:
    expr_pool& pool_;
    std::vector<expr_id> to_, memo_;
    std::uint64_t touches_ = 0;
};

/// A substitution, then the normalizer under the graph's full ranges. A map for rebuilder.
class simplified_substitution {
public:
    constexpr simplified_substitution(graph& g, substitution& map) : map_(map), normalize_(g.exprs, g.known) {}
    constexpr expr_id operator()(expr_id id) { return normalize_(map_(id)); }

private:
    substitution& map_;
    normalizer normalize_;
};

constexpr value_id graph::substituted(value_id v, name_id from, expr_id to) {
    substitution map(exprs);
    map.set(from, to);
    rebuilder<substitution> rebuilt(*this, map, map.touches());
    return rebuilt(v);
}

}  // namespace emmy::loop::normal
