#pragma once
#include <emmy/fold/impl/term.ipp>
#include <emmy/fold/impl/term_axes.ipp>

#include <memory>

namespace emmy::fold::closed {
namespace detail {

inline fault no_form(const std::string& what) { return fault(fault_kind::device_limit, "no fold term for " + what); }

/// What stands at one scope: statements and the terms exposed so far, in order.
struct level {
    struct entry {
        term_id t = no_term;  // a term; else the statement
        pure s{};
    };
    std::vector<entry> entries{};
};

struct term_lifter {
    forest& f;
    std::vector<level> levels{};
    std::vector<name_id> bound{};       // coordinates in binding order: free axes, sweeps, reduced axes of the loops around
    std::vector<name_id> swept{};       // names that sweeps have used
    std::vector<loop::axis> path{};     // sweeps around
    std::vector<store> stores{};

    bool by_text(name_id a, name_id b) const { return f.text(a) < f.text(b); }
    bool exposes(term_id t, name_id n) const { return has(f.components(f[t]), n); }

    // --- closing: every outer value a term reads becomes an operand ---

    std::vector<name_id> unresolved(const term& t) const {
        std::vector<name_id> out;
        auto want = [&](name_id n) {
            if (defined(t, n) || has(out, n)) return;
            for (term_id o : t.operands)
                if (exposes(o, n)) return;
            for (const state& s : t.states)
                if (s.name == n) return;
            out.push_back(n);
        };
        for (const pure& s : t.body)
            for (name_id n : f.reads(s)) want(n);
        for (const state& s : t.states) want(s.contribution);
        for (name_id n : t.results) want(n);
        return out;
    }

    /// The first `visible` levels supply.
    void close(term& t, std::size_t visible) {
        for (std::size_t l = visible; l-- > 0;) {
            std::vector<name_id> need = unresolved(t), values;
            for (const level::entry& e : levels[l].entries)
                if (e.t == no_term && has(need, e.s.name)) values.push_back(e.s.name);
            if (!values.empty()) t.operands.push_back(supply(values, l));
            need = unresolved(t);
            // By number, not by text: acc75 stands before acc115 in the routes of stored files.
            std::sort(need.begin(), need.end(), [&](name_id a, name_id b) { return by_number(f, a, b); });
            for (name_id n : need)
                for (const level::entry& e : levels[l].entries)
                    if (e.t != no_term && exposes(e.t, n)) {
                        if (std::find(t.operands.begin(), t.operands.end(), e.t) == t.operands.end()) t.operands.push_back(e.t);
                        break;
                    }
        }
    }

    /// One operand for all these values of a level: their joint cone.
    term_id supply(std::vector<name_id> values, std::size_t l) {
        term t;
        std::vector<name_id> want = values;
        const auto& entries = levels[l].entries;
        for (std::size_t i = entries.size(); i-- > 0;)
            if (entries[i].t == no_term && has(want, entries[i].s.name)) {
                t.body.push_back(entries[i].s);
                for (name_id r : f.reads(entries[i].s)) add_once(want, r);
            }
        std::reverse(t.body.begin(), t.body.end());
        std::sort(values.begin(), values.end(), [&](name_id a, name_id b) { return by_text(a, b); });
        t.results = std::move(values);
        close(t, l + 1);
        return f.add(std::move(t));
    }

    // --- what stays at a level: the cone of what is read there ---

    void keep_read(level& at, std::vector<name_id> want) const {
        std::vector<level::entry> kept;
        for (std::size_t i = at.entries.size(); i-- > 0;) {
            level::entry& e = at.entries[i];
            if (e.t != no_term) {
                bool read = false;
                for (name_id n : want) read |= exposes(e.t, n);
                if (read) kept.push_back(std::move(e));
            } else if (has(want, e.s.name)) {
                for (name_id r : f.reads(e.s)) add_once(want, r);
                kept.push_back(std::move(e));
            }
        }
        std::reverse(kept.begin(), kept.end());
        at.entries = std::move(kept);
    }

    // --- loops ---

