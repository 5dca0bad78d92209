#pragma once
#include <emmy/fold/seams.hpp>

#include <emmy/fold/impl/term_axes.ipp>
#include <emmy/loop/op_table.hpp>

#include <map>
#include <optional>
#include <set>

namespace emmy::fold::closed::detail {

/// Is a value of one term the value of another, read at other coordinates? The axes of the first are unknowns that the second's index
/// expressions give: bare axes, or the two digits of an address `q * i + l` that it computes otherwise. Statement by statement, buffers and
/// types exactly, commutative arguments in either order.
class alias_match {
public:
    alias_match(const forest& f, const std::vector<loop::axis>& axes) : f_(f), axes_(axes), at_(axes.size()) {}

    /// Coordinates at which component i of `rep` is component j of `member`, one an axis; nullopt where it is not.
    std::optional<std::vector<seam_coordinate>> component(term_id rep, std::size_t i, term_id member, std::size_t j, const std::vector<loop::axis>& scope) {
        at_.assign(axes_.size(), {});
        inner_.clear(), same_.clear();
        if (!terms(rep, i, member, j)) return std::nullopt;
        bool bare = true;
        for (std::size_t n = 0; n < axes_.size(); ++n) {
            const bool unit = axes_[n].extent.kind == dim::form::number && axes_[n].extent.number == 1;
            if (at_[n].is_zero() && !unit) return std::nullopt;  // nothing says where
            if (!within(at_[n], axes_[n].extent, scope)) return std::nullopt;
            bare = bare && (unit || at_[n].over == 0);
        }
        // Axis by axis, each at its place; a product-sum also where it computes the address of an output cell from other axes.
        if (bare || !as_contraction(f_, rep) || !as_contraction(f_, member))
            for (std::size_t n = 0; n < axes_.size(); ++n)
                if (axes_.size() != scope.size() || !in_place(at_[n], axes_[n], scope[n])) return std::nullopt;
        return at_;
    }

private:
    bool in_place(const seam_coordinate& c, const loop::axis& of_rep, const loop::axis& of_member) const {
        if (!same_extent(of_rep.extent, of_member.extent)) return false;
        std::vector<name_id> named;
        for (const expr_id e : c.sum) f_.names_in(e, named);
        if (c.axis != no_name) named.push_back(c.axis);
        return std::all_of(named.begin(), named.end(), [&](name_id n) { return !f_.names_axis(n) || n == of_member.name; });
    }

    // --- expressions ---

