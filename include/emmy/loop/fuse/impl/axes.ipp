#pragma once
#include <emmy/loop/fuse/impl/layout.ipp>
#include <emmy/loop/fuse/impl/place.hpp>

namespace emmy::loop::fusion {

/// Free axes of one kernel in their final form: the outermost chain in storage order; axes read in two parts split, axes that nothing tells
/// apart fused. Static axes only.
class free_axes {
public:
    free_axes(program_graph& p, rewriter& rewrite) : p_(p), v_(p.values), rewrite_(rewrite) {}

    void order_chain(draft& d) {
        const std::vector<axis_id> chain = top_chain(d);
        if (chain.size() < 2) return;
        std::vector<std::vector<expr_id>> stores;
        for (const draft_store& s : d.stores) stores.push_back(s.index);
        const std::vector<axis_id> sorted = storage_order(p_, chain, stores);
        if (sorted != chain) renest(d, chain, sorted, {});
    }
    void split_and_fuse(draft& d, bool split_axes) {
        bool changed = false;
        while (split_axes && split(d)) changed = true;
        while (fuse(d)) changed = true;
        if (changed) order_chain(d);
    }

private:
    /// Free loops from the outside in, as long as each is all that its scope holds.
    std::vector<axis_id> top_chain(const draft& d) {
        placement at(p_, d);
        return chain_below(at, d, nothing);
    }
    /// Free axes whose loop stands directly in `scope`.
    std::vector<axis_id> children(placement& at, axis_id scope) {
        std::vector<axis_id> out;
        for (const axis_id a : at.free_axes())
            if (v_.axes[a].parent == scope) out.push_back(a);
        return out;
    }
    /// Whether the scope's body is one free loop and nothing else.
    bool only_loop(placement& at, const draft& d, axis_id scope) {
        if (children(at, scope).size() != 1) return false;
        for (const draft_store& s : d.stores)
            if (s.scope == scope) return false;
        for (const value_id v : at.values())
            if (at.home(v) == scope) return false;
        return true;
    }
    std::vector<axis_id> chain_below(placement& at, const draft& d, axis_id scope) {
        std::vector<axis_id> out;
        while (only_loop(at, d, scope)) out.push_back(scope = children(at, scope)[0]);
        return out;
    }

    /// Puts the loops `nest` where `chain` (a run of perfectly nested free axes) stands, axes of the chain replaced as `becomes` says, and
    /// everything below anew: what an axis is depends on what it stands in.
    struct replacement {
        axis_id axis;
        expr_id to;  ///< over axes of `nest`
    };
    void renest(draft& d, std::span<const axis_id> chain, std::span<const axis_id> nest, std::span<const replacement> becomes) {
        placement at(p_, d);
        axis_id above = v_.axes[chain[0]].parent;
        std::map<axis_id, axis_id> renamed;
        for (const axis_id a : nest) renamed[a] = above = v_.axis_in(above, v_.axes[a].extent, v_.axes[a].role);
        const axis_id last = above;
        for (const axis_id a : at.free_axes()) {  // outer before inner
            if (renamed.contains(a) || v_.axes[a].parent == nothing || std::find(chain.begin(), chain.end(), a) != chain.end()) continue;
            const axis_id parent = v_.axes[a].parent;
            if (parent == chain.back()) renamed[a] = v_.axis_in(last, v_.axes[a].extent, v_.axes[a].role);
            else if (renamed.contains(parent)) renamed[a] = v_.axis_in(renamed[parent], v_.axes[a].extent, v_.axes[a].role);
        }
        std::vector<axis_id> from;
        std::vector<expr_id> to, plain;
        std::vector<axis_id> plain_from;
        for (const auto& [a, b] : renamed) plain_from.push_back(a), plain.push_back(v_.axis_expr(b));
        const rewriter::sigma names = rewrite_.substitution(plain_from, plain);
        for (const auto& [a, b] : renamed) {
            bool replaced = false;
            for (const replacement& r : becomes) replaced = replaced || r.axis == a;
            if (!replaced) from.push_back(a), to.push_back(v_.axis_expr(b));
        }
        for (const replacement& r : becomes) from.push_back(r.axis), to.push_back(rewrite_.index(r.to, names, [](value_id v) { return v; }));
        apply(d, rewrite_.substitution(from, to));
        for (draft_store& s : d.stores) {
            if (renamed.contains(s.scope)) s.scope = renamed[s.scope];
            else if (std::find(chain.begin(), chain.end(), s.scope) != chain.end()) s.scope = last;
        }
    }
    void apply(draft& d, rewriter::sigma s) {
        for (draft_store& store : d.stores) {
            for (expr_id& e : store.index) e = p_.indices.simplify(rewrite_.index(e, s, [](value_id v) { return v; }));
            store.stored = rewrite_.normalised(rewrite_.substitute(store.stored, s));
        }
    }

