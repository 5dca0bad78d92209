#pragma once
#include <emmy/loop/fuse/impl/draft.hpp>
#include <emmy/loop/fuse/impl/layout.ipp>
#include <emmy/loop/fuse/impl/regions.ipp>

namespace emmy::loop::fusion {

/// Makes one value graph of a region: readers see their producers' values at the coordinates they read; a reduction stays a call of its
/// cone until all index algebra over its own axes is done.
class splicer {
public:
    splicer(program_graph& p, rewriter& rewrite) : p_(p), v_(p.values), rewrite_(rewrite) {}

    std::vector<std::uint32_t> region_of;  ///< by operator

    /// Errors (user): the kernel outgrows its region.
    result<draft> splice(const region& r) {
        limit_ = v_.size() + 256 * 8 * (r.ops.size() + 16);  // an operator has at most a handful of statements
        draft out;
        inlined_ = {};  // whether a read is inside depends on the region
        for (const buffer_id b : r.outputs) {
            const layout_root root = root_of(p_, b, [&](op_index from, op_index to) { return region_of[from] == region_of[to]; });
            out.stores.push_back(spliced(root, b));
            if (limit_ == 0)
                return refuse(fault_kind::user, "found a chain of more than " + std::to_string(deepest_chain) + " operators in one kernel, expected fewer", p_.text(b));
            if (v_.size() > limit_)
                return refuse(fault_kind::user, "found a kernel of more than 256 times the statements of its " + std::to_string(r.ops.size()) + " operators, expected a recurrence that can be rolled", p_.text(b));
        }
        return out;
    }

    /// One operator's store under its own axes as the loops of a kernel (roots, and steps of recurrences).
    draft_store spliced(const layout_root& root, buffer_id b, axis_id outside = nothing) {
        const lifted_op& o = p_.ops[root.op];
        std::vector<expr_id> at;
        axis_id scope = outside;
        for (const axis_id own : root.axes) {
            scope = v_.axis_in(scope, v_.axes[own].extent, axis_role::free);
            at.push_back(v_.axis_expr(scope));
        }
        draft_store s{.buffer = b, .index = root.index, .stored = nothing, .scope = scope};
        const rewriter::sigma to_loops = rewrite_.substitution(root.axes, at);
        for (expr_id& e : s.index) e = p_.indices.simplify(rewrite_.index(e, to_loops, [](value_id v) { return v; }));
        if (o.kind == lifted_kind::scan) {
            const axis_id own = o.fold_axis;
            const axis_id r = v_.axis_in(scope, v_.axes[own].extent, axis_role::fold, 1);
            const expr_id name = v_.axis_expr(r);
            const rewriter::sigma renamed = rewrite_.substitution(std::array{own}, std::array{name});
            for (expr_id& e : s.index) e = p_.indices.simplify(rewrite_.index(e, renamed, [](value_id v) { return v; }));
            s.stored = rewrite_.normalised(rewrite_.substitute(rewrite_.substitute(o.stored, to_loops), renamed));
            s.sum = r;
            return s;
        }
        std::vector<expr_id> in_op_order;  // the operator's axes as it numbers them
        for (const axis_id own : o.axes) in_op_order.push_back(at[static_cast<std::size_t>(std::find(root.axes.begin(), root.axes.end(), own) - root.axes.begin())]);
        const value_id inside = inlined(root.op, in_op_order);
        if (v_.size() > limit_) return s;  // refused by splice()
        const value_id with_calls = rewrite_.normalised(inside);
        s.stored = rewrite_.normalised(expanded(with_calls, 0));
        return s;
    }

    /// What is inside changes: nothing that was seen of regions holds.
    void forget() { inlined_ = {}, cones_.clear(); }
    bool outgrown() const { return v_.size() > limit_; }
    void limit(std::size_t values) { limit_ = v_.size() + values; }

    /// Level of a reduction: 1 + the largest among those its cone uses.
    std::uint32_t level(op_index o) { return cone(o), p_.ops[o].level; }

private:
    /// The value that operator `o` stores, at coordinates of its own axes.
    value_id inlined(op_index o, std::span<const expr_id> at) {
        if (++depth_ > deepest_chain) limit_ = 0;  // the stack is no place for more: refused by splice()
        const value_id out = limit_ == 0 ? p_.ops[o].stored : inlined_value(p_.ops[o].stored, o, rewrite_.substitution(p_.ops[o].axes, at));
        --depth_;
        return out;
    }