    std::size_t unknown(name_id n) const {
        for (const auto& [p, q] : inner_)
            if (p == n) return axes_.size();
        for (std::size_t i = 0; i < axes_.size(); ++i)
            if (axes_[i].name == n) return i;
        return axes_.size();
    }
    bool bind(std::size_t n, seam_coordinate c) {
        std::vector<name_id> named;
        for (const expr_id e : c.sum) f_.names_in(e, named);
        if (c.over == 0) named.push_back(c.axis);
        for (const name_id x : named) {
            if (f_.names_value(x)) return false;
            for (const auto& [p, q] : inner_)
                if (q == x) return false;
        }
        if (at_[n].is_zero()) return at_[n] = c, true;
        return at_[n] == c;
    }
    static std::optional<std::int64_t> literal(const expr& e) { return e.kind == expr_kind::integer ? std::optional(e.integer) : std::nullopt; }
    /// The two unknowns of an address q * i + l that counts every cell once.
    std::optional<std::pair<std::size_t, std::size_t>> digits(const expr& p) const {
        if (p.kind != expr_kind::binary || p.op != binary_op::add) return std::nullopt;
        for (int swap = 0; swap < 2; ++swap) {
            const expr& high = f_.exprs[swap ? p.b : p.a];
            const expr& low = f_.exprs[swap ? p.a : p.b];
            if (high.kind != expr_kind::binary || high.op != binary_op::multiply || low.kind != expr_kind::name) continue;
            const auto left = literal(f_.exprs[high.a]);
            const auto right = literal(f_.exprs[high.b]);
            if (left.has_value() == right.has_value()) continue;
            const expr& i = f_.exprs[left ? high.b : high.a];
            if (i.kind != expr_kind::name) continue;
            const std::size_t x = unknown(i.name), y = unknown(low.name);
            if (x == axes_.size() || y == axes_.size() || axes_[y].extent.kind != dim::form::number) continue;
            if (axes_[y].extent.number != (left ? *left : *right)) continue;
            return std::pair(x, y);
        }
        return std::nullopt;
    }
    bool expressions(expr_id a, expr_id b, const term* x, const term* y) {
        const expr& p = f_.exprs[a];
        const expr& q = f_.exprs[b];
        if (p.kind == expr_kind::name) {
            if (f_.names_value(p.name) || (q.kind == expr_kind::name && f_.names_value(q.name)))
                return q.kind == expr_kind::name && f_.names_value(p.name) && f_.names_value(q.name) && x && y && values(*x, p.name, *y, q.name);
            for (auto it = inner_.rbegin(); it != inner_.rend(); ++it)
                if (it->first == p.name) return q.kind == expr_kind::name && it->second == q.name;
            const std::size_t n = unknown(p.name);
            const bool axis = q.kind == expr_kind::name && f_.names_axis(q.name);
            if (n < axes_.size()) return bind(n, axis ? seam_coordinate{q.name, {}, 0, 0} : seam_coordinate{no_name, {b}, 1, 0});
            return q.kind == expr_kind::name && p.name == q.name;
        }
        const auto before = at_;
        if (p.kind == expr_kind::binary && p.op == binary_op::add) {
            if (sums(a, b, x, y)) return true;
            at_ = before, same_.clear();
            const auto pair = digits(p);
            if (!pair) return false;
            const std::int64_t low = axes_[pair->second].extent.number;
            return bind(pair->first, {no_name, {b}, low, 0}) && bind(pair->second, {no_name, {b}, 1, low});
        }
        if (!alike(p, q)) return false;
        if (parts(p, q, x, y)) return true;
        at_ = before, same_.clear();
        return p.kind == expr_kind::binary && facts(p.op).commutative && expressions(p.a, q.b, x, y) && expressions(p.b, q.a, x, y);
    }
    /// A sum term by term, in any order; one bare unknown takes what is left.
    bool sums(expr_id a, expr_id b, const term* x, const term* y) {
        std::vector<expr_id> left, right;
        summands(a, left), summands(b, right);
        std::optional<std::size_t> rest;
        for (const expr_id e : left) {
            const expr& p = f_.exprs[e];
            if (const std::size_t n = p.kind == expr_kind::name ? unknown(p.name) : axes_.size(); n < axes_.size()) {
                if (rest) return plain(a, b, x, y);  // two: as they stand
                rest = n;
                continue;
            }
            bool found = false;
            for (std::size_t i = 0; i < right.size() && !found; ++i) {
                const auto before = at_;
                found = expressions(e, right[i], x, y);
                if (found) right.erase(right.begin() + static_cast<std::ptrdiff_t>(i));
                else at_ = before, same_.clear();
            }
            if (!found) return false;
        }
        if (!rest || right.empty()) return !rest && right.empty();
        const expr& only = f_.exprs[right[0]];
        if (right.size() == 1 && only.kind == expr_kind::name && f_.names_axis(only.name)) return bind(*rest, {only.name, {}, 0, 0});
        return bind(*rest, {no_name, right, 1, 0});
    }
    bool plain(expr_id a, expr_id b, const term* x, const term* y) {
        const expr& p = f_.exprs[a];
        const expr& q = f_.exprs[b];
        return alike(p, q) && parts(p, q, x, y);
    }
    void summands(expr_id e, std::vector<expr_id>& out) const {
        const expr& x = f_.exprs[e];
        if (x.kind != expr_kind::binary || x.op != binary_op::add) return out.push_back(e);
        summands(x.a, out), summands(x.b, out);
    }
    static bool alike(const expr& p, const expr& q) { return p.kind == q.kind && p.op == q.op; }
    bool parts(const expr& p, const expr& q, const term* x, const term* y) {
        switch (p.kind) {
            case expr_kind::binary: return expressions(p.a, q.a, x, y) && expressions(p.b, q.b, x, y);
            case expr_kind::ternary: return expressions(p.a, q.a, x, y) && expressions(p.b, q.b, x, y) && expressions(p.c, q.c, x, y);
            case expr_kind::cast: return p.name == q.name && expressions(p.a, q.a, x, y);
            case expr_kind::call: return false;
            default: return p == q;
        }
    }

    // --- values ---