    result<void> walk(const std::vector<nest>& list, std::vector<const nest*>* effects) {
        for (const nest& n : list) {
            if (n.form == nest::kind::pure) {
                if (n.s.kind == loop::stmt_kind::pre && !has(bound, f.step)) return refuse(no_form("a state read outside its loop"));
                levels.back().entries.push_back({no_term, n.s});
            } else if (n.form == nest::kind::write) {
                // Inside a fold: the running state, stored after it was updated.
                if (effects && !n.carries && !n.s.args.empty() && std::none_of(effects->begin(), effects->end(), [&](const nest* e) { return e->s.name == n.s.args[0]; }))
                    return refuse(no_form("a store inside a reduction"));
                stores.push_back({path, n.s.buffer, n.s.args.empty() ? no_name : n.s.args[0], n.s.index, n.atomic, n.carries});
            } else if (n.form == nest::kind::accum) {
                if (!effects) return refuse(no_form("an accumulator outside a reduction"));
                effects->push_back(&n);
            } else if (n.reduces()) {
                EMMY_TRY(made, fold_of(n));
                for (term_id t : made) levels.back().entries.push_back({t, {}});
            } else {
                EMMY_CHECK_OK(sweep(n));
            }
        }
        return {};
    }

    result<void> sweep(const nest& n) {
        nest own;
        const nest* at = &n;
        if (has(bound, n.axis.name) || has(swept, n.axis.name)) {
            own = n;
            const name_id fresh = fresh_name(f, n.axis.name);
            rename_axis(f, own.body, n.axis.name, fresh);
            own.axis.name = fresh;
            at = &own;
        }
        swept.push_back(at->axis.name);
        bound.push_back(at->axis.name), path.push_back(at->axis);
        const std::size_t first_store = stores.size();
        levels.emplace_back();
        EMMY_CHECK_OK(walk(at->body, nullptr));
        level inside = std::move(levels.back());
        levels.pop_back();
        term map;
        for (level::entry& e : inside.entries) {
            if (e.t != no_term) levels.back().entries.push_back(e);
            else map.body.push_back(std::move(e.s));
        }
        // Written values first, then what nested sweeps store of ours.
        std::vector<name_id> nested;
        for (std::size_t i = first_store; i < stores.size(); ++i) {
            const name_id v = stores[i].value;
            if (!defined(map, v)) continue;
            if (stores[i].sweeps.size() == path.size()) add_once(map.results, v);
            else nested.push_back(v);
        }
        std::sort(nested.begin(), nested.end(), [&](name_id a, name_id b) { return by_text(a, b); });
        for (name_id v : nested) add_once(map.results, v);
        trim(map);
        if (!map.body.empty()) {
            close(map, levels.size());
            levels.back().entries.push_back({f.add(std::move(map)), {}});
        }
        bound.pop_back(), path.pop_back();
        return {};
    }
    /// Statements that no result needs go.
    void trim(term& t) const {
        std::vector<name_id> want = t.results;
        std::vector<pure> kept;
        for (std::size_t i = t.body.size(); i-- > 0;)
            if (has(want, t.body[i].name)) {
                for (name_id r : f.reads(t.body[i])) add_once(want, r);
                kept.push_back(std::move(t.body[i]));
            }
        std::reverse(kept.begin(), kept.end());
        t.body = std::move(kept);
    }

