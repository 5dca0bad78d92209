#pragma once
#include <emmy/fold/impl/term.ipp>

#include <map>
#include <optional>

namespace emmy::fold::closed {
namespace detail {

/// Rebuilds the forest bottom-up from its root; `remake` may answer another term (or several, for a dissolved map).
struct rebuilder {
    const std::vector<term>& from;
    term_id root;
    forest& to;
    std::vector<std::vector<term_id>> done = std::vector<std::vector<term_id>>(from.size());
    std::map<std::vector<std::uint64_t>, term_id> known{};  // structure -> term of `to`
    std::vector<std::vector<name_id>> taken = std::vector<std::vector<name_id>>(from.size());  // components that readers and stores take

    std::vector<std::uint64_t> structure(const term& t) const {
        std::vector<std::uint64_t> out{t.axis.name, static_cast<std::uint64_t>(t.axis.extent.kind), static_cast<std::uint64_t>(t.axis.extent.number), t.axis.extent.symbol, t.axis.window,
                                       static_cast<std::uint64_t>(t.twist), t.operands.size(), t.body.size(), t.results.size(), t.states.size(), t.observe.size()};
        for (term_id o : t.operands) out.push_back(o);
        // Own names that are not exposed do not count: they are numbered by place.
        const std::vector<name_id> shown = to.components(t);
        auto name = [&](name_id n) {
            if (!has(shown, n))
                for (std::size_t i = 0; i < t.body.size(); ++i)
                    if (t.body[i].name == n) return out.push_back(std::uint64_t{1} << 32 | i);
            out.push_back(n);
        };
        for (const pure& s : t.body) {
            for (std::uint64_t v : {std::uint64_t(s.kind), std::uint64_t(s.op), std::uint64_t(s.type), std::uint64_t(s.buffer), std::uint64_t(s.args.size()), std::uint64_t(s.index.size())}) out.push_back(v);
            name(s.name);
            for (name_id a : s.args) name(a);
            for (expr_id e : s.index) out.push_back(e);
        }
        for (name_id n : t.results) out.push_back(n);
        for (const state& s : t.states) out.push_back(s.name), out.push_back(static_cast<std::uint64_t>(s.op)), name(s.contribution);
        for (const observer& o : t.observe) out.push_back(o.name), out.push_back(o.of);
        return out;
    }
    term_id place(term t) {
        const auto [at, fresh] = known.try_emplace(structure(t), no_term);
        if (fresh) at->second = to.add(std::move(t));
        return at->second;
    }

    /// Statements and operands that nothing exposed needs go; exposed components are narrowed to those taken.
    void prune(term& t, const std::vector<name_id>& wanted) {
        if (t.twist == recipe::none && t.observe.empty()) {
            std::erase_if(t.results, [&](name_id n) { return !has(wanted, n); });
            std::erase_if(t.states, [&](const state& s) { return !has(wanted, s.name); });
        }
        std::vector<name_id> want = t.results;
        for (const state& s : t.states) want.push_back(s.contribution);
        std::vector<pure> kept;
        for (std::size_t i = t.body.size(); i-- > 0;)
            if (has(want, t.body[i].name)) {
                for (name_id r : to.reads(t.body[i])) add_once(want, r);
                kept.push_back(std::move(t.body[i]));
            }
        std::reverse(kept.begin(), kept.end());
        t.body = std::move(kept);
        read = want;
    }
    std::vector<name_id> read{};

