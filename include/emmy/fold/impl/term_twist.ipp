#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/fold/impl/term_axes.ipp>
#include <emmy/loop/op_table.hpp>

#include <map>
#include <optional>
#include <set>

namespace emmy::fold::closed {
namespace detail {

/// Equality of values of two terms with coordinates renamed: structure by structure, commutative arguments in either order.
struct same_value {
    const forest& f;
    std::vector<std::pair<name_id, name_id>> axes{};     // of the first term -> of the second
    std::vector<std::pair<name_id, name_id>> paired{};   // outer values taken as equal
    int budget = 256;                                    // commutative arguments tried the other way round

    bool expressions(expr_id a, expr_id b, const term* x, const term* y) {
        const expr& p = f.exprs[a];
        const expr& q = f.exprs[b];
        if (p.kind != q.kind || p.op != q.op) return false;
        switch (p.kind) {
            case expr_kind::name: {
                if (f.names_value(p.name) || f.names_value(q.name)) return f.names_value(p.name) && f.names_value(q.name) && x && y && values(*x, p.name, *y, q.name);
                for (auto it = axes.rbegin(); it != axes.rend(); ++it)
                    if (it->first == p.name) return it->second == q.name;
                return p.name == q.name;
            }
            case expr_kind::binary: return expressions(p.a, q.a, x, y) && expressions(p.b, q.b, x, y);
            case expr_kind::ternary: return expressions(p.a, q.a, x, y) && expressions(p.b, q.b, x, y) && expressions(p.c, q.c, x, y);
            case expr_kind::cast: return p.name == q.name && expressions(p.a, q.a, x, y);
            default: return a == b;
        }
    }
    bool statements(const term& x, const pure& a, const term& y, const pure& b) {
        if (a.kind != b.kind || a.op != b.op || a.type != b.type || a.buffer != b.buffer || a.args.size() != b.args.size() || a.index.size() != b.index.size()) return false;
        for (std::size_t i = 0; i < a.index.size(); ++i)
            if (!expressions(a.index[i], b.index[i], &x, &y)) return false;
        const bool as_read = std::equal(a.args.begin(), a.args.end(), b.args.begin(), [&](name_id p, name_id q) { return values(x, p, y, q); });
        if (as_read || a.kind != loop::stmt_kind::assign || a.args.size() != 2 || !loop::facts(a.op).commutative || budget == 0) return as_read;
        --budget;
        return values(x, a.args[0], y, b.args[1]) && values(x, a.args[1], y, b.args[0]);
    }
    bool values(const term& x, name_id a, const term& y, name_id b) {
        for (const auto& [p, q] : paired)
            if (p == a) return q == b;
        const pure* s = defined(x, a);
        const pure* r = defined(y, b);
        if (s || r) return s && r && statements(x, *s, y, *r);
        for (term_id o : x.operands) {
            const std::vector<name_id> shown = f.components(f[o]);
            const auto at = std::find(shown.begin(), shown.end(), a);
            if (at == shown.end()) continue;
            for (term_id other : y.operands) {
                const std::vector<name_id> theirs = f.components(f[other]);
                const auto to = std::find(theirs.begin(), theirs.end(), b);
                if (to != theirs.end()) return component(o, static_cast<std::size_t>(at - shown.begin()), other, static_cast<std::size_t>(to - theirs.begin()));
            }
            return false;
        }
        return a == b;
    }
    bool component(term_id a, std::size_t i, term_id b, std::size_t j) {
        const term& x = f[a];
        const term& y = f[b];
        if (x.is_map() != y.is_map() || x.twist != y.twist) return false;
        if (x.is_map()) return values(x, x.results[i], y, y.results[j]);
        if (!same_extent(x.axis.extent, y.axis.extent) || i >= x.states.size() || j >= y.states.size() || x.states[i].op != y.states[j].op) return false;
        axes.emplace_back(x.axis.name, y.axis.name);
        const bool out = values(x, x.states[i].contribution, y, y.states[j].contribution);
        axes.pop_back();
        return out;
    }
};

/// A dependent sum brought into a form that a recipe may know.
struct dependent {
    term t{};
    std::vector<std::vector<std::pair<loop::op, name_id>>> hoisted{};  // per state, innermost factor first
};

struct twister {
    forest& f;