    result<std::vector<term_id>> fold_of(const nest& n) {
        term t;
        t.axis = n.axis;
        bound.push_back(n.axis.name);
        levels.emplace_back();
        std::vector<const nest*> effects;
        const std::size_t first_store = stores.size();
        EMMY_CHECK_OK(walk(n.body, &effects));
        std::vector<name_id> want;
        EMMY_TRY(rescaled, online_softmax(t, effects));
        if (rescaled)
            for (const state& s : t.states) want.push_back(s.contribution);
        for (const nest* e : rescaled ? std::vector<const nest*>{} : effects) {
            const loop::op_facts& facts = loop::op_table[static_cast<std::size_t>(e->s.op)];
            if (e->s.type != dtype::none) return refuse(no_form("an accumulator with a dtype"));
            if (!facts.folds) return refuse(no_form("an accumulator without identity"));
            t.states.push_back({e->s.name, e->s.op, e->s.args[0]});
            want.push_back(e->s.args[0]);
        }
        for (std::size_t i = first_store; i < stores.size(); ++i) {
            bool running = false;
            for (const state& s : t.states)
                if (s.name == stores[i].value) {
                    const name_id copy = f.names.intern(std::string(f.text(s.name)) + "__obs");
                    mark(f.is_value, copy);
                    t.observe.push_back({copy, s.name});
                    stores[i].value = copy;
                    stores[i].sweeps.push_back(n.axis);
                    running = true;
                    break;
                }
            if (!running) return refuse(no_form("a store inside a reduction"));
        }
        keep_read(levels.back(), want);
        level inside = std::move(levels.back());
        levels.pop_back();
        for (const level::entry& e : inside.entries)
            if (e.t != no_term) t.operands.push_back(e.t);
        for (level::entry& e : inside.entries) {
            if (e.t != no_term) continue;
            if ((e.s.kind == loop::stmt_kind::load || e.s.kind == loop::stmt_kind::pre) && f.reads(e.s).empty()) t.operands.push_back(slab(e.s));
            else t.body.push_back(std::move(e.s));
        }
        bound.pop_back();
        std::vector<term_id> out;
        term epilogue;
        if (!rescaled) factor(t, epilogue);
        close(t, levels.size());
        const term_id made = f.add(std::move(t));
        if (epilogue.body.empty()) return std::vector<term_id>{made};
        epilogue.operands = {made};
        close(epilogue, levels.size());
        return std::vector<term_id>{f.add(std::move(epilogue))};
    }
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
    term_id slab(const pure& s) {
        term t;
        t.results = {s.name};
        t.body = {s};
        return f.add(std::move(t));
    }

    // --- semiring factoring ---

    struct edge {
        term_id t = no_term;
        bool computed = false;
    };

