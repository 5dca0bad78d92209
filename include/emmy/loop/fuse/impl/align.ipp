#pragma once
#include <emmy/loop/fuse/impl/place.hpp>

#include <bit>
#include <optional>

namespace emmy::loop::fusion {

/// The values of all steps of a recurrence as one value over the step: integers that grow evenly become `first + step * growth`, reads of
/// the state before become `pre`, sums that grow run at their widest.
class alignment {
public:
    alignment(program_graph& p, rewriter& rewrite, axis_id turn, std::size_t steps) : p_(p), v_(p.values), rewrite_(rewrite), turn_(turn), before_(steps, nothing) {}

    /// The buffer that step j finds as its state.
    void state(std::size_t j, buffer_id before) { before_[j] = before; }

    /// One value for one a step; nothing when they are not alike.
    value_id over_steps(const std::vector<value_id>& each) {
        const value_id made = align(each);
        return made == nothing ? nothing : rewrite_.normalised(made);
    }
    /// Whether the state was read at these cells alone.
    bool reads_only(std::span<const expr_id> cells) const {
        for (const std::vector<expr_id>& at : pre_indices_)
            if (!std::equal(at.begin(), at.end(), cells.begin(), cells.end())) return false;
        return true;
    }

private:
    template <class Get>
    bool all_equal(const std::vector<std::uint32_t>& each, Get&& get) const {
        for (const std::uint32_t x : each)
            if (!(get(x) == get(each[0]))) return false;
        return true;
    }
    /// a, a + d, a + 2 d, … as an expression over the step.
    std::optional<expr_id> even(const std::vector<std::int64_t>& each) {
        const std::int64_t growth = each[1] - each[0];
        for (std::size_t j = 0; j < each.size(); ++j)
            if (each[j] != each[0] + static_cast<std::int64_t>(j) * growth) return std::nullopt;
        if (growth == 0) return v_.exprs.integer(each[0]);
        return v_.exprs.binary(binary_op::add, v_.exprs.binary(binary_op::multiply, v_.axis_expr(turn_), v_.exprs.integer(growth)), v_.exprs.integer(each[0]));
    }
    std::optional<expr_id> align_exprs(const std::vector<expr_id>& each) {
        if (all_equal(each, [](expr_id e) { return e; })) return each[0];
        // x + c and x: the constant part may be 0.
        std::vector<expr_id> rest;
        std::vector<std::int64_t> constant;
        bool integers = true, sums = false;
        for (const expr_id id : each) {
            const expr& e = v_.exprs[id];
            integers = integers && e.kind == expr_kind::integer;
            const bool sum = e.kind == expr_kind::binary && e.op == binary_op::add && v_.exprs[e.b].kind == expr_kind::integer;
            sums = sums || sum;
            rest.push_back(sum ? e.a : id), constant.push_back(e.kind == expr_kind::integer ? e.integer : sum ? v_.exprs[e.b].integer : 0);
        }
        if (integers) return even(constant);
        if (sums) {
            const auto base = align_exprs(rest), shift = even(constant);
            if (!base || !shift) return std::nullopt;
            return v_.exprs.binary(binary_op::add, *base, *shift);
        }
        if (!all_equal(each, [&](expr_id e) { return std::tuple(v_.exprs[e].kind, v_.exprs[e].op); })) return std::nullopt;
        const auto part = [&](auto which) {
            std::vector<expr_id> list;
            for (const expr_id e : each) list.push_back(v_.exprs[e].*which);
            return align_exprs(list);
        };
        const expr e = v_.exprs[each[0]];
        switch (e.kind) {
            case expr_kind::name: {
                std::vector<std::uint32_t> list;
                for (const expr_id x : each) list.push_back(v_.axis_of(v_.exprs[x].name));
                if (const auto known = axes_.find(list); known != axes_.end()) return v_.axis_expr(known->second);
                list.clear();
                for (const expr_id x : each) list.push_back(v_.value_of(v_.exprs[x].name));
                for (const std::uint32_t x : list)
                    if (x == nothing) return std::nullopt;
                const value_id inside = align(list);
                if (inside == nothing) return std::nullopt;
                return v_.value_expr(inside);
            }
            case expr_kind::binary: {
                const auto a = part(&expr::a), b = part(&expr::b);
                if (!a || !b) return std::nullopt;
                return v_.exprs.binary(e.op, *a, *b);
            }
            case expr_kind::ternary: {
                const auto a = part(&expr::a), b = part(&expr::b), c = part(&expr::c);
                if (!a || !b || !c) return std::nullopt;
                return v_.exprs.ternary(*a, *b, *c);
            }
            case expr_kind::cast: {
                const auto a = part(&expr::a);
                if (!a) return std::nullopt;
                return v_.exprs.cast(e.name, *a);
            }
            default: return std::nullopt;
        }
    }
    bool align_index(const std::vector<value_id>& each, std::vector<expr_id>& out) {
        if (!all_equal(each, [&](value_id v) { return v_.index(v).size(); })) return false;
        for (std::size_t i = 0; i < v_.index(each[0]).size(); ++i) {
            std::vector<expr_id> list;
            for (const value_id v : each) list.push_back(v_.index(v)[i]);
            const auto e = align_exprs(list);
            if (!e) return false;
            out.push_back(p_.indices.simplify(*e));
        }
        return true;
    }
    /// The buffer that stands for all: one buffer, or literals of one value.
    buffer_id aligned_buffer(const std::vector<buffer_id>& each) const {
        if (all_equal(each, [](buffer_id b) { return b; })) return each[0];
        for (const buffer_id b : each) {
            const buffer_facts &x = p_.buffers[b], &y = p_.buffers[each[0]];
            if (x.literal.kind == program::literal::form::none || !(x.literal == y.literal) || x.type != y.type || x.shape.size() != y.shape.size()) return nothing;
        }
        return each[0];
    }

