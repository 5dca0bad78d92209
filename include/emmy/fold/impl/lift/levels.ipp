#pragma once
#include <emmy/fold/impl/term.ipp>
#include <emmy/fold/impl/term_axes.ipp>

namespace emmy::fold::closed::detail {

inline fault no_form(const std::string& what) { return fault(fault_kind::device_limit, "no fold term for " + what); }

/// What stands at one scope: statements and the terms exposed so far, in order.
struct level {
    struct entry {
        term_id t = no_term;  // a term; else the statement
        pure s{};
    };
    std::vector<entry> entries{};
};

/// Scopes around a place of a body, and what a term reads from them.
struct lift_levels {
    forest& f;
    std::vector<level> levels{};
    std::vector<name_id> bound{};       // coordinates in binding order: free axes, sweeps, reduced axes of the loops around

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
    bool outer(name_id n) const {
        for (const level& l : levels)
            for (const level::entry& e : l.entries)
                if (e.t == no_term ? e.s.name == n : exposes(e.t, n)) return true;
        return false;
    }
    term_id slab(const pure& s) {
        term t;
        t.results = {s.name};
        t.body = {s};
        return f.add(std::move(t));
    }
};

}  // namespace emmy::fold::closed::detail
