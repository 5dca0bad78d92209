#pragma once
#include <emmy/fold/impl/lift/decode.ipp>

namespace emmy::fold::closed::detail {

/// Sums of products: the factors become operands.
struct lift_factor : lift_decode {
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
};

}  // namespace emmy::fold::closed::detail
