#pragma once
#include <emmy/loop/normal/diff.hpp>

#include <emmy/loop/identity.hpp>
#include <emmy/loop/print.hpp>

#include <map>
#include <set>

namespace emmy::loop {
namespace normal::detail {

/// Spells the values of one graph.
class speller {
public:
    explicit speller(const graph& g) : g_(g), variables_(g.variables().size()) {
        for (name_id v = 1; v < variables_.size(); ++v) {
            const variable& x = g.var(v);
            std::string text;
            switch (x.kind) {
                case variable::form::axis: text = "a" + std::to_string(v); break;
                case variable::form::bound: text = x.height >= first_slot ? "i" + std::to_string(x.height - first_slot) : "r" + std::to_string(x.height); break;
                case variable::form::symbol: text = g.names.text(x.ref); break;
                case variable::form::value: break;
            }
            variables_[v] = text;
        }
    }
    void name(value_id v, std::string text) { named_[v] = std::move(text); }
    const std::string* named(value_id v) const {
        const auto at = named_.find(v);
        return at == named_.end() ? nullptr : &at->second;
    }

    /// `depth`: levels of operands that are spelled; deeper ones are "…".
    std::string value(value_id v, int depth, bool open = false) {
        if (!open)
            if (const std::string* name = named(v)) return *name;
        const normal::value& x = g_[v];
        std::string out;
        switch (x.kind) {
            case value_kind::load: out = std::string(g_.names.text(g_.buffers[x.ref].name)) + list(x, depth); break;
            case value_kind::op:
                out = std::string(loop::text(x.op)) + "(";
                for (std::size_t i = 0; i < x.args.count; ++i) out += (i ? ", " : "") + operand(g_.args(x)[i], depth);
                out += ")";
                break;
            case value_kind::select:
                out = "select(";
                for (std::size_t i = 0; i < x.args.count; ++i) {
                    out += (i ? " | " : "") + operand(g_.args(x)[i], depth);
                    if (i + 1 < x.args.count) out += " if " + expression(g_.index(x)[i], depth);
                }
                out += ")";
                break;
            case value_kind::let: out = expression(g_.index(x)[0], depth); break;
            case value_kind::reduce: out = std::string(loop::text(x.op)) + " " + axis(x.ref) + ": " + operand(g_.args(x)[0], depth); break;
            case value_kind::call: out = "cone" + std::to_string(x.ref) + list(x, depth); break;
            case value_kind::pre: out = "before " + std::string(g_.names.text(g_.states[x.ref].name)) + list(x, depth); break;
            case value_kind::last: out = "last " + std::string(g_.names.text(g_.states[x.ref].name)) + list(x, depth); break;
        }
        if (x.type != dtype::none) out += ":" + std::string(token(x.type));
        return out;
    }
    std::string axis(name_id a) {
        std::string out = variables_[a] + "<" + expression(g_.var(a).extent, 1);
        if (g_.var(a).window != no_place) out += "!" + (g_.windows[g_.var(a).window].parent_extent != no_expr ? expression(g_.windows[g_.var(a).window].parent_extent, 1) : std::string());
        return out;
    }
    std::string expression(expr_id id, int depth) {
        if (id == no_expr) return "none";
        expr_pool pool;
        text_pool names;
        const expr_id copied = copy(id, pool, names, depth);
        std::string out;
        spell_expr(out, copied, pool, names);
        return out;
    }
    std::string target(const normal::effect& e) {
        std::string out = std::string(g_.names.text(e.to_state ? g_.states[e.target].name : g_.buffers[e.target].name)) + "[";
        bool first = true;
        std::set<name_id> spelled;
        for (expr_id x : g_.expressions(e.index)) {
            const expr& i = g_.exprs[x];
            const bool fresh = i.kind == expr_kind::name && g_.var(i.name).extent != no_expr && spelled.insert(i.name).second;
            out += (first ? "" : ", ") + (fresh ? axis(i.name) : expression(x, 2));
            first = false;
        }
        out += "]";
        for (name_id a : g_.list(e.path))
            if (!spelled.contains(a)) out += " for " + axis(a);
        if (e.type != dtype::none) out += ":" + std::string(token(e.type));
        return out + (e.atomic ? " +=" : e.to_state ? " <-" : " =");
    }

private:
    std::string operand(value_id v, int depth) { return depth == 0 ? (named(v) ? *named(v) : "…") : value(v, depth - 1); }
    std::string list(const normal::value& x, int depth) {
        std::string out = "[";
        for (std::size_t i = 0; i < x.index.count; ++i) out += (i ? ", " : "") + expression(g_.index(x)[i], depth);
        return out + "]";
    }
    expr_id copy(expr_id id, expr_pool& pool, text_pool& names, int depth) {
        const expr e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: {
                const variable& v = g_.var(e.name);
                return pool.name(names.intern(v.kind == variable::form::value ? (depth > 0 ? value(v.ref, depth - 1) : "…") : variables_[e.name]));
            }
            case expr_kind::builtin: return pool.builtin(names.intern(g_.names.text(e.name)));
            case expr_kind::binary: {
                const expr_id a = copy(e.a, pool, names, depth), b = copy(e.b, pool, names, depth);
                return pool.binary(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = copy(e.a, pool, names, depth), b = copy(e.b, pool, names, depth), c = copy(e.c, pool, names, depth);
                return pool.ternary(a, b, c);
            }
            case expr_kind::cast: {
                const expr_id a = copy(e.a, pool, names, depth);
                return pool.cast(names.intern(g_.names.text(e.name)), a);
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                for (expr_id a : g_.exprs.args(e)) args.push_back(copy(a, pool, names, depth));
                return pool.call(names.intern(g_.names.text(e.name)), args);
            }
            default: return pool.add(e);
        }
    }

