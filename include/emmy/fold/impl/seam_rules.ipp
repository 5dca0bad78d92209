#pragma once
#include <emmy/fold/impl/roles.ipp>

namespace emmy::fold::closed::detail {

/// Reads that a value of a term needs, through maps below it.
inline void reads_below(const forest& f, const term& t, name_id n, std::vector<const pure*>& out) {
    std::vector<name_id> cone{n};
    for (std::size_t i = 0; i < cone.size(); ++i) {
        if (const pure* s = defined(t, cone[i])) {
            if (s->kind == loop::stmt_kind::load) out.push_back(s);
            for (name_id r : f.reads(*s)) add_once(cone, r);
            continue;
        }
        for (term_id o : t.operands)
            if (f[o].is_map() && has(f[o].results, cone[i])) {
                reads_below(f, f[o], cone[i], out);
                break;
            }
    }
}

/// A value that is read as a pair: a packed code, looked up, times a scale that a block of `k` shares. The block's size, or 0.
inline std::int64_t packed_block(const forest& f, term_id id, name_id k) {
    const term& t = f[id];
    if (!t.is_map() || t.results.size() != 1) return 0;
    const pure* product = defined(t, t.results[0]);
    if (!product || product->kind != loop::stmt_kind::assign || product->op != loop::op::multiply) return 0;
    auto packed = [&](const pure& s) {
        if (s.type == dtype::f4e2m1x2) return true;
        for (const loop::buffer& b : f.inputs)
            if (b.name == s.buffer) return b.type == dtype::f4e2m1x2;
        return false;
    };
    auto block = [&](const pure& s) -> std::int64_t {  // k / b in one index, k in no other
        std::int64_t out = 0;
        for (expr_id e : s.index) {
            std::vector<name_id> named;
            f.names_in(e, named);
            if (!has(named, k)) continue;
            const expr& x = f.exprs[e];
            const bool quotient = x.kind == expr_kind::binary && (x.op == binary_op::divide || x.op == binary_op::floor_divide) && f.exprs[x.a].kind == expr_kind::name && f.exprs[x.b].kind == expr_kind::integer;
            if (!quotient || out != 0) return -1;
            out = f.exprs[x.b].integer;
        }
        return out;
    };
    for (int i = 0; i < 2; ++i) {
        std::vector<const pure*> codes, scales;
        reads_below(f, t, product->args[i], codes), reads_below(f, t, product->args[1 - i], scales);
        if (std::none_of(codes.begin(), codes.end(), [&](const pure* s) { return packed(*s); })) continue;
        std::int64_t out = 0;
        bool fits = true;
        for (const pure* s : scales) {
            const std::int64_t b = block(*s);
            fits &= !packed(*s) && b >= 0 && (b == 0 || out == 0 || b == out);
            if (b > 0) out = b;
        }
        if (fits && out > 1) return out;
    }
    return 0;
}

/// An operand of a contraction all of whose operands are packed pairs of one block size: the matrix unit reads such a pair as it is stored.
inline bool is_packed_operand(const forest& f, term_id id, const std::vector<term_id>& readers) {
    for (term_id r : readers) {
        const roles at = roles_of(f, r);
        if (!at) continue;
        std::vector<term_id> all = at.b;
        all.push_back(at.a);
        if (std::find(all.begin(), all.end(), id) == all.end()) continue;
        const name_id k = f[r].axis.name;
        const std::int64_t block = packed_block(f, id, k);
        if (block > 0 && std::all_of(all.begin(), all.end(), [&](term_id o) { return packed_block(f, o, k) == block; })) return true;
    }
    return false;
}

/// A store writes a value that a term strictly below this one defines, and nothing else leads there: cut here, nobody would store it.
inline bool strands_store(const forest& f, term_id id) {
    std::vector<bool> around(f.terms.size());
    auto walk = [&](auto& self, term_id at) -> void {
        if (around[at]) return;
        around[at] = true;
        if (at == id) return;
        for (term_id o : f[at].operands) self(self, o);
    };
    walk(walk, f.root);
    for (term_id below : reached(f, id)) {
        if (below == id || around[below]) continue;
        const term& t = f[below];
        for (const store& s : f.stores) {
            bool made = defined(t, s.value) != nullptr;
            for (const state& st : t.states) made |= st.name == s.value;
            for (const observer& o : t.observe) made |= o.name == s.value;
            if (made) return true;
        }
    }
    return false;
}

}  // namespace emmy::fold::closed::detail