    bool varies(const term& t, name_id n) const {
        std::vector<name_id> cone{n};  // each value once
        for (std::size_t i = 0; i < cone.size(); ++i) {
            if (const pure* s = defined(t, cone[i])) {
                if (has(f.coordinates(*s), t.axis.name)) return true;
                for (name_id r : f.reads(*s)) add_once(cone, r);
                continue;
            }
            for (term_id o : t.operands)
                if (has(f.components(f[o]), cone[i]) && has(f[o].free, t.axis.name)) return true;
        }
        return false;
    }
    bool reaches(term_id from, term_id what) const {
        std::set<term_id> seen{from};  // each term once; operands have smaller ids
        for (std::vector<term_id> todo{from}; !todo.empty();) {
            const term_id at = todo.back();
            todo.pop_back();
            if (at == what) return true;
            for (term_id o : f[at].operands)
                if (o >= what && seen.insert(o).second) todo.push_back(o);
        }
        return false;
    }

    /// One single-result map operand over a fold, written into the lift: a value's own map stays an operand.
    dependent inlined(const dependent& d, term_id which) const {
        dependent out = d;
        out.t.operands.clear();
        std::vector<pure> body;
        auto once = [&](term_id o) {
            if (std::find(out.t.operands.begin(), out.t.operands.end(), o) == out.t.operands.end()) out.t.operands.push_back(o);
        };
        for (term_id o : d.t.operands) {
            const term& m = f[o];
            const bool over = o == which && m.is_map() && m.results.size() == 1 && std::any_of(m.operands.begin(), m.operands.end(), [&](term_id x) { return !f[x].is_map(); });
            if (!over) {
                once(o);
                continue;
            }
            for (term_id x : m.operands) once(x);
            for (const pure& s : m.body)
                if (std::find(body.begin(), body.end(), s) == body.end()) body.push_back(s);
        }
        for (const pure& s : d.t.body) body.push_back(s);
        out.t.body = std::move(body);
        return out;
    }
    /// The value without its factors that do not vary; nullopt where a varying divisor forbids.
    std::optional<name_id> strip(dependent& d, std::size_t state, name_id n) {
        const pure* at = defined(d.t, n);
        if (!at || at->kind != loop::stmt_kind::assign) return n;
        const pure s = *at;
        auto& out = d.hoisted[state];
        if (s.op == loop::op::divide) {
            if (varies(d.t, s.args[1])) return std::nullopt;
            out.emplace_back(loop::op::divide, s.args[1]);
            return strip(d, state, s.args[0]);
        }
        if (s.op != loop::op::multiply) return n;
        for (int i = 0; i < 2; ++i)
            if (!varies(d.t, s.args[i])) {
                out.emplace_back(loop::op::multiply, s.args[i]);
                return strip(d, state, s.args[1 - i]);
            }
        const auto a = strip(d, state, s.args[0]), b = strip(d, state, s.args[1]);
        if (!a || !b) return std::nullopt;
        if (*a == s.args[0] && *b == s.args[1]) return n;
        pure made = s;
        made.name = f.names.intern(std::string(f.text(n)) + "__bare");
        mark(f.is_value, made.name);
        made.args = {*a, *b};
        d.t.body.push_back(made);
        return made.name;
    }
    std::optional<dependent> hoist(const dependent& d) {
        dependent out = d;
        out.hoisted.assign(d.t.states.size(), {});
        bool any = false;
        for (std::size_t i = 0; i < out.t.states.size(); ++i) {
            const auto bare = strip(out, i, out.t.states[i].contribution);
            if (!bare) return std::nullopt;
            out.t.states[i].contribution = *bare;
            std::reverse(out.hoisted[i].begin(), out.hoisted[i].end());
            any |= !out.hoisted[i].empty();
        }
        return any ? std::optional<dependent>(out) : std::nullopt;
    }

    /// Outer values that the cone of a value reads, by text.
    std::vector<name_id> inputs(const term& t, name_id n) const {
        std::vector<name_id> out, todo{n}, seen;
        while (!todo.empty()) {
            const name_id at = todo.back();
            todo.pop_back();
            if (has(seen, at)) continue;
            seen.push_back(at);
            if (const pure* s = defined(t, at)) {
                for (name_id r : f.reads(*s)) todo.push_back(r);
            } else {
                out.push_back(at);
            }
        }
        std::sort(out.begin(), out.end(), [&](name_id a, name_id b) { return f.text(a) < f.text(b); });
        return out;
    }
    /// The dependent's score is the pivot's contribution. Outer values are paired in the order of their texts: stored files were written
    /// by that rule, and a score that it misses stays a chain of plain folds.
    bool same_score(const term& d, name_id s, const term& p, name_id contribution) const {
        const std::vector<name_id> x = inputs(d, s), y = inputs(p, contribution);
        if (x.size() != y.size()) return false;
        same_value eq{f, {{d.axis.name, p.axis.name}}, {}};
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!eq.values(strip_body(d), x[i], strip_body(p), y[i])) return false;
        for (std::size_t i = 0; i < x.size(); ++i) eq.paired.emplace_back(x[i], y[i]);
        return eq.values(d, s, p, contribution);
    }
    static term strip_body(term t) {
        t.body.clear();
        return t;
    }

