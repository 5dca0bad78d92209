#pragma once
#include <emmy/fold/geometry.hpp>

#include <emmy/fold/impl/term.ipp>

namespace emmy::fold::closed {
namespace detail {

/// Terms below the root, operands before readers.
inline std::vector<term_id> reached(const forest& f, term_id from) {
    std::vector<term_id> out;
    std::vector<bool> seen(f.terms.size());
    auto walk = [&](auto& self, term_id id) -> void {
        if (seen[id]) return;
        seen[id] = true;
        for (term_id o : f[id].operands) self(self, o);
        out.push_back(id);
    };
    if (from != no_term) walk(walk, from);
    return out;
}

/// B of a softmax channel: multiplied out by exp(score) the channel is exp(score) * v, the score being of operand 1 alone.
inline term_id base_channel(const forest& f, const term& t, const state& s) {
    if (t.operands.size() < 2 || s.op != loop::op::add || s.contribution == t.states[0].contribution) return no_term;
    const term_id a = t.operands[0];
    const origin score = origin_of(f, t, t.states[0].contribution, a), value = origin_of(f, t, s.contribution, a);
    if (!score.a || score.others || value.component_of == no_term || value.component_of == a) return no_term;
    const term &ta = f[a], &tb = f[value.component_of];
    if (tb.free.empty() || !has(ta.free, t.axis.name) || !has(tb.free, t.axis.name) || ta.free == tb.free) return no_term;
    return value.component_of;
}

}  // namespace detail

EMMY_DECL roles roles_of(const forest& f, term_id id) {
    const term& t = f[id];
    roles out;
    if (t.is_map() || (t.twist != recipe::none && t.twist != recipe::softmax)) return out;
    for (const state& s : t.states) {
        const term_id b = t.twist == recipe::none ? detail::channel(f, t, s) : detail::base_channel(f, t, s);
        if (b == no_term) continue;
        if (!out.b.empty() && (f[b].free != f[out.b[0]].free || detail::axis_last(f, b, t.axis.name) != detail::axis_last(f, out.b[0], t.axis.name))) return {};
        out.b.push_back(b);
    }
    if (out.b.empty()) return out;
    out.a = t.operands[0];
    const std::vector<name_id>&a = f[out.a].free, &b = f[out.b[0]].free;
    for (name_id n : a)
        if (n != t.axis.name) (detail::has(b, n) ? out.shared : out.left).push_back(n);
    for (name_id n : b)
        if (n != t.axis.name && !detail::has(a, n)) out.right.push_back(n);
    return out;
}

EMMY_DECL term_id head_of(const forest& f) {
    term_id at = f.root;
    while (at != no_term && f[at].is_map()) {
        term_id next = no_term;
        for (term_id o : f[at].operands)
            if (!f[o].is_slab()) {
                next = o;
                break;
            }
        at = next;
    }
    return at;
}

EMMY_DECL std::vector<term_id> kernel_roots(const forest& f) {
    std::vector<term_id> out;
    for (const region& r : regions(f))
        if (r.producer != no_term) out.push_back(r.producer);
    if (out.empty())
        if (const term_id h = head_of(f); h != no_term) out.push_back(h);
    return out;
}

}  // namespace emmy::fold::closed
