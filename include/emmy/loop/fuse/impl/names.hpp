#pragma once
#include <emmy/core/expr.hpp>

#include <vector>

namespace emmy::loop::fusion {

/// The expression with every name replaced by what `put(name)` gives (no_expr: it stays).
template <class Put>
expr_id replace_names(expr_pool& pool, expr_id id, Put&& put) {
    const expr e = pool[id];
    switch (e.kind) {
        case expr_kind::name: {
            const expr_id to = put(e.name);
            return to == no_expr ? id : to;
        }
        case expr_kind::binary: {
            const expr_id a = replace_names(pool, e.a, put), b = replace_names(pool, e.b, put);
            return a == e.a && b == e.b ? id : pool.binary(e.op, a, b);
        }
        case expr_kind::ternary: {
            const expr_id a = replace_names(pool, e.a, put), b = replace_names(pool, e.b, put), c = replace_names(pool, e.c, put);
            return a == e.a && b == e.b && c == e.c ? id : pool.ternary(a, b, c);
        }
        case expr_kind::cast: {
            const expr_id a = replace_names(pool, e.a, put);
            return a == e.a ? id : pool.cast(e.name, a);
        }
        case expr_kind::call: {
            std::vector<expr_id> args(pool.args(e).begin(), pool.args(e).end());
            for (expr_id& a : args) a = replace_names(pool, a, put);
            return pool.call(e.name, args);
        }
        default: return id;
    }
}

/// Calls `see(name)` for every name in the expression, from left to right.
template <class See>
void each_name(const expr_pool& pool, expr_id id, See&& see) {
    const expr& e = pool[id];
    switch (e.kind) {
        case expr_kind::name: see(e.name); break;
        case expr_kind::binary: each_name(pool, e.a, see), each_name(pool, e.b, see); break;
        case expr_kind::ternary: each_name(pool, e.a, see), each_name(pool, e.b, see), each_name(pool, e.c, see); break;
        case expr_kind::cast: each_name(pool, e.a, see); break;
        case expr_kind::call:
            for (expr_id a : pool.args(e)) each_name(pool, a, see);
            break;
        default: break;
    }
}

}  // namespace emmy::loop::fusion