    bool statements(const term& x, const pure& a, const term& y, const pure& b) {
        if (a.kind != b.kind || a.op != b.op || a.type != b.type || a.buffer != b.buffer) return false;
        if (a.args.size() != b.args.size() || a.index.size() != b.index.size()) return false;
        for (std::size_t i = 0; i < a.index.size(); ++i)
            if (!expressions(a.index[i], b.index[i], &x, &y)) return false;
        const auto before = at_;
        if (std::equal(a.args.begin(), a.args.end(), b.args.begin(), [&](name_id p, name_id q) { return values(x, p, y, q); })) return true;
        at_ = before, same_.clear();
        if (a.kind != loop::stmt_kind::assign || a.args.size() != 2 || !loop::facts(a.op).commutative || budget_ == 0) return false;
        --budget_;
        return values(x, a.args[0], y, b.args[1]) && values(x, a.args[1], y, b.args[0]);
    }
    bool values(const term& x, name_id a, const term& y, name_id b) {
        if (same_.count({a, b})) return true;
        const bool out = compared(x, a, y, b);
        if (out && inner_.empty()) same_.emplace(a, b);
        return out;
    }
    /// Where a value is made: a statement, or a component of a fold; maps between are looked through.
    struct origin_of_value {
        const term* t = nullptr;
        const pure* s = nullptr;
        term_id fold = no_term;
        std::size_t component = 0;
        name_id outer = no_name;
    };
    origin_of_value made(const term& t, name_id n) const {
        origin_of_value out;
        for (out.t = &t;;) {
            out.s = defined(*out.t, n);
            if (out.s) return out;
            const term_id o = supplier(*out.t, n, out.component);
            if (o == no_term) return out.outer = n, out;
            if (!f_[o].is_map()) return out.fold = o, out;
            out.t = &f_[o];
            n = out.t->results[out.component];
        }
    }
    bool compared(const term& x, name_id a, const term& y, name_id b) {
        const origin_of_value p = made(x, a), q = made(y, b);
        if (p.s && q.s) return statements(*p.t, *p.s, *q.t, *q.s);
        if (p.s || q.s) return false;
        if (p.fold == no_term || q.fold == no_term) return p.fold == q.fold && p.outer == q.outer;
        return terms(p.fold, p.component, q.fold, q.component);
    }
    term_id supplier(const term& t, name_id n, std::size_t& at) const {
        for (const term_id o : t.operands) {
            const std::vector<name_id> shown = f_.components(f_[o]);
            const auto found = std::find(shown.begin(), shown.end(), n);
            if (found == shown.end()) continue;
            at = static_cast<std::size_t>(found - shown.begin());
            return o;
        }
        return no_term;
    }
    bool same_window(const loop::axis& a, const loop::axis& b) const {
        if (a.has_window() != b.has_window()) return false;
        if (!a.has_window()) return true;
        const loop::window& v = f_.windows[a.window];
        const loop::window& w = f_.windows[b.window];
        return same_extent(v.parent_extent, w.parent_extent) && v.base == w.base && v.bound == w.bound && v.partition == w.partition;
    }
    bool terms(term_id a, std::size_t i, term_id b, std::size_t j) {
        const term& x = f_[a];
        const term& y = f_[b];
        if (x.is_map() != y.is_map() || x.twist != y.twist || !x.observe.empty() || !y.observe.empty()) return false;
        if (x.is_map()) return values(x, x.results[i], y, y.results[j]);
        if (!same_extent(x.axis.extent, y.axis.extent) || !same_window(x.axis, y.axis) || x.states[i].op != y.states[j].op) return false;
        inner_.emplace_back(x.axis.name, y.axis.name);
        bool out = values(x, x.states[i].contribution, y, y.states[j].contribution);
        if (out && x.twist != recipe::none) out = (i == 0) == (j == 0) && values(x, x.states[0].contribution, y, y.states[0].contribution);
        inner_.pop_back();
        return out;
    }

    // --- ranges ---

    bool within(const seam_coordinate& c, const dim& extent, const std::vector<loop::axis>& scope) const {
        if (c.is_zero()) return true;
        if (c.over == 0)
            for (const loop::axis& a : scope)
                if (a.name == c.axis && same_extent(a.extent, extent)) return true;
        if (extent.kind != dim::form::number) return false;
        loop::normal::ranges known;
        for (const loop::axis& a : scope)
            if (a.extent.kind == dim::form::number) known.axis(a.name, a.extent.number, 0);
        expr_pool pool = f_.exprs;
        const expr_id e = c.in(pool);
        return within(pool, known, e, extent.number, 8);
    }