    const graph& g_;
    std::vector<std::string> variables_;
    std::map<value_id, std::string> named_;
};

/// Two graphs, walked together. Hashes are those of unrefined colours, so they mean the same in both.
class comparison {
public:
    comparison(const graph& a, const graph& b) : a_(a), b_(b), ca_(a), cb_(b), sa_(a), sb_(b) {
        const std::vector<std::uint32_t> za(a.effects.size(), 0u), zb(b.effects.size(), 0u);
        ca_.hash_up(za), cb_.hash_up(zb);
    }
    std::optional<parting> run() {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs = matched();
        for (sharing_ = false;; sharing_ = true) {
            for (const auto& [i, j] : pairs)
                if (effect(i, j)) return found_;
            if (a_.effects.size() != b_.effects.size())
                return parting{"", "", "stores", std::to_string(a_.effects.size()) + " stores and state updates", std::to_string(b_.effects.size())};
            if (sharing_) break;
        }
        return parting{"", "", "order or sharing", "equal node by node", "equal node by node"};
    }

private:
    std::string name_of(const graph& g, const normal::effect& e) const { return std::string(g.names.text(e.to_state ? g.states[e.target].name : g.buffers[e.target].name)); }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> matched() {
        std::vector<bool> done_a(a_.effects.size()), done_b(b_.effects.size());
        std::vector<std::pair<std::uint32_t, std::uint32_t>> equal, other;
        const auto take = [&](auto&& alike, auto& list) {
            for (std::uint32_t i = 0; i < a_.effects.size(); ++i)
                for (std::uint32_t j = 0; j < b_.effects.size() && !done_a[i]; ++j)
                    if (!done_b[j] && a_.effects[i].to_state == b_.effects[j].to_state && alike(i, j)) done_a[i] = done_b[j] = true, list.emplace_back(i, j);
        };
        take([&](std::uint32_t i, std::uint32_t j) { return ca_.effect(i) == cb_.effect(j); }, equal);
        take([&](std::uint32_t i, std::uint32_t j) { return name_of(a_, a_.effects[i]) == name_of(b_, b_.effects[j]); }, other);
        take([&](std::uint32_t, std::uint32_t) { return true; }, other);
        other.insert(other.end(), equal.begin(), equal.end());
        return other;
    }