    /// v of exp(s - g) * v (no_name for a bare exp); nullopt: no match.
    std::optional<name_id> softmax_channel(const term& d, const state& s, const term& p) const {
        if (s.op != loop::op::add) return std::nullopt;
        auto is_exp = [&](name_id n) {
            const pure* e = defined(d, n);
            if (!e || e->kind != loop::stmt_kind::assign || e->op != loop::op::exp) return false;
            const pure* z = defined(d, e->args[0]);
            return z && z->kind == loop::stmt_kind::assign && z->op == loop::op::subtract && z->args[1] == p.states[0].name &&
                   same_score(d, z->args[0], p, p.states[0].contribution);
        };
        if (is_exp(s.contribution)) return no_name;
        const pure* m = defined(d, s.contribution);
        if (!m || m->kind != loop::stmt_kind::assign || m->op != loop::op::multiply) return std::nullopt;
        for (int i = 0; i < 2; ++i)
            if (is_exp(m->args[i])) return m->args[1 - i];
        return std::nullopt;
    }

    bool pivot(const term& p) const {
        return p.twist == recipe::softmax || (!p.is_map() && p.twist == recipe::none && p.states.size() == 1 && p.states[0].op == loop::op::maximum && p.observe.empty());
    }

    /// Joins `d` (in one of its forms) to pivot `p`; true when the forest was rewritten.
    bool join(term_id d_id, term_id p_id, const dependent& form) {
        const term p = f[p_id];
        const term& d = form.t;
        std::vector<name_id> channels;
        for (const state& s : d.states) {
            const auto v = softmax_channel(d, s, p);
            if (!v) return false;
            channels.push_back(*v);
        }
        term made = p;
        made.twist = recipe::softmax;
        const name_id one = f.names.intern("__one");
        mark(f.is_value, one);
        std::vector<state> tail;
        const expr_id by = f.exprs.name(p.axis.name);
        for (std::size_t i = 0; i < d.states.size(); ++i) {
            state s = d.states[i];
            if (!form.hoisted.empty() && !form.hoisted[i].empty()) s.name = f.names.intern(std::string(f.text(s.name)) + "__sum");
            mark(f.is_value, s.name);
            if (channels[i] == no_name) {
                if (!defined(made, one)) made.body.push_back({loop::stmt_kind::let, loop::op::none, dtype::none, one, no_name, {}, {f.exprs.real(1.0)}});
                s.contribution = one;
                std::size_t at = 1;
                while (at < made.states.size() && made.states[at].contribution == one) ++at;
                made.states.insert(made.states.begin() + static_cast<std::ptrdiff_t>(at), s);
                continue;
            }
            s.contribution = channels[i];
            tail.push_back(s);
        }
        made.states.insert(made.states.end(), tail.begin(), tail.end());
        // What the values of the expectations read.
        std::vector<name_id> want;
        for (const state& s : tail) want.push_back(s.contribution);
        std::vector<pure> extra;
        for (std::size_t i = d.body.size(); i-- > 0;)
            if (has(want, d.body[i].name)) {
                extra.push_back(d.body[i]);
                for (name_id r : f.reads(d.body[i])) add_once(want, r);
            }
        for (auto it = extra.rbegin(); it != extra.rend(); ++it) {
            pure s = *it;
            for (expr_id& e : s.index) e = with(f, e, {{d.axis.name, by}});
            if (!defined(made, s.name)) made.body.push_back(s);
        }
        std::map<term_id, term_id> along;
        for (term_id o : d.operands) {
            bool read = false;
            for (name_id c : f.components(f[o])) read |= has(want, c);
            if (!read) continue;
            if (reaches(o, p_id) || reaches(o, d_id)) return false;
            const term_id moved = over_axis(o, d.axis.name, p.axis.name, along);
            if (std::find(made.operands.begin(), made.operands.end(), moved) == made.operands.end()) made.operands.push_back(moved);
        }
        if (!made.operands.empty())
            std::stable_partition(made.operands.begin() + 1, made.operands.end(), [&](term_id o) { return !f[o].free.empty(); });
        const term_id twisted = f.add(std::move(made));
        std::map<term_id, term_id> done{{p_id, twisted}, {d_id, twisted}};
        bool scaled = false;
        for (const auto& h : form.hoisted) scaled |= !h.empty();
        if (scaled) {
            term after;
            after.operands = {twisted};
            std::vector<name_id> read;
            for (std::size_t i = 0; i < d.states.size(); ++i) {
                const name_id whole = d.states[i].name;
                const std::string text(f.text(whole));
                name_id value = form.hoisted[i].empty() ? whole : f.names.intern(text + "__sum");
                for (std::size_t n = 0; n < form.hoisted[i].size(); ++n) {
                    const auto& [o, factor] = form.hoisted[i][n];
                    pure s;
                    s.op = o, s.name = n + 1 == form.hoisted[i].size() ? whole : f.names.intern(text + "__scaled" + std::to_string(n));
                    mark(f.is_value, s.name);
                    s.args = {value, factor};
                    value = s.name;
                    after.body.push_back(s);
                    add_once(read, factor);
                }
                after.results.push_back(whole);
            }
            // Factors computed inside the dependent's lift come along.
            std::vector<pure> computed;
            for (std::size_t i = d.body.size(); i-- > 0;)
                if (has(read, d.body[i].name)) {
                    computed.push_back(d.body[i]);
                    for (name_id r : f.reads(d.body[i])) add_once(read, r);
                }
            after.body.insert(after.body.begin(), computed.rbegin(), computed.rend());
            for (term_id o : d.operands) {
                bool is_read = false;
                for (name_id c : f.components(f[o])) is_read |= has(read, c);
                if (!is_read) continue;
                const term_id now = rewritten(o, done);
                if (std::find(after.operands.begin(), after.operands.end(), now) == after.operands.end()) after.operands.push_back(now);
            }
            done[d_id] = f.add(std::move(after));
        }
        f.root = rewritten(f.root, done);
        return true;
    }
    /// A term read over another coordinate.
    term_id over_axis(term_id id, name_id from, name_id to, std::map<term_id, term_id>& done) {
        if (from == to || !has(f[id].free, from)) return id;
        if (const auto at = done.find(id); at != done.end()) return at->second;
        term t = f[id];
        const expr_id by = f.exprs.name(to);
        for (pure& s : t.body)
            for (expr_id& e : s.index) e = with(f, e, {{from, by}});
        for (term_id& o : t.operands) o = over_axis(o, from, to, done);
        return done[id] = f.add(std::move(t));
    }
    term_id rewritten(term_id id, std::map<term_id, term_id>& done) {
        if (const auto at = done.find(id); at != done.end()) return at->second;
        term t = f[id];
        std::vector<term_id> operands;
        for (term_id o : t.operands) {
            const term_id now = rewritten(o, done);
            if (std::find(operands.begin(), operands.end(), now) == operands.end()) operands.push_back(now);
        }
        if (operands == t.operands) return done[id] = id;
        t.operands = std::move(operands);
        return done[id] = f.add(std::move(t));
    }

