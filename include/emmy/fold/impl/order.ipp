#pragma once
#include <emmy/fold/access.hpp>
#include <emmy/fold/order.hpp>

#include <algorithm>

namespace emmy::fold {

EMMY_DECL body_order::body_order(const loop::body& b) : b_(b) {
    std::vector<loop::stmt_id> chain;
    find_states(b.top, chain);
}

EMMY_DECL void body_order::find_states(loop::run r, std::vector<loop::stmt_id>& chain) {
    for (loop::stmt_id s : b_.statements(r)) {
        const loop::stmt& st = b_.stmts[s];
        if (st.kind == loop::stmt_kind::carry) {
            carried_state x;
            x.carry = s;
            for (expr_id e : b_.expressions(st.index)) {
                loop::axis axis;
                for (loop::stmt_id l : chain)
                    if (b_.exprs[e].kind == expr_kind::name && b_.stmts[l].axis.name == b_.exprs[e].name) axis = b_.stmts[l].axis;
                x.cells.push_back(axis);
            }
            for (std::size_t i = chain.size(); i-- > 0 && x.loop == 0xffffffffu;)
                if (std::none_of(x.cells.begin(), x.cells.end(), [&](const loop::axis& a) { return a.name == b_.stmts[chain[i]].axis.name; })) x.loop = chain[i];
            states_.push_back(std::move(x));
        }
        const bool nests = st.kind == loop::stmt_kind::loop || st.kind == loop::stmt_kind::strided_loop;
        if (nests) chain.push_back(s);
        find_states(st.body, chain), find_states(st.else_body, chain);
        if (nests) chain.pop_back();
    }
}
EMMY_DECL bool body_order::accumulates(loop::run r) const {
    for (loop::stmt_id s : b_.statements(r)) {
        const loop::stmt& st = b_.stmts[s];
        if (st.kind == loop::stmt_kind::accum || (st.kind == loop::stmt_kind::cond && (accumulates(st.body) || accumulates(st.else_body)))) return true;
    }
    return false;
}
EMMY_DECL bool body_order::carries(loop::stmt_id loop) const {
    return std::any_of(states_.begin(), states_.end(), [&](const carried_state& x) { return x.loop == loop; });
}
EMMY_DECL bool body_order::is_free(loop::stmt_id loop) const { return b_.stmts[loop].kind == loop::stmt_kind::loop && !carries(loop) && !accumulates(b_.stmts[loop].body); }
EMMY_DECL bool body_order::writes(loop::stmt_id s) const {
    const loop::stmt& st = b_.stmts[s];
    if (st.kind == loop::stmt_kind::write || st.kind == loop::stmt_kind::carry) return true;
    for (loop::run r : {st.body, st.else_body})
        for (loop::stmt_id c : b_.statements(r))
            if (writes(c)) return true;
    return false;
}
EMMY_DECL bool body_order::alone() const {
    if (std::any_of(b_.stmts.begin(), b_.stmts.end(), [](const loop::stmt& s) { return s.kind == loop::stmt_kind::write && s.atomic; })) return true;
    const auto top = b_.statements(b_.top);
    return std::any_of(states_.begin(), states_.end(), [&](const carried_state& x) { return std::find(top.begin(), top.end(), x.loop) != top.end(); });
}
EMMY_DECL bool body_order::deals() const {
    if (alone()) return false;
    const auto top = b_.statements(b_.top);
    return std::any_of(top.begin(), top.end(), [&](loop::stmt_id s) { return writes(s) && is_free(s); });
}

namespace detail {
inline bool is_scheduled(const expr_pool& pool, expr_id id) {
    if (id == no_expr) return false;
    const expr& e = pool[id];
    switch (e.kind) {
        case expr_kind::call:
        case expr_kind::builtin: return true;
        case expr_kind::binary:
        case expr_kind::ternary:
        case expr_kind::cast: return is_scheduled(pool, e.a) || is_scheduled(pool, e.b) || is_scheduled(pool, e.c);
        default: return false;
    }
}
}  // namespace detail

EMMY_DECL result<void> check_order(const loop::kernel& k) {
    const loop::body& b = k.body;
    const auto no = [](const std::string& what) { return refuse(fault_kind::device_limit, "no CPU lowering for " + what); };
    for (const loop::stmt& s : b.stmts) {
        if (s.kind == loop::stmt_kind::zero_prologue) return no("scheduled kernel code: ZeroPrologue");
        if (s.kind == loop::stmt_kind::write && s.swizzle != no_name) return no("scheduled kernel code: a swizzled store");
        bool scheduled = detail::is_scheduled(b.exprs, s.value) || detail::is_scheduled(b.exprs, s.step) || detail::is_scheduled(b.exprs, s.end);
        for (expr_id e : b.expressions(s.index)) scheduled = scheduled || detail::is_scheduled(b.exprs, e);
        if (scheduled) return no("scheduled kernel code: a call in an expression");
        if (s.kind == loop::stmt_kind::load && std::any_of(k.outputs.begin(), k.outputs.end(), [&](const loop::buffer& x) { return x.name == s.buffer; }))
            return no("a kernel that reads its own output '" + std::string(b.text(s.buffer)) + "'");
    }
    const body_order order(b);
    for (const carried_state& x : order.states()) {
        if (x.loop == 0xffffffffu || b.stmts[x.loop].kind != loop::stmt_kind::loop) return no("a state carried by a strided loop");
        for (const loop::axis& a : x.cells)
            if (a.name != no_name && a.extent.kind == dim::form::expression) return no("a carried state whose size is an expression");
    }
    return {};
}

}  // namespace emmy::fold