    bool part(const char* what, std::string first, std::string second) {
        found_ = {join(path_a_), join(path_b_), what, std::move(first), std::move(second)};
        if (found_.other_path == found_.path) found_.other_path.clear();
        return true;
    }
    static std::string join(const std::vector<std::string>& path) {
        std::string out;
        for (const std::string& p : path) out += (out.empty() ? "" : " / ") + p;
        return out;
    }
    std::string buffer(const graph& g, speller& s, std::uint32_t i) const {
        std::string out = std::string(g.names.text(g.buffers[i].name)) + ": " + std::string(token(g.buffers[i].type)) + "[";
        bool first = true;
        for (expr_id d : g.expressions(g.buffers[i].shape)) out += (first ? "" : ", ") + s.expression(d, 1), first = false;
        return out + "]";
    }
    /// The same buffer wherever it was met before.
    bool one_buffer(std::uint32_t a, std::uint32_t b) {
        if (ca_.buffer(a) != cb_.buffer(b)) return !part("buffer", buffer(a_, sa_, a), buffer(b_, sb_, b));
        if (!sharing_) return true;
        const auto [x, fresh] = to_b_.emplace(a, b);
        const auto [y, fresh_too] = to_a_.emplace(b, a);
        if (x->second == b && y->second == a) return true;
        return !part("sharing", "reads " + buffer(a_, sa_, a) + (fresh ? "" : ", met as " + std::string(b_.names.text(b_.buffers[x->second].name))),
                     "reads " + buffer(b_, sb_, b) + (fresh_too ? "" : ", met as " + std::string(a_.names.text(a_.buffers[y->second].name))));
    }
    bool effect(std::uint32_t i, std::uint32_t j) {
        const normal::effect &x = a_.effects[i], &y = b_.effects[j];
        path_a_ = {name_of(a_, x)}, path_b_ = {name_of(b_, y)};
        if (!x.to_state && !one_buffer(x.target, y.target)) return true;
        if (ca_.effect(i) == cb_.effect(j) && !sharing_) return false;
        const bool flags = x.type == y.type && x.atomic == y.atomic && x.index.count == y.index.count && x.path.count == y.path.count;
        bool alike = flags;
        for (std::size_t d = 0; alike && d < x.index.count; ++d) alike = ca_.expression(a_.expressions(x.index)[d]) == cb_.expression(b_.expressions(y.index)[d]);
        if (!alike) return part("store", sa_.target(x), sb_.target(y));
        return values(x.value, y.value);
    }
    bool values(value_id v, value_id w) {
        if (!sharing_ && ca_.value(v) == cb_.value(w)) return false;
        if (!seen_.insert({v, w}).second && !sharing_) return false;
        if (sharing_ && !shared_seen_.insert({v, w}).second) return false;
        const normal::value &x = a_[v], &y = b_[w];
        const auto both = [&](const char* what) { return part(what, sa_.value(v, 3), sb_.value(w, 3)); };
        if (x.kind != y.kind) return both("kind");
        if (x.op != y.op) return both("operator");
        if (x.type != y.type) return both("dtype");
        if (x.kind == value_kind::reduce && ca_.axis(x.ref) != cb_.axis(y.ref)) {
            if (a_.var(x.ref).extent == no_expr || sa_.axis(x.ref) != sb_.axis(y.ref)) return both("extent");
        }
        if (x.kind == value_kind::load && !one_buffer(x.ref, y.ref)) return true;
        if (x.args.count != y.args.count || x.index.count != y.index.count) return both("operands");
        if ((x.kind == value_kind::pre || x.kind == value_kind::last) && ca_.state(x.ref) != cb_.state(y.ref)) return both("state");
        // Operands: of commutative operators those that are the same stand together.
        std::vector<std::pair<std::size_t, std::size_t>> order;
        for (std::size_t i = 0; i < x.args.count; ++i) order.emplace_back(i, i);
        if (x.kind == value_kind::op && facts(x.op).commutative && x.args.count == 2) {
            const std::uint64_t p = ca_.value(a_.args(x)[0]), q = ca_.value(a_.args(x)[1]), r = cb_.value(b_.args(y)[0]), s = cb_.value(b_.args(y)[1]);
            if ((p == s || q == r || similar(a_.args(x)[0], b_.args(y)[1]) > similar(a_.args(x)[0], b_.args(y)[0])) && p != r && q != s) order = {{0, 1}, {1, 0}};
        }
        const std::string label_a = label(a_, x), label_b = label(b_, y);
        for (const auto& [i, j] : order) {
            path_a_.push_back(label_a + "." + std::to_string(i + 1)), path_b_.push_back(label_b + "." + std::to_string(j + 1));
            if (values(a_.args(x)[i], b_.args(y)[j])) return true;
            path_a_.pop_back(), path_b_.pop_back();
        }
        for (std::size_t i = 0; i < x.index.count; ++i) {
            const expr_id e = a_.index(x)[i], f = b_.index(y)[i];
            if (ca_.expression(e) == cb_.expression(f) && !sharing_) continue;
            // A computed value inside: the first pair that parts.
            std::vector<value_id> inside_a, inside_b;
            inner(a_, e, inside_a), inner(b_, f, inside_b);
            path_a_.push_back(label_a + "[" + std::to_string(i + 1) + "]"), path_b_.push_back(label_b + "[" + std::to_string(i + 1) + "]");
            for (std::size_t n = 0; n < inside_a.size() && n < inside_b.size(); ++n)
                if (values(inside_a[n], inside_b[n])) return true;
            if (ca_.expression(e) != cb_.expression(f)) {
                const char* what = x.kind == value_kind::select ? "predicate" : x.kind == value_kind::let ? "scalar" : "index";
                return part(what, sa_.expression(e, 2) + "  in  " + sa_.value(v, 2), sb_.expression(f, 2) + "  in  " + sb_.value(w, 2));
            }
            path_a_.pop_back(), path_b_.pop_back();
        }
        return false;
    }
    /// How alike two values look from outside: kind, operator, dtype.
    int similar(value_id v, value_id w) const {
        const normal::value &x = a_[v], &y = b_[w];
        return 4 * (x.kind == y.kind) + 2 * (x.kind == y.kind && x.op == y.op) + (x.type == y.type) + 2 * (x.kind == value_kind::load && y.kind == value_kind::load && ca_.buffer(x.ref) == cb_.buffer(y.ref));
    }
    static std::string label(const graph& g, const normal::value& x) {
        switch (x.kind) {
            case value_kind::load: return std::string(g.names.text(g.buffers[x.ref].name));
            case value_kind::op: return std::string(loop::text(x.op));
            case value_kind::select: return "select";
            case value_kind::let: return "scalar";
            case value_kind::reduce: return std::string(loop::text(x.op)) + " over r" + std::to_string(g.var(x.ref).height);
            case value_kind::call: return "cone";
            default: return std::string(g.names.text(g.states[x.ref].name));
        }
    }
    static void inner(const graph& g, expr_id id, std::vector<value_id>& out) {
        const expr& e = g.exprs[id];
        switch (e.kind) {
            case expr_kind::name:
                if (g.var(e.name).kind == variable::form::value) out.push_back(g.var(e.name).ref);
                return;
            case expr_kind::ternary: inner(g, e.a, out), inner(g, e.b, out), inner(g, e.c, out); return;
            case expr_kind::binary: inner(g, e.a, out), inner(g, e.b, out); return;
            case expr_kind::cast: return inner(g, e.a, out);
            case expr_kind::call:
                for (expr_id a : g.exprs.args(e)) inner(g, a, out);
                return;
            default: return;
        }
    }