    void factor(term& t, term& epilogue) {
        if (t.states.empty()) return;
        const loop::op o = t.states[0].op;
        std::vector<std::size_t> products;  // places in t.body, in state order
        std::vector<name_id> factors;       // in the order the products read them, no repeats
        for (const state& s : t.states) {
            if (s.op != o || !loop::op_table[static_cast<std::size_t>(o)].commutative || o != loop::op::add) return;
            std::size_t at = 0;
            while (at < t.body.size() && t.body[at].name != s.contribution) ++at;
            if (at == t.body.size()) return;
            const pure& p = t.body[at];
            if (p.kind != loop::stmt_kind::assign || p.op != loop::op::multiply || p.args[0] == p.args[1]) return;
            for (name_id a : p.args) {
                bool here = defined(t, a) != nullptr;
                for (term_id x : t.operands) here |= exposes(x, a);
                if (!here) return;
                add_once(factors, a);
            }
            if (std::find(products.begin(), products.end(), at) == products.end()) products.push_back(at);
        }
        for (std::size_t p : products)
            if (has(factors, t.body[p].name)) return;
        std::vector<bool> used(t.body.size());
        for (std::size_t p : products) used[p] = true;
        std::vector<std::vector<std::size_t>> cones(factors.size());  // statements, in order
        for (std::size_t i = 0; i < factors.size(); ++i) {
            std::vector<name_id> want{factors[i]};
            for (std::size_t s = t.body.size(); s-- > 0;)
                if (has(want, t.body[s].name)) {
                    cones[i].insert(cones[i].begin(), s);
                    used[s] = true;
                    for (name_id r : f.reads(t.body[s])) add_once(want, r);
                }
        }
        if (std::find(used.begin(), used.end(), false) != used.end()) return;

        decode(t, products, factors, cones, epilogue);

        // Factors whose cones share a statement are one map.
        std::vector<std::size_t> group(factors.size());
        for (std::size_t i = 0; i < factors.size(); ++i) {
            group[i] = i;
            for (std::size_t j = 0; j < i; ++j) {
                bool meet = false;
                for (std::size_t s : cones[i]) meet |= std::find(cones[j].begin(), cones[j].end(), s) != cones[j].end();
                if (meet && group[i] != group[j]) {
                    const std::size_t from = std::max(group[i], group[j]), to = std::min(group[i], group[j]);
                    for (std::size_t k = 0; k <= i; ++k)
                        if (group[k] == from) group[k] = to;
                }
            }
        }
        const std::vector<term_id> before = t.operands;
        std::vector<bool> consumed(before.size());
        std::vector<edge> edges(factors.size());
        for (std::size_t g = 0; g < factors.size(); ++g) {
            if (cones[g].empty() || group[g] != g) continue;
            term map;
            std::vector<std::size_t> body;
            for (std::size_t i = g; i < factors.size(); ++i)
                if (!cones[i].empty() && group[i] == g)
                    for (std::size_t s : cones[i])
                        if (std::find(body.begin(), body.end(), s) == body.end()) body.push_back(s);
            std::sort(body.begin(), body.end());
            std::vector<name_id> read;
            for (std::size_t s : body) {
                map.body.push_back(t.body[s]);
                for (name_id r : f.reads(t.body[s])) add_once(read, r);
            }
            for (std::size_t i = 0; i < factors.size(); ++i) {
                const bool mine = !cones[i].empty() && group[i] == g;
                if (mine || (cones[i].empty() && has(read, factors[i]))) map.results.push_back(factors[i]), edges[i].computed = true, group[i] = g;
            }
            for (std::size_t x = 0; x < before.size(); ++x)
                for (name_id c : f.components(f[before[x]]))
                    if (has(read, c)) {
                        map.operands.push_back(before[x]), consumed[x] = true;
                        break;
                    }
            close(map, levels.size());
            const term_id made = f.add(std::move(map));
            for (std::size_t i = 0; i < factors.size(); ++i)
                if (edges[i].computed && group[i] == g && edges[i].t == no_term) edges[i].t = made;
        }
        for (std::size_t i = 0; i < factors.size(); ++i)
            for (std::size_t x = 0; x < before.size() && edges[i].t == no_term; ++x)
                if (exposes(before[x], factors[i])) edges[i].t = before[x], consumed[x] = true;
        std::vector<pure> body;
        for (std::size_t p : products) body.push_back(t.body[p]);
        t.body = std::move(body);
        std::vector<term_id> list;
        auto once = [&](term_id x) {
            if (x != no_term && std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
        };
        for (const edge& e : edges) once(e.t);
        const std::size_t distinct = list.size();
        std::vector<std::pair<term_id, term_id>> sides;
        for (const pure& p : t.body) {
            std::pair<term_id, term_id> side{no_term, no_term};
            for (std::size_t i = 0; i < factors.size(); ++i) {
                if (factors[i] == p.args[0]) side.first = edges[i].t;
                if (factors[i] == p.args[1]) side.second = edges[i].t;
            }
            sides.push_back(side);
        }
        for (std::size_t x = 0; x < before.size(); ++x)
            if (!consumed[x]) once(before[x]);
        const term_id first = leader(t, sides, std::vector<term_id>(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(distinct)));
        if (first != no_term) std::erase(list, first), list.insert(list.begin(), first);
        t.operands = std::move(list);
    }

    std::vector<name_id> private_to(term_id a, term_id b, name_id axis) const {
        std::vector<name_id> out;
        for (name_id n : f[a].free)
            if (n != axis && !has(f[b].free, n)) out.push_back(n);
        return out;
    }
    std::size_t depth_of(name_id n) const {
        const auto at = std::find(bound.begin(), bound.end(), n);
        return static_cast<std::size_t>(at - bound.begin());
    }

    /// The factor edge that stands first (A), or none: as read.
    term_id leader(const term& t, const std::vector<std::pair<term_id, term_id>>& sides, const std::vector<term_id>& edges) const {
        const name_id k = t.axis.name;
        if (sides.size() > 1) {
            term_id common = no_term;
            for (term_id e : edges) {
                bool all = true;
                for (const auto& s : sides) all &= s.first == e || s.second == e;
                if (all && common != no_term) return no_term;
                if (all) common = e;
            }
            return common;
        }
        const auto [x, y] = sides[0];
        if (x == no_term || y == no_term || x == y) return no_term;
        const bool sx = f[x].is_slab(), sy = f[y].is_slab();
        const std::vector<name_id> px = private_to(x, y, k), py = private_to(y, x, k);
        if (sx && sy) {
            const bool lx = axis_last(f, x, k), ly = axis_last(f, y, k);
            if (lx && ly) {
                auto least = [&](const std::vector<name_id>& p) {
                    return p.empty() ? no_name : *std::min_element(p.begin(), p.end(), [&](name_id a, name_id b) { return by_text(a, b); });
                };
                return by_text(least(py), least(px)) ? y : x;
            }
            if (lx || ly) return lx ? x : y;
        } else if (sx != sy) {
            const term_id read = sx ? x : y, computed = sx ? y : x;
            if (!axis_last(f, read, k)) return computed;
        }
        if (px.size() == 1 && py.size() == 1) return depth_of(py[0]) < depth_of(px[0]) ? y : x;
        return no_term;
    }

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
    bool outer(name_id n) const {
        for (const level& l : levels)
            for (const level::entry& e : l.entries)
                if (e.t == no_term ? e.s.name == n : exposes(e.t, n)) return true;
        return false;
    }
};

}  // namespace detail

EMMY_DECL result<forest> lift_terms(const loop::kernel& k, spelling how) {
    forest f;
    f.kernel_name = k.name, f.inputs = k.inputs, f.outputs = k.outputs;
    f.names = k.body.names, f.exprs = k.body.exprs, f.windows = k.body.windows;
    EMMY_TRY(body, detail::read_nest(f, k.body));
    detail::respell(f, body, how);
    detail::fuse_free_axes(f, k, body);

    detail::term_lifter lift{f};
    lift.levels.emplace_back();
    const std::vector<detail::nest>* at = &body;
    for (;;) {  // peel
        std::size_t loops = 0, others = 0;
        for (const detail::nest& n : *at) {
            loops += n.form == detail::nest::kind::loop;
            others += n.form != detail::nest::kind::loop && n.form != detail::nest::kind::pure;
        }
        if (loops != 1 || others != 0 || at->back().form != detail::nest::kind::loop || at->back().reduces()) break;
        for (const detail::nest& n : *at)
            if (n.form == detail::nest::kind::pure) lift.levels[0].entries.push_back({no_term, n.s});
        f.free.push_back(at->back().axis);
        lift.bound.push_back(at->back().axis.name);
        at = &at->back().body;
    }
    EMMY_CHECK_OK(lift.walk(*at, nullptr));
    f.stores = std::move(lift.stores);
    std::vector<name_id> stored;
    for (const store& s : f.stores) detail::add_once(stored, s.value);
    lift.keep_read(lift.levels[0], stored);
    term root;
    for (const detail::level::entry& e : lift.levels[0].entries) {
        if (e.t != no_term) root.operands.push_back(e.t);
        else root.body.push_back(e.s);
    }
    root.results = stored;
    f.root = f.add(std::move(root));
    normalise(f);
    twist(f);
    return f;
}

EMMY_DECL result<resolved> resolve(const loop::kernel& k, std::span<const std::string_view> addresses) {
    fault first;
    for (const spelling how : spellings) {
        auto f = lift_terms(k, how);
        if (!f) return refuse(std::move(f).error());
        resolved out{std::move(*f), how, {}};
        for (const std::string_view a : addresses) {
            const auto at = find(out.terms, a);
            if (!at) {
                if (how == spelling::stored) first = at.error();
                break;
            }
            out.at.push_back(*at);
        }
        if (out.at.size() == addresses.size()) return out;
    }
    return refuse(std::move(first));
}

}  // namespace emmy::fold::closed
