#pragma once
#include <emmy/loop/fuse/impl/lifted.hpp>
#include <emmy/loop/fuse/impl/names.hpp>

#include <utility>

namespace emmy::loop::fusion {

/// Puts expressions for axes into values. Every (value, substitution) pair is computed once.
class rewriter {
public:
    explicit rewriter(program_graph& p) : p_(p), v_(p.values) {}

    /// A substitution by number: axis i becomes to[i]. Axes that stay as they are may be left out.
    using sigma = std::uint32_t;
    sigma substitution(std::span<const axis_id> axes, std::span<const expr_id> to) {
        std::vector<std::uint32_t> flat;
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (v_.axis_expr(axes[i]) != to[i]) flat.push_back(v_.axes[axes[i]].name), flat.push_back(to[i]);
        return v_.intern_list(flat);
    }

    /// Coordinates under a substitution, simplified under static ranges. `value(v)` gives what a value inside an index becomes.
    template <class Value>
    expr_id index(expr_id e, sigma s, Value&& value) {
        return p_.indices.simplify_static(put(e, s, value));
    }
    /// The same as it stands.
    template <class Value>
    expr_id put(expr_id e, sigma s, Value&& value) {
        if (const std::uint32_t known = exprs_.find(e, s); known != pair_memo::absent) return known;
        bool pure = true;
        const expr_id out = replace_names(v_.exprs, e, [&](name_id name) -> expr_id {
            if (const value_id inside = v_.value_of(name); inside != nothing) return pure = false, v_.value_expr(value(inside));
            const auto flat = v_.list(s);
            for (std::size_t i = 0; i < flat.size(); i += 2)
                if (flat[i] == name) return flat[i + 1];
            return no_expr;
        });
        if (pure) exprs_.set(e, s, out);  // what a value becomes depends on who asks
        return out;
    }

    /// The value with axes replaced, bound ones too where the substitution names them (an axis renamed by an axis).
    value_id substitute(value_id v, sigma s) {
        if (s == 0) return v;
        if (const std::uint32_t known = values_.find(v, s); known != pair_memo::absent) return known;
        const value_id out = rebuild(v, [&](expr_id e) { return index(e, s, [&](value_id inside) { return substitute(inside, s); }); }, [&](value_id a) { return substitute(a, s); },
                                     [&](axis_id a) {
                                         const auto flat = v_.list(s);
                                         for (std::size_t i = 0; i < flat.size(); i += 2)
                                             if (flat[i] == v_.axes[a].name) return v_.axis_of(v_.exprs[flat[i + 1]].name);
                                         return a;
                                     });
        values_.set(v, s, out);
        return out;
    }

    /// Every index under all ranges and in canonical order; decided branches dropped.
    value_id normalised(value_id v) { return normal(v, false); }
    /// As a cone: see index_rules::simplify_open.
    value_id simplified_cone(value_id v) { return normal(v, true); }

    /// The same value of other parts: `expr(e)` for index entries, `arg(v)` for operands, `axis(a)` for the axis of a fold.
    template <class Expr, class Arg, class Axis>
    value_id rebuild(value_id v, Expr&& expr, Arg&& arg, Axis&& axis) {
        const value at = v_.at(v);
        std::vector<expr_id> index(v_.index(v).begin(), v_.index(v).end());
        for (expr_id& e : index) e = expr(e);
        std::vector<value_id> args(v_.args(v).begin(), v_.args(v).end());
        for (value_id& a : args) a = arg(a);
        switch (at.kind) {
            case value_kind::load: return v_.load(at.target, index);
            case value_kind::pre: return v_.pre(at.target, index);
            case value_kind::call: return v_.call(at.target, index);
            case value_kind::let: return v_.let(index[0]);
            case value_kind::op: return v_.apply(at.op, at.type, args);
            case value_kind::select: return v_.select(args, index);
            case value_kind::fold: return v_.fold(axis(at.target), at.op, args[0]);
        }
        return v;
    }

private:
    value_id normal(value_id v, bool cone) {
        std::vector<value_id>& memo = normal_[cone];
        if (v < memo.size() && memo[v] != nothing) return memo[v];
        const value_id out = rebuild(v, [&](expr_id e) { return normal_index(e, cone); }, [&](value_id a) { return normal(a, cone); }, [](axis_id a) { return a; });
        if (memo.size() <= v) memo.resize(v_.size(), nothing);
        return memo[v] = out;
    }
    expr_id normal_index(expr_id e, bool cone) {
        const expr_id put = replace_names(v_.exprs, e, [&](name_id name) -> expr_id {
            const value_id inside = v_.value_of(name);
            return inside == nothing ? no_expr : v_.value_expr(normal(inside, cone));
        });
        return cone ? p_.indices.simplify_open(put) : p_.indices.simplify(put);
    }

    program_graph& p_;
    value_graph& v_;
    pair_memo exprs_, values_;
    std::vector<value_id> normal_[2];
};

}  // namespace emmy::loop::fusion