    // Split.
    struct reading {
        bool whole = false;  ///< mentioned outside all dividends
        std::set<std::int64_t> quotients, remainders;
    };
    void read(expr_id e, name_id axis, bool dividend, reading& out) const {
        const expr& x = v_.exprs[e];
        switch (x.kind) {
            case expr_kind::name: out.whole = out.whole || (x.name == axis && !dividend); break;
            case expr_kind::binary: {
                const bool divides = x.op == binary_op::divide || x.op == binary_op::floor_divide || x.op == binary_op::remainder;
                const expr &a = v_.exprs[x.a], &b = v_.exprs[x.b];
                if (divides && a.kind == expr_kind::name && a.name == axis && b.kind == expr_kind::integer) (x.op == binary_op::remainder ? out.remainders : out.quotients).insert(b.integer);
                read(x.a, axis, dividend || divides, out), read(x.b, axis, dividend, out);
                break;
            }
            case expr_kind::ternary: read(x.a, axis, dividend, out), read(x.b, axis, dividend, out), read(x.c, axis, dividend, out); break;
            case expr_kind::cast: read(x.a, axis, dividend, out); break;
            default: break;
        }
    }
    bool split(draft& d) {
        placement at(p_, d);
        for (const axis_id a : at.free_axes()) {
            if (!v_.axes[a].is_static()) continue;
            const name_id name = v_.axes[a].name;
            reading all;
            std::map<axis_id, reading> sums;  // by the loop that the load stands in
            for (const value_id v : at.values()) {
                if (v_.at(v).kind != value_kind::load) continue;
                reading here;
                for (const expr_id e : v_.index(v)) read(e, name, false, here);
                all.quotients.insert(here.quotients.begin(), here.quotients.end());
                all.remainders.insert(here.remainders.begin(), here.remainders.end());
                const axis_id home = at.home(v);
                if (home == nothing || v_.axes[home].role != axis_role::fold) continue;
                reading& sum = sums[home];
                sum.whole = sum.whole || here.whole;
                sum.quotients.insert(here.quotients.begin(), here.quotients.end());
                sum.remainders.insert(here.remainders.begin(), here.remainders.end());
            }
            const std::int64_t extent = v_.axes[a].extent.number;
            for (const std::int64_t f : all.quotients) {
                if (f < 2 || f >= extent || extent % f != 0 || !all.remainders.contains(f)) continue;
                bool kept = true;
                for (const auto& [loop, sum] : sums)
                    if ((sum.quotients.contains(f) || sum.remainders.contains(f)) && !sum.whole) kept = false;
                if (kept) continue;
                const axis_id above = v_.axes[a].parent;
                const axis_id q = v_.axis_in(above, number_dim(extent / f), axis_role::free), r = v_.axis_in(q, number_dim(f), axis_role::free);
                const expr_id whole = v_.exprs.binary(binary_op::add, v_.exprs.binary(binary_op::multiply, v_.axis_expr(q), v_.exprs.integer(f)), v_.axis_expr(r));
                const replacement becomes{a, whole};
                renest(d, std::array{a}, std::array{q, r}, std::span(&becomes, 1));
                return true;
            }
        }
        return false;
    }

