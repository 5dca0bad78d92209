#pragma once
#include <emmy/fold/term.hpp>
#include <emmy/loop/op_table.hpp>

#include <algorithm>
#include <charconv>

namespace emmy::fold::closed {
namespace detail {

inline bool has(const std::vector<name_id>& list, name_id n) { return std::find(list.begin(), list.end(), n) != list.end(); }
inline void add_once(std::vector<name_id>& list, name_id n) {
    if (!has(list, n)) list.push_back(n);
}
/// acc75 before acc115.
inline bool by_number(const forest& f, name_id a, name_id b) {
    const std::string_view x = f.text(a), y = f.text(b);
    const std::size_t i = x.find_last_not_of("0123456789"), j = y.find_last_not_of("0123456789");
    if (i == j && x.substr(0, i + 1) == y.substr(0, j + 1) && x.size() != y.size()) return x.size() < y.size();
    return x < y;
}
inline const pure* defined(const term& t, name_id n) {
    for (const pure& s : t.body)
        if (s.name == n) return &s;
    return nullptr;
}

}  // namespace detail

EMMY_DECL void forest::names_in(const expr_pool& exprs, expr_id e, std::vector<name_id>& out) {
    if (e == no_expr) return;
    const expr& x = exprs[e];
    switch (x.kind) {
        case expr_kind::name: out.push_back(x.name); return;
        case expr_kind::binary: names_in(exprs, x.a, out), names_in(exprs, x.b, out); return;
        case expr_kind::ternary: names_in(exprs, x.a, out), names_in(exprs, x.b, out), names_in(exprs, x.c, out); return;
        case expr_kind::cast: names_in(exprs, x.a, out); return;
        case expr_kind::call:
            for (expr_id a : exprs.args(x)) names_in(exprs, a, out);
            return;
        default: return;
    }
}

EMMY_DECL std::vector<name_id> forest::reads(const pure& s) const {
    std::vector<name_id> out = s.args, named;
    for (expr_id e : s.index) names_in(e, named);
    for (name_id n : named)
        if (names_value(n)) out.push_back(n);
    return out;
}

EMMY_DECL std::vector<name_id> forest::coordinates(const pure& s) const {
    std::vector<name_id> out, named;
    for (expr_id e : s.index) names_in(e, named);
    for (name_id n : named)
        if (names_axis(n)) detail::add_once(out, n);
    if (s.kind == loop::stmt_kind::pre) detail::add_once(out, step);
    return out;
}

EMMY_DECL term_id forest::add(term t) {
    t.free.clear();
    for (const pure& s : t.body)
        for (name_id n : coordinates(s)) detail::add_once(t.free, n);
    for (term_id o : t.operands)
        for (name_id n : terms[o].free) detail::add_once(t.free, n);
    std::erase(t.free, t.axis.name);
    std::sort(t.free.begin(), t.free.end());
    terms.push_back(std::move(t));
    return static_cast<term_id>(terms.size() - 1);
}

EMMY_DECL std::vector<name_id> forest::components(const term& t) const {
    if (t.is_map()) return t.results;
    std::vector<name_id> out;
    for (const state& s : t.states) out.push_back(s.name);
    for (const observer& o : t.observe) out.push_back(o.name);
    return out;
}

namespace detail {

/// Whether a value of the fold comes from operand `a` alone (and from terms without coordinates), and varies with it.
struct origin {
    bool a = false, others = false;
    term_id component_of = no_term;  // where the value is a component outright
};
inline origin origin_of(const forest& f, const term& t, name_id n, term_id a) {
    origin out;
    std::vector<name_id> cone{n};  // each value once
    for (std::size_t i = 0; i < cone.size(); ++i) {
        if (const pure* s = defined(t, cone[i])) {
            for (name_id r : f.reads(*s)) add_once(cone, r);
            for (name_id c : f.coordinates(*s))
                if (!has(f[a].free, c)) out.others = true;
            continue;
        }
        for (term_id o : t.operands)
            if (has(f.components(f[o]), cone[i])) {
                out.a |= o == a, out.others |= o != a && !f[o].free.empty();
                if (i == 0) out.component_of = o;
                break;
            }
    }
    return out;
}
/// Does the last index of the (single) load behind a term name this axis; maps: any of their loads reached.
inline bool axis_last(const forest& f, term_id id, name_id axis) {
    const term& t = f[id];
    if (!t.is_slab() || t.body[0].index.empty()) return false;
    std::vector<name_id> named;
    f.names_in(t.body[0].index.back(), named);
    return has(named, axis);
}
/// B of a state's product with operand 1, or none.
inline term_id channel(const forest& f, const term& t, const state& s) {
    if (t.operands.size() < 2 || s.op != loop::op::add) return no_term;
    const pure* p = defined(t, s.contribution);
    if (!p || p->op != loop::op::multiply || p->args[0] == p->args[1]) return no_term;
    const term_id a = t.operands[0];
    for (int swap = 0; swap < 2; ++swap) {
        const origin x = origin_of(f, t, p->args[swap], a), y = origin_of(f, t, p->args[1 - swap], a);
        if (!x.a || x.others || y.component_of == no_term || y.component_of == a) continue;
        const term& ta = f[a];
        const term& tb = f[y.component_of];
        if (tb.free.empty() || !has(ta.free, t.axis.name) || !has(tb.free, t.axis.name) || ta.free == tb.free) continue;
        return y.component_of;
    }
    return no_term;
}

}  // namespace detail

EMMY_DECL contraction as_contraction(const forest& f, term_id id) {
    const term& t = f[id];
    contraction out;
    if (t.is_map() || t.twist != recipe::none) return out;
    for (const state& s : t.states) {
        const term_id b = detail::channel(f, t, s);
        if (b == no_term) continue;
        if (!out) out = {t.operands[0], b};
        else if (f[b].free != f[out.b].free || detail::axis_last(f, b, t.axis.name) != detail::axis_last(f, out.b, t.axis.name)) return {};
    }
    return out;
}

EMMY_DECL bool is_whole(const forest& f, term_id id) {
    const term& t = f[id];
    return as_contraction(f, id) && std::all_of(t.states.begin(), t.states.end(), [&](const state& s) { return detail::channel(f, t, s) != no_term; });
}

EMMY_DECL term_kind forest::kind(term_id id) const {
    const term& t = terms[id];
    if (t.is_map()) return term_kind::map;
    if (!t.observe.empty()) return term_kind::scan;
    if (t.twist != recipe::none) return term_kind::twist;
    return as_contraction(*this, id) ? term_kind::inner : term_kind::reduce;
}

namespace detail {

inline void walk_sites(const forest& f, term_id id, const std::string& prefix, std::vector<term_id>& path, std::vector<bool>& seen, std::vector<site>& out) {
    if ((f[id].is_slab() && id != f.root) || seen[id]) return;  // the root of a copying kernel is no operand
    seen[id] = true;
    path.push_back(id);
    const std::string here = prefix + std::string(kind_word(f.kind(id)));
    out.push_back({id, here, path});
    for (std::size_t i = 0; i < f[id].operands.size(); ++i)
        walk_sites(f, f[id].operands[i], here + "." + std::to_string(i + 1) + "/", path, seen, out);
    path.pop_back();
}

}  // namespace detail

EMMY_DECL std::vector<site> sites(const forest& f) {
    std::vector<site> out;
    std::vector<term_id> path;
    std::vector<bool> seen(f.terms.size());
    if (f.root != no_term) detail::walk_sites(f, f.root, "", path, seen, out);
    return out;
}

EMMY_DECL result<term_id> find(const forest& f, std::string_view address) {
    auto refused = [&](const std::string& why) { return refuse(fault_kind::input, "names no site: " + why, std::string(address)); };
    term_id at = f.root;
    if (at == no_term) return refused("there is no term");
    for (std::string_view rest = address;;) {
        if (f[at].is_slab() && at != f.root) return refused("the route arrives at a buffer read");
        const std::string_view word = rest.substr(0, rest.find_first_of("./")), kind = kind_word(f.kind(at));
        if (word != kind) return refused("found " + std::string(kind) + ", expected " + std::string(word) + " at '" + std::string(rest) + "'");
        rest.remove_prefix(word.size());
        if (rest.empty()) return at;
        const std::size_t slash = rest.find('/');
        std::size_t n = 0;
        if (rest[0] != '.' || slash == std::string_view::npos) return refused("expected .<operand>/<kind>");
        const auto read = std::from_chars(rest.data() + 1, rest.data() + slash, n);
        if (read.ec != std::errc{} || read.ptr != rest.data() + slash || n == 0) return refused("expected an operand number");
        if (n > f[at].operands.size()) return refused("operand " + std::to_string(n) + " of " + std::to_string(f[at].operands.size()));
        at = f[at].operands[n - 1];
        rest.remove_prefix(slash + 1);
    }
}

EMMY_DECL std::vector<region> regions(const forest& f) {
    const term& root = f[f.root];
    if (!root.is_map() || root.operands.size() < 2) return {};
    std::vector<region> out;
    for (term_id o : root.operands) out.push_back({o, {}, no_term});
    std::vector<std::uint32_t> owner(root.body.size(), none);
    for (std::uint32_t s = 0; s < f.stores.size(); ++s) {
        std::vector<name_id> want{f.stores[s].value};
        std::uint32_t mine = none;
        auto reaches = [&](std::uint32_t o) { return mine == none || mine == o ? (mine = o, true) : false; };
        std::vector<std::uint32_t> cone;
        for (std::size_t i = root.body.size(); i-- > 0;)
            if (detail::has(want, root.body[i].name)) {
                cone.push_back(static_cast<std::uint32_t>(i));
                for (name_id r : f.reads(root.body[i])) detail::add_once(want, r);
            }
        for (std::uint32_t o = 0; o < root.operands.size(); ++o)
            for (name_id c : f.components(f[root.operands[o]]))
                if (detail::has(want, c) && !reaches(o)) return {};
        if (mine == none) return {};
        for (std::uint32_t i : cone) {
            if (owner[i] != none && owner[i] != mine) return {};
            owner[i] = mine;
        }
        out[mine].stores.push_back(s);
    }
    for (std::uint32_t o : owner)
        if (o == none) return {};
    for (region& r : out) {
        if (r.stores.empty()) return {};
        if (!f[r.operand].is_map()) r.producer = r.operand;
        else
            for (term_id o : f[r.operand].operands)
                if (!f[o].is_map()) {
                    if (r.producer != no_term) {
                        r.producer = no_term;
                        break;
                    }
                    r.producer = o;
                }
    }
    return out;
}

EMMY_DECL std::string print(const forest& f) {
    std::string out = "free";
    for (const loop::axis& a : f.free) out += " " + std::string(f.text(a.name));
    out += "\n";
    auto line = [&](auto& self, term_id id, std::size_t depth, std::vector<bool>& seen) -> void {
        const term& t = f[id];
        out.append(2 * depth + 2, ' ');
        out += t.is_slab() ? "slab" : std::string(kind_word(f.kind(id)));
        if (!t.is_map()) out += " " + std::string(f.text(t.axis.name));
        if (t.is_slab()) out += " " + std::string(f.text(t.body[0].buffer));
        out += " ->";
        for (name_id n : f.components(t)) out += " " + std::string(f.text(n));
        out += " [";
        for (std::size_t i = 0; i < t.free.size(); ++i) out += (i ? " " : "") + std::string(f.text(t.free[i]));
        out += seen[id] ? "] again\n" : "]\n";
        if (seen[id]) return;
        seen[id] = true;
        for (term_id o : t.operands) self(self, o, depth + 1, seen);
    };
    std::vector<bool> seen(f.terms.size());
    if (f.root != no_term) line(line, f.root, 0, seen);
    return out;
}

}  // namespace emmy::fold::closed