    bool step() {
        for (const site& s : sites(f)) {
            const term& d = f[s.term];
            if (d.is_map() || d.twist != recipe::none || !d.observe.empty()) continue;
            std::vector<term_id> pivots;
            auto offer = [&](term_id p) {
                if (pivot(f[p]) && same_extent(f[p].axis.extent, d.axis.extent) && f[p].axis.window == d.axis.window &&
                    std::find(pivots.begin(), pivots.end(), p) == pivots.end())
                    pivots.push_back(p);
            };
            for (term_id o : d.operands) {
                offer(o);
                if (f[o].is_map())
                    for (term_id x : f[o].operands) offer(x);
            }
            for (term_id p : pivots) {
                const dependent plain{f[s.term], {}};
                if (join(s.term, p, plain)) return true;
                if (const auto h = hoist(plain); h && join(s.term, p, *h)) return true;
                for (const term_id which : plain.t.operands) {
                    const dependent in = inlined(plain, which);
                    if (in.t.operands == plain.t.operands) continue;
                    if (join(s.term, p, in)) return true;
                    if (const auto h = hoist(in); h && join(s.term, p, *h)) return true;
                }
            }
        }
        return false;
    }
};

}  // namespace detail

EMMY_DECL void twist(forest& f) {
    for (int round = 0; round < 256 && detail::twister{f}.step(); ++round) normalise(f);
}

}  // namespace emmy::fold::closed
