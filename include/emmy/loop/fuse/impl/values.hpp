#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/loop/fuse/impl/interned.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>
#include <string>
#include <vector>

/// The value graph that kernels are formed in: hash-consed values over axes, without an order, without names, without loops.
namespace emmy::loop::fusion {

using axis_id = std::uint32_t;
using value_id = std::uint32_t;
using buffer_id = std::uint32_t;
using op_index = std::uint32_t;
constexpr std::uint32_t nothing = 0xffffffffu;

enum class axis_role : std::uint8_t {
    own,   ///< of one lifted operator, before it stands anywhere: shared by all operators with this extent at this place
    own_fold,  ///< the folded one
    free,  ///< of a kernel: one value of it, one cell
    fold,  ///< of a kernel: summed over
    step   ///< of a rolled recurrence
};

/// A loop variable. Axes of kernels form a tree: what an axis is, is the axis it stands in, its extent and its role.
struct axis_facts {
    name_id name = no_name;      ///< in expressions
    dim extent;
    axis_id parent = nothing;    ///< nothing: outermost (or an own axis)
    std::uint32_t depth = 0;     ///< axes above it; own axes: their place
    axis_role role = axis_role::own;
    std::uint32_t level = 0;     ///< fold: 1 + levels of the folds it uses; reductions of one level at one place share a loop

    bool is_static() const { return extent.kind == dim::form::number; }
    /// Order of binding along any path of loops: sums never hold free loops.
    std::uint32_t rank() const { return depth + (role == axis_role::fold ? 1u << 20 : 0u); }
};

enum class value_kind : std::uint8_t {
    load,    ///< target = buffer, index
    op,      ///< op, type (none: inferred), args
    select,  ///< args = branches, index = their predicates
    let,     ///< index[0]
    call,    ///< target = lifted operator; its fold at the coordinates index
    fold,    ///< target = axis, op, args[0]
    pre      ///< target = state (a buffer), index
};

struct value {
    value_kind kind = value_kind::op;
    loop::op op = op::none;
    dtype type = dtype::none;
    std::uint32_t target = nothing;
    std::uint32_t args = 0;   ///< list in value_graph::lists
    std::uint32_t index = 0;  ///< list in value_graph::lists
    bool operator==(const value&) const = default;
};

/// Values, axes and index expressions of one program. Everything is interned: equal things have equal numbers.
class value_graph {
public:
    value_graph(const text_pool& program_names, const expr_pool& program_exprs, bool unit_factors)
        : names(program_names), exprs(program_exprs), unit_factors_(unit_factors) {}

    text_pool names;
    expr_pool exprs;
    std::vector<axis_facts> axes;

    const value& at(value_id v) const { return values_[v]; }
    std::span<const value_id> args(value_id v) const { return lists_.at(values_[v].args); }
    std::span<const expr_id> index(value_id v) const { return lists_.at(values_[v].index); }
    std::size_t size() const { return values_.size(); }
    std::span<const std::uint32_t> list(std::uint32_t id) const { return lists_.at(id); }
    std::uint32_t intern_list(std::span<const std::uint32_t> items) { return lists_.intern(items); }

    // Axes.
    axis_id own_axis(std::uint32_t place, const dim& extent) { return intern_axis(nothing, place, extent, axis_role::own, 0); }
    axis_id own_fold_axis(std::uint32_t place, const dim& extent) { return intern_axis(nothing, place, extent, axis_role::own_fold, 0); }
    axis_id axis_in(axis_id parent, const dim& extent, axis_role role, std::uint32_t level = 0) {
        return intern_axis(parent, parent == nothing ? 0 : axes[parent].depth + 1, extent, role, level);
    }
    /// The axis of this name, or nothing (symbols, values).
    axis_id axis_of(name_id name) const { return name < axis_by_name_.size() ? axis_by_name_[name] : nothing; }
    expr_id axis_expr(axis_id a) { return exprs.name(axes[a].name); }
    expr_id extent_expr(const dim& d) {
        if (d.kind == dim::form::number) return exprs.integer(d.number);
        return d.kind == dim::form::symbol ? exprs.name(d.symbol) : d.value;
    }

    // Values inside index expressions: a gather reads at (int)v.
    expr_id value_expr(value_id v) {
        const name_id name = names.intern("%" + std::to_string(v));
        if (value_by_name_.size() <= name) value_by_name_.resize(name + 1, nothing);
        value_by_name_[name] = v;
        return exprs.name(name);
    }
    value_id value_of(name_id name) const { return name < value_by_name_.size() ? value_by_name_[name] : nothing; }

