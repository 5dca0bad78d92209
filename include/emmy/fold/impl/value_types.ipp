#pragma once
#include <emmy/fold/impl/term.ipp>
#include <emmy/loop/infer.hpp>

#include <map>

namespace emmy::fold::closed {
namespace detail {

/// Types of the values of a forest, each found once.
struct value_types {
    const forest& f;
    std::map<name_id, dtype> known{};
    bool halves_stay = false;  // of buffers: a value of halves is one whatever the operator; the overflow guard of x * x is of values in a kernel

    /// none where nothing says.
    dtype of(const term& t, name_id n) {
        if (const auto seen = known.find(n); seen != known.end()) return seen->second;
        dtype out = dtype::none;
        if (const pure* s = defined(t, n)) {
            std::vector<dtype> args;
            bool all = true;
            for (name_id a : s->args) args.push_back(of(t, a)), all &= args.back() != dtype::none;
            if (s->type != dtype::none) out = s->type;
            else if (s->kind == loop::stmt_kind::load) {
                for (const auto* list : {&f.inputs, &f.outputs})
                    for (const loop::buffer& b : *list)
                        if (b.name == s->buffer) out = b.type;
            } else if (s->kind == loop::stmt_kind::let || s->kind == loop::stmt_kind::pre) out = dtype::f32;
            else if (s->kind == loop::stmt_kind::select) {
                if (all && std::all_of(args.begin(), args.end(), [&](dtype x) { return x == args[0]; })) out = args[0];
            } else if (all) {
                const bool halves = halves_stay && !args.empty() && std::all_of(args.begin(), args.end(), [](dtype x) { return x == dtype::f16; });
                const bool encodes = s->op == loop::op::to_f8e4m3 || s->op == loop::op::to_f8e5m2 || s->op == loop::op::to_f4e2m1;
                out = halves && !encodes ? dtype::f16 : loop::infer_assign(s->op, args, s->args.size() == 2 && s->args[0] == s->args[1]);
            }
        } else {
            for (term_id o : t.operands) {
                const term& x = f[o];
                if (!has(f.components(x), n)) continue;
                if (x.is_map()) out = of(x, n);
                for (const state& st : x.states)
                    if (st.name == n) out = x.twist != recipe::none ? dtype::f32 : loop::infer_accum(st.op, of(x, st.contribution));
                break;
            }
        }
        return known[n] = out;
    }
};

}  // namespace detail

EMMY_DECL dtype type_of(const forest& f, term_id t, name_id n) { return detail::value_types{f}.of(f[t], n); }

}  // namespace emmy::fold::closed