    const std::vector<term_id>& make(term_id id) {
        if (!done[id].empty()) return done[id];
        term t = from[id];
        prune(t, taken[id]);
        const std::vector<name_id> mine = read;
        std::vector<term_id> operands;
        for (term_id o : t.operands) {
            bool is_read = false;
            for (name_id c : to.components(from[o])) is_read |= has(mine, c);
            if (!is_read) continue;
            for (term_id x : make(o))
                if (std::find(operands.begin(), operands.end(), x) == operands.end()) operands.push_back(x);
        }
        t.operands = std::move(operands);
        drop_nested(t);
        std::vector<term_id> out;
        if (t.is_map() && t.body.empty() && passes(t) && (id != root || t.operands.size() == 1)) {
            out = t.operands;
        } else if (const auto parts = split_states(t); parts) {
            out = *parts;
        } else {
            out = {place(std::move(t))};
        }
        return done[id] = out;
    }
    bool passes(const term& t) const {
        std::vector<name_id> all;
        for (term_id o : t.operands)
            for (name_id c : to.components(to[o])) all.push_back(c);
        return !t.operands.empty() && all == t.results;
    }
    /// A map operand of a map that a sibling operand already takes and wholly re-exposes.
    void drop_nested(term& t) const {
        if (!t.is_map()) return;
        for (std::size_t i = 0; i < t.operands.size(); ++i) {
            const term& x = to[t.operands[i]];
            if (!x.is_map() || x.is_slab()) continue;
            for (term_id other : t.operands) {
                const term& y = to[other];
                if (other == t.operands[i] || std::find(y.operands.begin(), y.operands.end(), t.operands[i]) == y.operands.end()) continue;
                const std::vector<name_id> shown = to.components(y);
                if (std::all_of(x.results.begin(), x.results.end(), [&](name_id n) { return has(shown, n); })) {
                    t.operands.erase(t.operands.begin() + static_cast<std::ptrdiff_t>(i--));
                    break;
                }
            }
        }
    }
    /// One fold per state where that makes a contraction whole or the states vary with different coordinates.
    std::optional<std::vector<term_id>> split_states(const term& t) {
        if (t.is_map() || t.states.size() < 2 || t.twist != recipe::none || !t.observe.empty()) return std::nullopt;
        std::vector<term> parts;
        for (const state& s : t.states) {
            term one = t;
            one.states = {s};
            prune(one, {s.name});
            std::erase_if(one.operands, [&](term_id o) {
                for (name_id c : to.components(to[o]))
                    if (has(read, c)) return false;
                return true;
            });
            parts.push_back(std::move(one));
        }
        const std::size_t placed = to.terms.size();  // kinds are asked of placed terms, which go again
        bool any = false;
        std::vector<name_id> coordinates;
        if (!is_whole(to, to.add(t)))
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const term_id one = to.add(parts[i]);
                any |= is_whole(to, one);
                if (i == 0) coordinates = to[one].free;
                else any |= to[one].free != coordinates;
            }
        to.terms.resize(placed);
        if (!any) return std::nullopt;
        std::vector<term_id> out;
        for (term& p : parts) out.push_back(place(std::move(p)));
        return out;
    }
};

inline bool same_terms(const std::vector<term>& a, const std::vector<term>& b) {
    auto axis = [](const loop::axis& x, const loop::axis& y) { return x.name == y.name && x.extent == y.extent && x.window == y.window; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const term& x, const term& y) {
        return axis(x.axis, y.axis) && x.operands == y.operands && x.body == y.body && x.results == y.results && x.states == y.states && x.observe == y.observe &&
               x.twist == y.twist;
    });
}

}  // namespace detail

EMMY_DECL void normalise(forest& f) {
    for (int round = 0; round < 16; ++round) {
        forest next;
        std::vector<term> before = std::move(f.terms);
        const term_id root = f.root;
        f.terms.clear();
        next = std::move(f);  // pools move along: nothing is copied
        detail::rebuilder again{before, root, next};
        // Who takes what: readers before what they read.
        for (const store& s : next.stores) detail::add_once(again.taken[root], s.value);
        std::vector<bool> reached(before.size());
        reached[root] = true;
        for (term_id id = static_cast<term_id>(before.size()); id-- > 0;) {
            if (!reached[id]) continue;
            term t = before[id];
            again.prune(t, again.taken[id]);
            for (term_id o : t.operands)
                for (name_id c : next.components(before[o]))
                    if (detail::has(again.read, c)) reached[o] = true, detail::add_once(again.taken[o], c);
        }
        const std::vector<term_id> roots = again.make(root);
        next.root = roots[0];
        if (roots.size() > 1) {  // a root whose states parted: a map passes them on
            term all;
            all.operands = roots;
            for (const term_id r : roots)
                for (const name_id c : next.components(next[r])) all.results.push_back(c);
            next.root = again.place(std::move(all));
        }
        f = std::move(next);
        if (f.root == root && detail::same_terms(before, f.terms)) return;
    }
}

}  // namespace emmy::fold::closed