    // Values.
    value_id load(buffer_id b, std::span<const expr_id> index) { return add({.kind = value_kind::load, .target = b, .index = lists_.intern(index)}); }
    value_id pre(buffer_id state, std::span<const expr_id> index) { return add({.kind = value_kind::pre, .target = state, .index = lists_.intern(index)}); }
    value_id call(op_index o, std::span<const expr_id> at) { return add({.kind = value_kind::call, .target = o, .index = lists_.intern(at)}); }
    value_id let(expr_id e) { return add({.kind = value_kind::let, .index = lists_.intern({&e, 1})}); }
    value_id fold(axis_id axis, loop::op o, value_id v) { return add({.kind = value_kind::fold, .op = o, .target = axis, .args = lists_.intern({&v, 1})}); }

    /// A copy without dtype is its operand; operands of commutative operators have no order; factors e^0 become sums (unit_factors).
    value_id apply(loop::op o, dtype type, std::span<const value_id> args) {
        if (o == op::copy && type == dtype::none) return args[0];
        if (unit_factors_ && type == dtype::none && args.size() == 2 && (o == op::multiply || o == op::divide)) {
            if (const value_id z = zero_of_unit(args[1]); z != nothing && args[0] != args[1]) return apply(op::subtract, dtype::none, std::array{args[0], z});
            if (const value_id z = zero_of_unit(args[0]); o == op::multiply && z != nothing && args[0] != args[1]) return apply(op::subtract, dtype::none, std::array{args[1], z});
        }
        value v{.kind = value_kind::op, .op = o, .type = type};
        if (args.size() == 2 && facts(o).commutative && args[1] < args[0]) v.args = lists_.intern(std::array{args[1], args[0]});
        else v.args = lists_.intern(args);
        return add(v);
    }
    /// Branches whose predicate is decided are dropped or close the list.
    value_id select(std::span<const value_id> branches, std::span<const expr_id> when) {
        std::vector<value_id> kept;
        std::vector<expr_id> predicates;
        for (std::size_t i = 0; i < branches.size(); ++i) {
            const expr& p = exprs[when[i]];
            const bool literal = p.kind == expr_kind::integer || p.kind == expr_kind::boolean, last = i + 1 == branches.size();
            if (!last && literal && p.integer == 0) continue;
            kept.push_back(branches[i]), predicates.push_back(when[i]);
            if (literal && p.integer != 0) break;
        }
        return add({.kind = value_kind::select, .args = lists_.intern(kept), .index = lists_.intern(predicates)});
    }

private:
    axis_id intern_axis(axis_id parent, std::uint32_t depth, const dim& extent, axis_role role, std::uint32_t level) {
        const auto kind = static_cast<std::uint32_t>(extent.kind);
        const std::uint64_t size = static_cast<std::uint64_t>(extent.kind == dim::form::number ? extent.number : extent.kind == dim::form::symbol ? extent.symbol : extent.value);
        const std::uint32_t key = lists_.intern(std::array{parent, depth, static_cast<std::uint32_t>(role), level, kind, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(size >> 32)});
        if (axis_by_key_.size() <= key) axis_by_key_.resize(key + 1, nothing);
        if (axis_by_key_[key] != nothing) return axis_by_key_[key];
        const axis_id id = static_cast<axis_id>(axes.size());
        const name_id name = names.intern("$" + std::to_string(id));
        if (axis_by_name_.size() <= name) axis_by_name_.resize(name + 1, nothing);
        axis_by_name_[name] = id;
        axes.push_back({.name = name, .extent = extent, .parent = parent, .depth = depth, .role = role, .level = level});
        return axis_by_key_[key] = id;
    }
    /// For u = exp(z) or u = w / w with w = exp(z), z = a - a: z.
    value_id zero_of_unit(value_id u) const {
        const value& v = values_[u];
        if (v.kind != value_kind::op || v.type != dtype::none) return nothing;
        if (v.op == op::divide) return args(u)[0] == args(u)[1] ? zero_of_unit(args(u)[0]) : nothing;
        if (v.op != op::exp) return nothing;
        const value_id z = args(u)[0];
        const value& d = values_[z];
        return d.kind == value_kind::op && d.op == op::subtract && args(z)[0] == args(z)[1] ? z : nothing;
    }
    value_id add(const value& v) {
        return table_.find_or_add(
            mix(mix(static_cast<std::uint64_t>(v.kind) << 48 | static_cast<std::uint64_t>(v.op) << 40 | static_cast<std::uint64_t>(v.type) << 32 | v.target, v.args), v.index),
            [&](std::uint32_t at) { return values_[at] == v; },
            [&] { return values_.push_back(v), static_cast<std::uint32_t>(values_.size() - 1); });
    }

    bool unit_factors_;
    list_table lists_;
    std::vector<value> values_;
    slot_table table_;
    std::vector<axis_id> axis_by_key_, axis_by_name_;
    std::vector<value_id> value_by_name_;
};

}  // namespace emmy::loop::fusion