    value_id inlined_value(value_id v, op_index reader, rewriter::sigma s) {
        if (const std::uint32_t known = inlined_.find(v, s); known != pair_memo::absent) return known;
        const auto inside_index = [&](value_id inside) { return inlined_value(inside, reader, s); };
        if (v_.size() > limit_) return v;  // refused by splice()
        value_id out = nothing;
        const value at = v_.at(v);
        const op_index from = at.kind == value_kind::load ? p_.buffers[at.target].producer : nothing;
        if (from != nothing && region_of[from] == region_of[reader]) {
            const std::vector<expr_id> index(v_.index(v).begin(), v_.index(v).end());
            std::vector<expr_id> coordinates;
            for (std::size_t d = 0; d < index.size(); ++d) {  // each store entry is one of the producer's axes, in order, or 0
                if (v_.exprs[p_.ops[from].index[d]].kind == expr_kind::name) coordinates.push_back(rewrite_.index(index[d], s, inside_index));
            }
            out = inlined(from, coordinates);
        } else {
            const bool call = at.kind == value_kind::call;  // its coordinates are coordinates
            const auto expr = [&](expr_id e) { return call ? rewrite_.index(e, s, inside_index) : rewrite_.put(e, s, inside_index); };
            out = rewrite_.rebuild(v, expr, [&](value_id a) { return inlined_value(a, reader, s); }, [](axis_id a) { return a; });
        }
        inlined_.set(v, s, out);
        return out;
    }

    /// What a reduction accumulates, over its own axes, with inner reductions as calls.
    value_id cone(op_index o) {
        if (cones_.size() < p_.ops.size()) cones_.resize(p_.ops.size(), nothing);
        if (cones_[o] != nothing) return cones_[o];
        const value_id made = rewrite_.simplified_cone(inlined_value(p_.ops[o].folded, o, 0));
        p_.ops[o].level = 1 + deepest_call(made);
        return cones_[o] = made;
    }
    std::uint32_t deepest_call(value_id v) {
        if (levels_.size() < v_.size()) levels_.resize(v_.size(), nothing);
        if (levels_[v] != nothing) return levels_[v];
        std::uint32_t out = 0;
        const value at = v_.at(v);
        if (at.kind == value_kind::call) out = level(at.target);
        const std::vector<value_id> args(v_.args(v).begin(), v_.args(v).end());
        for (const value_id a : args) out = std::max(out, deepest_call(a));
        const std::vector<expr_id> index(v_.index(v).begin(), v_.index(v).end());
        for (const expr_id e : index)
            each_name(v_.exprs, e, [&](name_id name) {
                if (const value_id inside = v_.value_of(name); inside != nothing) out = std::max(out, deepest_call(inside));
            });
        if (levels_.size() < v_.size()) levels_.resize(v_.size(), nothing);
        return levels_[v] = out;
    }

    /// Calls become folds, outer ones first; a reduction's loop is the one of this place, extent and level.
    value_id expanded(value_id v, rewriter::sigma s) {
        if (const std::uint32_t known = expanded_.find(v, s); known != pair_memo::absent) return known;
        const auto expr = [&](expr_id e) { return rewrite_.index(e, s, [&](value_id inside) { return expanded(inside, s); }); };
        if (v_.size() > limit_) return v;  // refused by splice()
        value_id out = nothing;
        const value at = v_.at(v);
        if (at.kind == value_kind::call) {
            std::vector<expr_id> args(v_.index(v).begin(), v_.index(v).end());
            for (expr_id& e : args) e = expr(e);
            const value_id cone_value = cone(at.target);
            const lifted_op& o = p_.ops[at.target];
            axis_id place = nothing;
            for (const expr_id e : args) deepest(e, place);
            const axis_id r = v_.axis_in(place, v_.axes[o.fold_axis].extent, axis_role::fold, o.level);
            std::vector<axis_id> own = o.axes;
            own.push_back(o.fold_axis);
            args.push_back(v_.axis_expr(r));
            const loop::op fold = o.fold_op;
            out = v_.fold(r, fold, expanded(cone_value, rewrite_.substitution(own, args)));
        } else {
            out = rewrite_.rebuild(v, expr, [&](value_id a) { return expanded(a, s); }, [](axis_id a) { return a; });
        }
        expanded_.set(v, s, out);
        return out;
    }
    /// The innermost axis that an expression depends on, if deeper than `found`.
    void deepest(expr_id e, axis_id& found) {
        each_name(v_.exprs, e, [&](name_id name) {
            if (const axis_id a = v_.axis_of(name); a != nothing && (found == nothing || v_.axes[a].depth > v_.axes[found].depth)) found = a;
            if (const value_id inside = v_.value_of(name); inside != nothing) deepest_of_value(inside, found);
        });
    }
    void deepest_of_value(value_id v, axis_id& found) {
        const std::vector<expr_id> index(v_.index(v).begin(), v_.index(v).end());
        for (const expr_id e : index) deepest(e, found);
        const std::vector<value_id> args(v_.args(v).begin(), v_.args(v).end());
        for (const value_id a : args) deepest_of_value(a, found);
    }

    program_graph& p_;
    value_graph& v_;
    rewriter& rewrite_;
    static constexpr std::size_t deepest_chain = 3000;
    std::size_t limit_ = static_cast<std::size_t>(-1), depth_ = 0;
    pair_memo inlined_, expanded_;
    std::vector<value_id> cones_;
    std::vector<std::uint32_t> levels_;
};

}  // namespace emmy::loop::fusion
