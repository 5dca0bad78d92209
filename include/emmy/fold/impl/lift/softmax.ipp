#pragma once
#include <emmy/fold/impl/lift/factor.ipp>

namespace emmy::fold::closed::detail {

/// Rescaled accumulators.
struct lift_softmax : lift_factor {
    /// The statement of the innermost level that defines a value, or of a level around.
    const pure* step_of(name_id n) const {
        for (std::size_t l = levels.size(); l-- > 0;)
            for (const level::entry& e : levels[l].entries)
                if (e.t == no_term && e.s.name == n) return &e.s;
        return nullptr;
    }
    /// The online softmax step: m' = max(m, s); c <- c exp(m - m') + v exp(s - m') for every other state; m <- s last. Its states, the pivot
    /// first, then those whose v is one, then the others. False where no accumulator is rescaled.
    result<bool> online_softmax(term& t, const std::vector<const nest*>& effects) {
        const nest* pivot = nullptr;
        bool any = false;
        for (const nest* e : effects) {
            any |= e->base != no_name;
            if (e->base == no_name) pivot = pivot ? nullptr : e;
        }
        if (!any) return false;
        const fault other = no_form("a rescaled accumulator that is no softmax step");
        if (!pivot || pivot->s.op != loop::op::maximum || pivot->s.type != dtype::none) return refuse(other);
        const name_id m = pivot->s.name, score = pivot->s.args[0];
        auto assigned = [&](name_id n, loop::op o) -> const pure* {
            const pure* s = step_of(n);
            return s && s->kind == loop::stmt_kind::assign && s->op == o && s->type == dtype::none ? s : nullptr;
        };
        auto is_top = [&](name_id n) {
            const pure* s = assigned(n, loop::op::maximum);
            return s && ((s->args[0] == m && s->args[1] == score) || (s->args[0] == score && s->args[1] == m));
        };
        auto is_move = [&](name_id n, name_id from) {  // exp(from - m')
            const pure* e = assigned(n, loop::op::exp);
            const pure* d = e ? assigned(e->args[0], loop::op::subtract) : nullptr;
            return d && d->args[0] == from && is_top(d->args[1]);
        };
        auto other_factor = [&](name_id n, name_id moved_from) -> name_id {  // v of v * exp(moved_from - m')
            const pure* p = assigned(n, loop::op::multiply);
            for (int i = 0; p && i < 2; ++i)
                if (is_move(p->args[i], moved_from)) return p->args[1 - i];
            return is_move(n, moved_from) ? n : no_name;
        };
        std::vector<state> ones, values;
        for (const nest* e : effects) {
            if (e == pivot) continue;
            const name_id v = other_factor(e->s.args[0], score);
            if (e->base == no_name || e->s.op != loop::op::add || e->s.type != dtype::none || v == no_name || other_factor(e->base, m) != e->s.name) return refuse(other);
            const pure* one = step_of(v);
            if (v == e->s.args[0]) {  // a bare exp(s - m'): v is one
                pure let{.kind = loop::stmt_kind::let, .op = loop::op::none, .type = dtype::f32};
                let.name = f.names.intern(std::string(f.text(v)) + "__one");
                let.index = {f.exprs.real(1.0)};
                mark(f.is_value, let.name);
                levels.back().entries.push_back({no_term, let});
                ones.push_back({e->s.name, loop::op::add, let.name});
            } else if (one && one->kind == loop::stmt_kind::let) {
                ones.push_back({e->s.name, loop::op::add, v});
                const auto& own = levels.back().entries;
                if (std::none_of(own.begin(), own.end(), [&](const level::entry& x) { return x.t == no_term && x.s.name == v; })) {
                    const pure copy = *one;  // a number of its own
                    levels.back().entries.insert(levels.back().entries.begin(), {no_term, copy});
                }
            } else {
                values.push_back({e->s.name, loop::op::add, v});
            }
        }
        t.twist = recipe::softmax;
        t.states = {{m, loop::op::maximum, score}};
        t.states.insert(t.states.end(), ones.begin(), ones.end());
        t.states.insert(t.states.end(), values.begin(), values.end());
        return true;
    }
};

}  // namespace emmy::fold::closed::detail