    const graph &a_, &b_;
    colouring ca_, cb_;
    speller sa_, sb_;
    bool sharing_ = false;
    parting found_;
    std::vector<std::string> path_a_, path_b_;
    std::set<std::pair<value_id, value_id>> seen_, shared_seen_;
    std::map<std::uint32_t, std::uint32_t> to_a_, to_b_;
};

}  // namespace normal::detail

EMMY_DECL std::string print_normal(const kernel& k) {
    normal::graph g;
    if (!normal::from_body(g, k.body, k.inputs, k.outputs)) return print(k);
    normal::use_store_axes(g);
    const std::vector<std::uint32_t> none(g.effects.size(), 0u);
    normal::detail::colouring colours(g);
    colours.hash_up(none);
    std::vector<std::uint32_t> readers(g.values().size(), 0u);
    for (normal::value_id v : colours.live())
        for (normal::value_id a : g.args(g[v])) ++readers[a];
    normal::detail::speller s(g);
    std::string out = k.name + "\n";
    std::uint32_t numbers = 0;
    for (normal::value_id v : colours.live()) {
        const bool leaf = g[v].kind == normal::value_kind::load || g[v].kind == normal::value_kind::let;
        if (g[v].kind != normal::value_kind::reduce && (leaf || readers[v] < 2)) continue;
        const std::string text = s.value(v, 1000, true), name = "%" + std::to_string(++numbers);
        s.name(v, name);
        out += "  " + name + " = " + text + "\n";
    }
    for (const normal::effect& e : g.effects) out += "  " + s.target(e) + " " + s.value(e.value, 1000) + "\n";
    return out;
}

EMMY_DECL std::optional<parting> first_difference(const kernel& a, const kernel& b) {
    if (identity(a) == identity(b)) return std::nullopt;
    normal::graph x, y;
    const bool first = normal::from_body(x, a.body, a.inputs, a.outputs), second = normal::from_body(y, b.body, b.inputs, b.outputs);
    if (!first || !second) {  // as written: the first line that differs
        const std::string p = print(a), q = print(b);
        std::size_t i = p.find('\n'), j = q.find('\n'), line = 1;
        while (i != p.npos && j != q.npos) {
            const std::size_t to = p.find('\n', i + 1), until = q.find('\n', j + 1);
            const std::string l = p.substr(i + 1, to - i - 1), m = q.substr(j + 1, until - j - 1);
            ++line;
            if (l != m) return parting{"line " + std::to_string(line), "", "statement", l, m};
            i = to, j = until;
        }
        return parting{"", "", "declaration", p.substr(0, p.find('\n')), q.substr(0, q.find('\n'))};
    }
    normal::use_store_axes(x), normal::use_store_axes(y);
    return normal::detail::comparison(x, y).run();
}

}  // namespace emmy::loop