    // Fuse.
    bool divides_axis(expr_id e, name_id axis, bool dividend = false) const {
        const expr& x = v_.exprs[e];
        switch (x.kind) {
            case expr_kind::name: return dividend && x.name == axis;
            case expr_kind::binary: {
                const bool divides = x.op == binary_op::divide || x.op == binary_op::floor_divide || x.op == binary_op::remainder;
                return divides_axis(x.a, axis, dividend || divides) || divides_axis(x.b, axis, dividend);
            }
            case expr_kind::ternary: return divides_axis(x.a, axis, dividend) || divides_axis(x.b, axis, dividend) || divides_axis(x.c, axis, dividend);
            case expr_kind::cast: return divides_axis(x.a, axis, dividend);
            default: return false;
        }
    }
    bool flat_is_clean(buffer_id b, std::span<const expr_id> index, name_id axis) {
        const std::vector<expr_id> at(index.begin(), index.end());
        const std::vector<dim>& shape = p_.buffers[b].shape;
        std::int64_t stride = 1;
        expr_id flat = v_.exprs.integer(0);
        for (std::size_t i = shape.size(); i-- > 0;) {
            flat = v_.exprs.binary(binary_op::add, v_.exprs.binary(binary_op::multiply, at[i], v_.exprs.integer(stride)), flat);
            if (i > 0 && shape[i].kind != dim::form::number) return false;
            if (i > 0) stride *= shape[i].number;
        }
        return !divides_axis(p_.indices.simplify(flat), axis);
    }
    bool fuse(draft& d) {
        placement at(p_, d);
        const std::vector<axis_id> all = at.free_axes();
        for (std::size_t i = all.size(); i-- > 0;) {  // the innermost pair first: its digits stay together when the next one joins
            const axis_id p = all[i];
            if (!v_.axes[p].is_static() || v_.axes[p].role != axis_role::free) continue;
            std::vector<axis_id> chain{p};
            while (only_loop(at, d, chain.back())) {
                chain.push_back(children(at, chain.back())[0]);
                const axis_id q = chain.back();
                if (v_.axes[q].is_static() && try_fuse(d, chain)) return true;
            }
        }
        return false;
    }
    bool try_fuse(draft& d, std::span<const axis_id> chain) {
        const axis_id p = chain.front(), q = chain.back();
        const std::int64_t inner = v_.axes[q].extent.number;
        std::int64_t extent = 0;
        if (__builtin_mul_overflow(v_.axes[p].extent.number, inner, &extent)) return false;
        std::vector<axis_id> nest(chain.begin() + 1, chain.end() - 1);
        // The trial: one axis whose place is final.
        axis_id above = v_.axes[p].parent;
        for (const axis_id a : nest) above = v_.axis_in(above, v_.axes[a].extent, axis_role::free);
        const axis_id f = v_.axis_in(above, number_dim(extent), axis_role::free);
        const expr_id quotient = v_.exprs.binary(binary_op::divide, v_.axis_expr(f), v_.exprs.integer(inner));
        const expr_id remainder = v_.exprs.binary(binary_op::remainder, v_.axis_expr(f), v_.exprs.integer(inner));
        nest.push_back(f);
        draft tried = d;
        const replacement becomes[] = {{p, quotient}, {q, remainder}};
        renest(tried, chain, nest, becomes);
        const name_id name = v_.axes[f].name;
        const expr_id kept_quotient = p_.indices.simplify(quotient), kept_remainder = p_.indices.simplify(remainder);
        for (const draft_store& s : tried.stores) {
            std::size_t quotients = 0, remainders = 0, others = 0;
            for (const expr_id e : s.index) {
                if (e == kept_quotient) ++quotients;
                else if (e == kept_remainder) ++remainders;
                else others += divides_axis(e, name);
            }
            if ((quotients == 1 && remainders == 1 && others == 0) || quotients + remainders + others == 0) continue;
            if (!flat_is_clean(s.buffer, s.index, name)) return false;
        }
        placement after(p_, tried);
        const std::vector<value_id> values(after.values().begin(), after.values().end());
        for (const value_id v : values) {
            const std::vector<expr_id> index(v_.index(v).begin(), v_.index(v).end());
            bool clean = true;
            for (const expr_id e : index) clean = clean && !divides_axis(e, name);
            if (!clean && (v_.at(v).kind != value_kind::load || !flat_is_clean(v_.at(v).target, index, name))) return false;
        }
        d = std::move(tried);
        return true;
    }

    program_graph& p_;
    value_graph& v_;
    rewriter& rewrite_;
};

}  // namespace emmy::loop::fusion