    value_id align(const std::vector<value_id>& each) {
        if (all_equal(each, [](value_id v) { return v; })) return each[0];  // a state is another buffer in every step
        const std::uint32_t key = v_.intern_list(each);
        if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
        const value_id out = aligned(each);
        return memo_[key] = out;
    }
    value_id aligned(const std::vector<value_id>& each) {
        if (!all_equal(each, [&](value_id v) { return std::tuple(v_.at(v).kind, v_.at(v).op, v_.at(v).type, v_.args(v).size()); })) return nothing;
        const value x = v_.at(each[0]);
        if (x.kind == value_kind::fold) return aligned_fold(each);
        std::vector<expr_id> index;
        if (!align_index(each, index)) return nothing;
        std::vector<value_id> args;
        for (const std::vector<value_id>& list : operands(each)) {
            args.push_back(align(list));
            if (args.back() == nothing) return nothing;
        }
        switch (x.kind) {
            case value_kind::load: {
                std::vector<buffer_id> buffers;
                bool state = true;
                for (std::size_t j = 0; j < each.size(); ++j) buffers.push_back(v_.at(each[j]).target), state = state && buffers[j] == before_[j];
                if (state) return pre_indices_.push_back(index), v_.pre(0, index);
                const buffer_id b = aligned_buffer(buffers);
                return b == nothing ? nothing : v_.load(b, index);
            }
            case value_kind::let: return v_.let(index[0]);
            case value_kind::op: return v_.apply(x.op, x.type, args);
            case value_kind::select: return v_.select(args, index);
            default: return nothing;
        }
    }
    value_id aligned_fold(const std::vector<value_id>& each) {
        std::vector<axis_id> list;
        for (const value_id v : each) list.push_back(v_.at(v).target);
        const axis_facts first = v_.axes[list[0]];
        axis_id axis = list[0];
        std::vector<std::int64_t> extents;
        bool grows = false;
        if (!all_equal(list, [](axis_id a) { return a; })) {
            std::vector<axis_id> parents;
            std::int64_t widest = 0;
            for (const axis_id a : list) {
                const axis_facts& x = v_.axes[a];
                if (x.level != first.level || x.extent.kind != first.extent.kind) return nothing;
                if (x.is_static()) extents.push_back(x.extent.number), widest = std::max(widest, x.extent.number), grows = grows || x.extent.number != first.extent.number;
                else if (!same_extent(x.extent, first.extent)) return nothing;
                parents.push_back(x.parent);
            }
            axis_id parent = parents[0];
            if (!all_equal(parents, [](axis_id a) { return a; })) {
                const auto known = axes_.find(parents);
                if (known == axes_.end()) return nothing;
                parent = known->second;
            }
            if (grows && parent == nothing) parent = turn_;
            axis = v_.axis_in(parent, grows ? number_dim(widest) : first.extent, axis_role::fold, first.level);
            axes_[list] = axis;
        }
        std::vector<value_id> inner;
        for (const value_id v : each) inner.push_back(v_.args(v)[0]);
        value_id folded = align(inner);
        if (folded == nothing) return nothing;
        const loop::op fold = v_.at(each[0]).op;
        if (grows) {
            const auto extent = even(extents);
            if (!extent) return nothing;
            const expr_id inside = v_.exprs.binary(binary_op::less, v_.axis_expr(axis), *extent);
            const value_id idle = v_.let(v_.exprs.real(facts(fold).identity));
            folded = v_.select(std::array{folded, idle}, std::array{inside, v_.exprs.boolean(true)});
        }
        return v_.fold(axis, fold, folded);
    }
    /// Operands by position; those of commutative operators in the order of their structure.
    std::vector<std::vector<value_id>> operands(const std::vector<value_id>& each) {
        std::vector<std::vector<value_id>> by_step;
        for (const value_id v : each) {
            by_step.emplace_back(v_.args(v).begin(), v_.args(v).end());
            if (v_.at(v).kind == value_kind::op && facts(v_.at(v).op).commutative)
                std::stable_sort(by_step.back().begin(), by_step.back().end(), [&](value_id a, value_id b) { return shape(a, by_step.size() - 1) < shape(b, by_step.size() - 1); });
        }
        std::vector<std::vector<value_id>> out(by_step[0].size());
        for (std::size_t i = 0; i < out.size(); ++i)
            for (const auto& list : by_step) out[i].push_back(list[i]);
        return out;
    }
    /// Structure with integers, axes and which literal left open: equal for what one value of each step may stand for.
    std::uint64_t shape_expr(expr_id id) const {
        const expr& e = v_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer: return 1;
            case expr_kind::name: return 2;
            case expr_kind::binary:
                if (e.op == binary_op::add && v_.exprs[e.b].kind == expr_kind::integer) return shape_expr(e.a);
                return mix(mix(mix(3, static_cast<std::uint64_t>(e.op)), shape_expr(e.a)), shape_expr(e.b));
            case expr_kind::ternary: return mix(mix(mix(4, shape_expr(e.a)), shape_expr(e.b)), shape_expr(e.c));
            default: return 5;
        }
    }
    std::uint64_t shape(value_id v, std::size_t step) {
        if (const std::uint32_t s = static_cast<std::uint32_t>(step); shapes_.find({v, s}) != shapes_.end()) return shapes_[{v, s}];
        const value x = v_.at(v);
        std::uint64_t h = mix(static_cast<std::uint64_t>(x.kind) << 16 | static_cast<std::uint64_t>(x.op) << 8 | static_cast<std::uint64_t>(x.type), v_.args(v).size());
        if (x.kind == value_kind::load) {
            const buffer_facts& b = p_.buffers[x.target];
            const bool state = x.target == before_[step], literal = b.literal.kind != program::literal::form::none;
            h = mix(h, state ? 1u : literal ? std::bit_cast<std::uint64_t>(b.literal.as_double()) : mix(2, b.name));
        }
        std::vector<std::uint64_t> args;
        const std::vector<value_id> list(v_.args(v).begin(), v_.args(v).end());
        for (const value_id a : list) args.push_back(shape(a, step));
        if (x.kind == value_kind::op && facts(x.op).commutative) std::sort(args.begin(), args.end());
        for (const std::uint64_t a : args) h = mix(h, a);
        for (const expr_id e : v_.index(v)) h = mix(h, shape_expr(e));
        return shapes_[{v, static_cast<std::uint32_t>(step)}] = h;
    }

    program_graph& p_;
    value_graph& v_;
    rewriter& rewrite_;
    axis_id turn_;
    std::vector<buffer_id> before_;
    std::map<std::uint32_t, value_id> memo_;
    std::map<std::vector<axis_id>, axis_id> axes_;
    std::map<std::pair<value_id, std::uint32_t>, std::uint64_t> shapes_;
    std::vector<std::vector<expr_id>> pre_indices_;
};

}  // namespace emmy::loop::fusion