    /// Case by case over the conditions `axis < number` of the expression.
    static bool within(expr_pool& pool, const loop::normal::ranges& known, expr_id e, std::int64_t extent, int cases) {
        if (loop::normal::simplifier(pool, known).bounds(e).within(0, extent - 1)) return true;
        const expr_id choice = first_choice(pool, e);
        if (choice == no_expr || cases == 0) return false;
        const expr x = pool[choice], c = pool[x.a];
        if (c.kind != expr_kind::binary || c.op != binary_op::less || pool[c.a].kind != expr_kind::name || pool[c.b].kind != expr_kind::integer) return false;
        const name_id n = pool[c.a].name;
        const std::int64_t limit = pool[c.b].integer;
        loop::normal::variable_range range = known[n];
        if (!range.values.known) return false;
        const loop::normal::interval all = range.values;
        for (int taken = 0; taken < 2; ++taken) {
            loop::normal::ranges narrowed = known;
            if (taken == 0) range.values = {all.low, std::min(all.high, limit - 1), true};
            else range.values = {std::max(all.low, limit), all.high, true};
            if (range.values.low > range.values.high) continue;
            narrowed.set(n, range);
            if (!within(pool, narrowed, chosen(pool, e, choice, taken == 0 ? x.b : x.c), extent, cases - 1)) return false;
        }
        return true;
    }
    static expr_id first_choice(const expr_pool& pool, expr_id e) {
        const expr& x = pool[e];
        if (x.kind == expr_kind::ternary) return e;
        if (x.kind != expr_kind::binary) return no_expr;
        const expr_id a = first_choice(pool, x.a);
        return a != no_expr ? a : first_choice(pool, x.b);
    }
    static expr_id chosen(expr_pool& pool, expr_id e, expr_id choice, expr_id by) {
        if (e == choice) return by;
        const expr x = pool[e];
        if (x.kind != expr_kind::binary) return e;
        const expr_id a = chosen(pool, x.a, choice, by), b = chosen(pool, x.b, choice, by);
        return pool.binary(x.op, a, b);
    }

    const forest& f_;
    const std::vector<loop::axis>& axes_;
    std::vector<seam_coordinate> at_;
    std::vector<std::pair<name_id, name_id>> inner_{};  // axes of folds around, of the first -> of the second
    std::set<std::pair<name_id, name_id>> same_{};      // values found equal
    int budget_ = 256;                                  // commutative arguments tried the other way round
};

/// What two equal values have in common whatever they are read at: operators, types, buffers, extents.
class value_print {
public:
    explicit value_print(const forest& f) : f_(f) {}
    std::uint64_t component(term_id id, std::size_t i) {
        const term& t = f_[id];
        if (t.is_map()) return value(t, t.results[i]);
        const state& s = t.states[i < t.states.size() ? i : 0];
        return mixed(mixed(value(t, s.contribution) + 1, static_cast<std::uint64_t>(s.op)), static_cast<std::uint64_t>(t.axis.extent.number));
    }

private:
    static std::uint64_t mixed(std::uint64_t h, std::uint64_t v) {
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        return h ^ h >> 32;
    }
    std::uint64_t value(const term& t, name_id n) {
        if (const auto seen = known_.find(n); seen != known_.end()) return seen->second;
        std::uint64_t out = 7;
        if (const pure* s = defined(t, n)) {
            out = mixed(mixed(out, static_cast<std::uint64_t>(s->kind)), static_cast<std::uint64_t>(s->op));
            out = mixed(mixed(out, static_cast<std::uint64_t>(s->type)), s->buffer);
            std::uint64_t args = 0;
            for (const name_id a : s->args) args += mixed(3, value(t, a));
            out = mixed(out, args);
        } else {
            for (const term_id o : t.operands) {
                const std::vector<name_id> shown = f_.components(f_[o]);
                const auto at = std::find(shown.begin(), shown.end(), n);
                if (at == shown.end()) continue;
                out = component(o, static_cast<std::size_t>(at - shown.begin()));
                break;
            }
        }
        return known_[n] = out;
    }
    const forest& f_;
    std::map<name_id, std::uint64_t> known_{};
};

}  // namespace emmy::fold::closed::detail

namespace emmy::fold::closed {

EMMY_DECL expr_id seam_coordinate::in(expr_pool& pool) const {
    if (is_zero()) return pool.integer(0);
    if (over == 0) return pool.name(axis);
    expr_id e = sum[0];
    for (std::size_t i = 1; i < sum.size(); ++i) e = pool.binary(binary_op::add, e, sum[i]);
    if (over > 1) e = pool.binary(binary_op::divide, e, pool.integer(over));
    return modulo > 0 ? pool.binary(binary_op::remainder, e, pool.integer(modulo)) : e;
}

}  // namespace emmy::fold::closed
