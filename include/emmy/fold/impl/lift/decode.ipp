#pragma once
#include <emmy/fold/impl/lift/levels.ipp>

namespace emmy::fold::closed::detail {

/// Factors that are decodes of stored values.
struct lift_decode : lift_levels {
    // --- storage decode: raw slabs inside, invariant factors after the sum ---

    void decode(term& t, const std::vector<std::size_t>& products, std::vector<name_id>& factors, std::vector<std::vector<std::size_t>>& cones,
                term& epilogue) {
        if (!t.observe.empty() || products.size() != t.states.size()) return;
        struct spine {
            name_id raw = no_name;
            std::vector<pure> steps{};  // from the decode outwards
        };
        std::vector<spine> found(factors.size());
        bool any = false;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            spine s;
            name_id value = no_name;
            bool fits = !cones[i].empty();
            for (std::size_t n = 0; fits && n < cones[i].size(); ++n) {
                const pure& p = t.body[cones[i][n]];
                if (n == 0) {
                    fits = (p.op == loop::op::from_f8e4m3 || p.op == loop::op::from_f8e5m2) && p.kind == loop::stmt_kind::assign;
                    if (fits) {
                        fits = false;
                        for (term_id o : t.operands) fits |= f[o].is_slab() && exposes(o, p.args[0]) && has(f[o].free, t.axis.name);
                        s.raw = p.args[0];
                    }
                } else {
                    const bool times = p.op == loop::op::multiply, over = p.op == loop::op::divide;
                    fits = p.kind == loop::stmt_kind::assign && (times || over) && (p.args[0] == value || (times && p.args[1] == value));
                    if (fits) {
                        const name_id other = p.args[0] == value ? p.args[1] : p.args[0];
                        fits = other != value && !defined(t, other);
                        for (term_id o : t.operands)
                            if (exposes(o, other)) fits = false;
                        s.steps.push_back(p);
                    }
                }
                value = p.name;
            }
            if (fits && has(factors, s.raw)) fits = false;
            if (fits) found[i] = s, any = true;
        }
        if (!any) return;
        std::vector<std::vector<const pure*>> after(t.states.size());
        for (std::size_t k = 0; k < t.states.size(); ++k) {
            pure& p = t.body[products[k]];
            for (name_id& a : p.args)
                for (std::size_t i = 0; i < factors.size(); ++i)
                    if (a == factors[i] && found[i].raw != no_name) {
                        for (const pure& s : found[i].steps) after[k].push_back(&s);
                        a = found[i].raw;
                        break;
                    }
        }
        const bool scaled = std::any_of(after.begin(), after.end(), [](const auto& list) { return !list.empty(); });
        if (scaled)
            for (std::size_t k = 0; k < t.states.size(); ++k) {
                const name_id whole = t.states[k].name;
                const std::string text(f.text(whole));
                const name_id sum = f.names.intern(text + "__sum");
                mark(f.is_value, sum);
                t.states[k].name = sum;
                name_id value = sum;
                for (std::size_t i = 0; i < after[k].size(); ++i) {
                    pure s = *after[k][i];
                    s.type = dtype::none;  // a factor of the sum, which is wider
                    const name_id before = spine_value(*after[k][i], found);
                    for (name_id& a : s.args)
                        if (a == before) a = value;
                    s.name = i + 1 == after[k].size() ? whole : f.names.intern(text + "__scaled" + std::to_string(i));
                    mark(f.is_value, s.name);
                    value = s.name;
                    epilogue.body.push_back(s);
                }
                if (after[k].empty()) epilogue.body.push_back({loop::stmt_kind::assign, loop::op::copy, dtype::none, whole, no_name, {sum}, {}});
                epilogue.results.push_back(whole);
            }
        for (std::size_t i = 0; i < factors.size(); ++i)
            if (found[i].raw != no_name) factors[i] = found[i].raw, cones[i].clear();
    }
    /// The argument of a spine's step that is the spine's value so far: the one that is no outer value.
    template <class Spines>
    name_id spine_value(const pure& s, const Spines& spines) const {
        for (const auto& x : spines)
            for (std::size_t n = 0; n < x.steps.size(); ++n)
                if (x.steps[n].name == s.name) {
                    if (n > 0) return x.steps[n - 1].name;
                    for (name_id a : s.args)  // the decode's name: the argument defined inside the step
                        if (!outer(a)) return a;
                }
        return no_name;
    }
};

}  // namespace emmy::fold::closed::detail
