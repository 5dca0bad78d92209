#pragma once
#include <emmy/loop/dims.hpp>

namespace emmy::loop {
namespace detail {
/// Calls `see(dim)` for every dimension of a kernel in the order symbols are counted in, until it returns false.
template <class See>
void each_dim(const kernel& k, See&& see) {
    for (const auto* list : {&k.inputs, &k.outputs})
        for (const buffer& b : *list)
            for (const dim& d : b.shape) see(d);
    auto walk = [&](auto&& self, run r) -> void {
        for (const stmt_id id : k.body.statements(r)) {
            const stmt& s = k.body.stmts[id];
            if (s.kind == stmt_kind::loop || s.kind == stmt_kind::strided_loop) {
                see(s.axis.extent);
                if (s.axis.has_window()) see(k.body.windows[s.axis.window].parent_extent);
            }
            self(self, s.body);
            self(self, s.else_body);
        }
    };
    walk(walk, k.body.top);
}
inline void expression_symbols(const expr_pool& pool, expr_id id, auto&& see) {
    const expr& e = pool[id];
    if (e.kind == expr_kind::name) see(e.name);
    if (e.kind == expr_kind::binary || e.kind == expr_kind::ternary || e.kind == expr_kind::cast)
        for (const expr_id child : {e.a, e.b, e.c})
            if (child != no_expr) expression_symbols(pool, child, see);
}
}  // namespace detail

EMMY_DECL std::vector<name_id> symbols(const kernel& k) {
    std::vector<name_id> out;
    std::vector<bool> seen(k.body.names.size(), false);
    auto add = [&](name_id symbol) {
        if (!seen[symbol]) out.push_back(symbol);
        seen[symbol] = true;
    };
    detail::each_dim(k, [&](const dim& d) {
        if (d.kind == dim::form::symbol) add(d.symbol);
        if (d.kind == dim::form::expression) detail::expression_symbols(k.body.exprs, d.value, add);
    });
    return out;
}

EMMY_DECL std::int64_t hint_of(const kernel& k, name_id symbol) {
    std::int64_t out = 0;
    detail::each_dim(k, [&](const dim& d) {
        if (out == 0 && d.kind == dim::form::symbol && d.symbol == symbol && d.has_hint) out = d.number;
    });
    return out == 0 ? default_hint : out;
}

}  // namespace emmy::loop
