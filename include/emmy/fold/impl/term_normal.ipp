#pragma once
#include <emmy/fold/impl/term.ipp>

#include <map>
#include <optional>

namespace emmy::fold::closed {
namespace detail {

/// Rebuilds the forest bottom-up from its root; `remake` may answer another term (or several, for a dissolved map).
struct rebuilder {
    const forest& from;
    forest& to;
    std::map<term_id, std::vector<term_id>> done{};
    std::map<std::string, term_id> known{};  // structure -> term of `to`
    std::map<term_id, std::vector<name_id>> taken{};  // components that readers and stores take
    bool changed = false;

    static void number(std::string& out, std::uint64_t v) { out += std::to_string(v), out += ' '; }
    std::string structure(const term& t) const {
        std::string out;
        number(out, t.axis.name), number(out, static_cast<std::uint64_t>(t.axis.extent.kind)), number(out, static_cast<std::uint64_t>(t.axis.extent.number));
        number(out, t.axis.extent.symbol), number(out, t.axis.window), number(out, static_cast<std::uint64_t>(t.twist));
        for (term_id o : t.operands) number(out, o);
        out += '|';
        // Own names that are not exposed do not count: they are numbered by place.
        auto name = [&](name_id n) {
            const std::vector<name_id> shown = to.components(t);
            if (!has(shown, n))
                for (std::size_t i = 0; i < t.body.size(); ++i)
                    if (t.body[i].name == n) return out += 'l', number(out, i);
            out += 'n', number(out, n);
        };
        for (const pure& s : t.body) {
            for (std::uint64_t v : {std::uint64_t(s.kind), std::uint64_t(s.op), std::uint64_t(s.type), std::uint64_t(s.buffer)}) number(out, v);
            name(s.name);
            for (name_id a : s.args) name(a);
            for (expr_id e : s.index) out += 'e', number(out, e);
            out += ';';
        }
        out += '|';
        for (name_id n : t.results) number(out, n);
        for (const state& s : t.states) number(out, s.name), number(out, static_cast<std::uint64_t>(s.op)), name(s.contribution);
        for (const observer& o : t.observe) out += 'o', number(out, o.name), number(out, o.of);
        for (const loop::axis& c : t.cells) out += 'c', number(out, c.name);
        return out;
    }
    term_id place(term t) {
        const std::string key = structure(t);
        const auto at = known.find(key);
        if (at != known.end()) return at->second;
        return known[key] = to.add(std::move(t));
    }

    /// Statements and operands that nothing exposed needs go; exposed components are narrowed to those taken.
    void prune(term& t, const std::vector<name_id>& wanted) {
        if (t.twist == recipe::none && t.observe.empty() && t.cells.empty()) {
            std::erase_if(t.results, [&](name_id n) { return !has(wanted, n); });
            std::erase_if(t.states, [&](const state& s) { return !has(wanted, s.name); });
        }
        std::vector<name_id> want = t.results;
        for (const state& s : t.states) want.push_back(s.contribution);
        std::vector<pure> kept;
        for (std::size_t i = t.body.size(); i-- > 0;)
            if (has(want, t.body[i].name)) {
                for (name_id r : from.reads(t.body[i])) add_once(want, r);
                kept.push_back(t.body[i]);
            }
        std::reverse(kept.begin(), kept.end());
        t.body = std::move(kept);
        read = want;
    }
    std::vector<name_id> read{};

    const std::vector<term_id>& make(term_id id) {
        const auto at = done.find(id);
        if (at != done.end()) return at->second;
        term t = from[id];
        prune(t, taken[id]);
        const std::vector<name_id> mine = read;
        std::vector<term_id> operands;
        for (term_id o : t.operands) {
            bool is_read = false;
            for (name_id c : from.components(from[o])) is_read |= has(mine, c);
            if (!is_read) continue;
            for (term_id x : make(o))
                if (std::find(operands.begin(), operands.end(), x) == operands.end()) operands.push_back(x);
        }
        t.operands = std::move(operands);
        drop_nested(t);
        std::vector<term_id> out;
        if (t.is_map() && t.body.empty() && passes(t) && (id != from.root || t.operands.size() == 1)) {
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
        if (t.is_map() || t.states.size() < 2 || t.twist != recipe::none || !t.observe.empty() || !t.cells.empty()) return std::nullopt;
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
        forest scratch = to;  // kinds are asked of placed terms
        const term_id whole = scratch.add(t);
        if (is_whole(scratch, whole)) return std::nullopt;
        bool any = false;
        std::vector<name_id> coordinates;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const term_id one = scratch.add(parts[i]);
            any |= is_whole(scratch, one);
            if (i == 0) coordinates = scratch[one].free;
            else any |= scratch[one].free != coordinates;
        }
        if (!any) return std::nullopt;
        changed = true;
        std::vector<term_id> out;
        for (term& p : parts) out.push_back(place(std::move(p)));
        return out;
    }
};

}  // namespace detail

EMMY_DECL void normalise(forest& f) {
    for (int round = 0; round < 16; ++round) {
        forest next = detail::without_terms(f);
        detail::rebuilder again{f, next};
        // Who takes what: readers before what they read.
        for (const store& s : f.stores) detail::add_once(again.taken[f.root], s.value);
        std::vector<bool> reached(f.terms.size());
        reached[f.root] = true;
        for (term_id id = static_cast<term_id>(f.terms.size()); id-- > 0;) {
            if (!reached[id]) continue;
            term t = f[id];
            again.prune(t, again.taken[id]);
            for (term_id o : t.operands)
                for (name_id c : f.components(f[o]))
                    if (detail::has(again.read, c)) reached[o] = true, detail::add_once(again.taken[o], c);
        }
        next.root = again.make(f.root)[0];
        const bool same = print(next) == print(f);
        f = std::move(next);
        if (same) return;
    }
}

}  // namespace emmy::fold::closed
