#pragma once
#include <emmy/fold/impl/term.ipp>
#include <emmy/loop/normal/simplify.hpp>

#include <map>

namespace emmy::fold::closed::detail {

inline void mark(std::vector<bool>& set, name_id n) {
    if (set.size() <= n) set.resize(n + 1);
    set[n] = true;
}

/// A body as nested lists, names resolved to the forest's: what rewriting of loops works on.
struct nest {
    enum class kind : std::uint8_t { pure, accum, write, loop } form = kind::pure;
    pure s{};                 // Accum: args[0] = contribution; Write: args[0] = value; Carry: a Write to its state
    bool atomic = false, carries = false;
    name_id base = no_name;   // Accum: the rescaled state
    loop::axis axis{};
    std::vector<nest> body{};

    bool reduces() const {
        return form == kind::loop && std::any_of(body.begin(), body.end(), [](const nest& n) { return n.form == kind::accum; });
    }
};

inline result<std::vector<nest>> read_nest(forest& f, const loop::body& b, std::span<const loop::stmt_id> list, std::vector<name_id>& around) {
    using loop::stmt_kind;
    std::vector<nest> out;
    for (loop::stmt_id id : list) {
        const loop::stmt& s = b.stmts[id];
        nest n;
        n.s = {s.kind, s.op, s.type, s.name, s.buffer, {}, {}};
        for (name_id a : b.name_list(s.args)) n.s.args.push_back(a);
        for (expr_id e : b.expressions(s.index)) n.s.index.push_back(e);
        switch (s.kind) {
            case stmt_kind::load:
                if (s.names.count > 1) return refuse(fault(fault_kind::device_limit, "no fold term for a vector load"));
                break;
            case stmt_kind::let: n.s.index = {s.value}; break;
            case stmt_kind::assign:
            case stmt_kind::select: break;
            case stmt_kind::accum: n.form = nest::kind::accum, n.base = s.base; break;
            case stmt_kind::write: n.form = nest::kind::write, n.atomic = s.atomic; break;
            case stmt_kind::loop: {
                n.form = nest::kind::loop, n.axis = s.axis;
                mark(f.is_axis, s.axis.name);
                around.push_back(s.axis.name);
                EMMY_TRY(inside, read_nest(f, b, b.statements(s.body), around));
                around.pop_back();
                n.body = std::move(inside);
                break;
            }
            case stmt_kind::pre: break;
            case stmt_kind::carry: {
                // The nearest loop around that is no cell hands the state on.
                std::vector<name_id> cells;
                for (expr_id e : n.s.index) f.names_in(e, cells);
                name_id step = no_name;
                for (std::size_t i = around.size(); i-- > 0 && step == no_name;)
                    if (!has(cells, around[i])) step = around[i];
                if (step == no_name || (f.step != no_name && f.step != step)) return refuse(fault(fault_kind::device_limit, "no fold term for states of several loops"));
                f.step = step;
                f.carried.push_back({s.name, s.seed_is_buffer ? s.buffer : no_name, s.seed_number, s.seed_is_integer, s.type});
                n.form = nest::kind::write, n.carries = true, n.s.buffer = s.name, n.s.name = no_name;
                break;
            }
            default: return refuse(fault(fault_kind::device_limit, "no fold term for a condition or a scheduled statement"));
        }
        if (n.form == nest::kind::pure || n.form == nest::kind::accum) mark(f.is_value, n.s.name);
        out.push_back(std::move(n));
    }
    return out;
}
inline result<std::vector<nest>> read_nest(forest& f, const loop::body& b) {
    std::vector<name_id> around;
    return read_nest(f, b, b.statements(b.top), around);
}

inline name_id fresh_name(forest& f, name_id n) {
    const std::string text(f.text(n));
    for (int i = 1;; ++i) {
        const std::string tried = text + "_" + std::to_string(i);
        if (f.names.find(tried) != no_name) continue;
        const name_id out = f.names.intern(tried);
        mark(f.is_axis, out);
        return out;
    }
}

/// The expression with names replaced.
inline expr_id with(forest& f, expr_id e, const std::vector<std::pair<name_id, expr_id>>& to) {
    if (e == no_expr) return e;
    const expr x = f.exprs[e];
    switch (x.kind) {
        case expr_kind::name:
            for (const auto& [n, by] : to)
                if (n == x.name) return by;
            return e;
        case expr_kind::binary: {
            const expr_id a = with(f, x.a, to), b = with(f, x.b, to);
            return f.exprs.binary(x.op, a, b);
        }
        case expr_kind::ternary: {
            const expr_id a = with(f, x.a, to), b = with(f, x.b, to), c = with(f, x.c, to);
            return f.exprs.ternary(a, b, c);
        }
        case expr_kind::cast: {
            const expr_id a = with(f, x.a, to);
            return f.exprs.cast(x.name, a);
        }
        case expr_kind::call: {
            std::vector<expr_id> args;
            for (std::size_t i = 0; i < x.arg_count; ++i) args.push_back(with(f, f.exprs.args(x)[i], to));
            return f.exprs.call(x.name, args);
        }
        default: return e;
    }
}
template <class Each>
void each_statement(std::vector<nest>& list, const Each& each) {
    for (nest& n : list) {
        each(n);
        each_statement(n.body, each);
    }
}
/// Inner loops of the same name rebind it: their content stays.
inline void rename_axis(forest& f, std::vector<nest>& list, name_id from, name_id to) {
    const expr_id by = f.exprs.name(to);
    for (nest& n : list) {
        if (n.form == nest::kind::loop && n.axis.name == from) continue;
        for (expr_id& e : n.s.index) e = with(f, e, {{from, by}});
        rename_axis(f, n.body, from, to);
    }
}

// --- other orders of equals ---

/// Loops backwards, as far as definitions allow; other statements stay in order and as early as before.
inline void reverse_loops(const forest& f, std::vector<nest>& list) {
    auto defines = [](auto& self, const nest& n, std::vector<name_id>& out) -> void {
        if (n.form == nest::kind::pure || n.form == nest::kind::accum) out.push_back(n.s.name);
        for (const nest& c : n.body) self(self, c, out);
    };
    auto reads = [&](auto& self, const nest& n, std::vector<name_id>& out) -> void {
        for (name_id r : f.reads(n.s)) out.push_back(r);
        for (const nest& c : n.body) self(self, c, out);
    };
    std::vector<std::vector<name_id>> made(list.size()), read(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) defines(defines, list[i], made[i]), reads(reads, list[i], read[i]);
    std::vector<bool> placed(list.size());
    std::vector<nest> out;
    auto ready = [&](std::size_t i) {
        for (std::size_t j = 0; j < list.size(); ++j)
            if (j != i && !placed[j])
                for (name_id n : made[j])
                    if (has(read[i], n)) return false;
        return true;
    };
    while (out.size() < list.size()) {
        std::size_t next = list.size();
        for (std::size_t i = 0; i < list.size() && next == list.size(); ++i)
            if (!placed[i] && list[i].form != nest::kind::loop && list[i].form != nest::kind::write && ready(i)) next = i;
        for (std::size_t i = list.size(); i-- > 0 && next == list.size();)
            if (!placed[i] && list[i].form == nest::kind::loop && ready(i)) next = i;
        for (std::size_t i = 0; i < list.size() && next == list.size(); ++i)
            if (!placed[i] && ready(i)) next = i;
        if (next == list.size()) return;  // a name read before its loop ran: left as it stands
        placed[next] = true;
        out.push_back(list[next]);
    }
    list = std::move(out);
}
inline void respell(const forest& f, std::vector<nest>& list, spelling how) {
    if (how == spelling::stored) return;
    for (nest& n : list) {
        respell(f, n.body, how);
        const bool product = n.form == nest::kind::pure && n.s.kind == loop::stmt_kind::assign && n.s.op == loop::op::multiply;
        if (how == spelling::products_reversed && product) std::reverse(n.s.args.begin(), n.s.args.end());
    }
    if (how == spelling::states_reversed) {
        std::vector<std::size_t> states;
        for (std::size_t i = 0; i < list.size(); ++i)
            if (list[i].form == nest::kind::accum) states.push_back(i);
        for (std::size_t i = 0, j = states.size(); i + 1 < j; ++i) std::swap(list[states[i]], list[states[--j]]);
    }
    if (how == spelling::loops_reversed) reverse_loops(f, list);
}

// --- one free axis for two: f = Q p + q ---

/// e = constant + sum of coefficient * name + rest, over + - and * by literals. False where p or q stand otherwise.
inline bool linear_in(const forest& f, expr_id e, name_id p, name_id q, std::int64_t scale, std::int64_t& cp, std::int64_t& cq) {
    const expr& x = f.exprs[e];
    std::vector<name_id> named;
    f.names_in(e, named);
    if (!has(named, p) && !has(named, q)) return true;
    if (x.kind == expr_kind::name) return (x.name == p ? cp : cq) += scale, true;
    if (x.kind != expr_kind::binary) return false;
    if (x.op == binary_op::add) return linear_in(f, x.a, p, q, scale, cp, cq) && linear_in(f, x.b, p, q, scale, cp, cq);
    if (x.op == binary_op::subtract) return linear_in(f, x.a, p, q, scale, cp, cq) && linear_in(f, x.b, p, q, -scale, cp, cq);
    if (x.op != binary_op::multiply) return false;
    const expr& a = f.exprs[x.a];
    const expr& b = f.exprs[x.b];
    const bool left = a.kind == expr_kind::integer;
    const std::int64_t c = left ? a.integer : b.kind == expr_kind::integer ? b.integer : 0;
    if (c == 0 || c > 1 << 30 || c < -(1 << 30) || scale > 1 << 30 || scale < -(1 << 30)) return false;
    return linear_in(f, left ? x.b : x.a, p, q, scale * c, cp, cq);
}

/// p and q stand everywhere in `list` only as Q p + q (times one factor), so that one coordinate can take their place.
struct pair_test {
    const forest& f;
    const loop::kernel& k;
    name_id p, q;
    std::int64_t extent;  // Q

    bool clean(expr_id e) const {
        // Any subexpression that is linear and whole; a division or remainder of such a sum is a use of the sum.
        std::vector<name_id> named;
        f.names_in(e, named);
        if (!has(named, p) && !has(named, q)) return true;
        std::int64_t cp = 0, cq = 0;
        if (linear_in(f, e, p, q, 1, cp, cq) && cp == extent * cq) return true;
        const expr& x = f.exprs[e];
        if (x.kind == expr_kind::binary) return clean(x.a) && clean(x.b);
        if (x.kind == expr_kind::ternary) return clean(x.a) && clean(x.b) && clean(x.c);
        if (x.kind == expr_kind::cast) return clean(x.a);
        return false;
    }
    const loop::buffer* buffer(name_id n) const {
        for (const auto* list : {&k.inputs, &k.outputs})
            for (const loop::buffer& b : *list)
                if (b.name == n) return &b;
        return nullptr;
    }
    bool flat_clean(const pure& s) const {
        if (s.kind == loop::stmt_kind::pre) return false;
        const loop::buffer* b = buffer(s.buffer);
        if (!b || b->shape.size() != s.index.size()) return false;
        std::int64_t stride = 1, cp = 0, cq = 0;
        for (std::size_t d = s.index.size(); d-- > 0;) {
            if (!linear_in(f, s.index[d], p, q, stride, cp, cq)) return false;
            if (b->shape[d].kind != dim::form::number || (b->shape[d].number > 0 && stride > (std::int64_t{1} << 40) / b->shape[d].number)) return false;
            stride *= b->shape[d].number;
        }
        return cp == extent * cq;
    }
    bool access(const nest& n) const {
        bool all = true;
        for (expr_id e : n.s.index) all &= clean(e);
        if (all) return true;
        if (n.form == nest::kind::pure && n.s.kind != loop::stmt_kind::load) return false;
        if (flat_clean(n.s)) return true;
        if (n.form != nest::kind::write || n.carries) return false;
        for (expr_id e : n.s.index) {
            const expr& x = f.exprs[e];
            if (x.kind == expr_kind::name && (x.name == p || x.name == q)) continue;
            if (!clean(e)) return false;
        }
        return true;
    }
    bool all(const std::vector<nest>& list) const {
        for (const nest& n : list)
            if (!access(n) || !all(n.body)) return false;
        return true;
    }
};

/// The loop directly and alone inside, or nullptr.
inline nest* only_loop(nest& n) {
    return n.body.size() == 1 && n.body[0].form == nest::kind::loop && !n.body[0].reduces() ? &n.body[0] : nullptr;
}

inline void set_range(const forest&, loop::normal::ranges& known, const loop::axis& a, std::uint32_t rank) {
    if (a.extent.kind == dim::form::number) known.axis(a.name, a.extent.number, rank);
    else known.unknown_axis(a.name, rank);
}

inline void simplify_all(forest& f, std::vector<nest>& list, loop::normal::ranges& known, std::uint32_t rank) {
    loop::normal::simplifier simple(f.exprs, known);
    for (nest& n : list)
        for (expr_id& e : n.s.index) e = simple.simplify(e);
    for (nest& n : list)
        if (n.form == nest::kind::loop) {
            set_range(f, known, n.axis, rank);
            simplify_all(f, n.body, known, rank + 1);
            known.forget(n.axis.name);
        }
}

inline bool fuse_from(forest& f, const loop::kernel& k, std::vector<nest>& list, loop::normal::ranges& known, std::uint32_t rank) {
    for (nest& outer : list) {
        if (outer.form != nest::kind::loop || outer.reduces()) continue;
        const loop::axis p = outer.axis;
        if (p.extent.kind == dim::form::number && !p.has_window() && p.name != f.step)
            for (nest* inner = only_loop(outer); inner; inner = only_loop(*inner)) {
                const loop::axis q = inner->axis;
                if (q.extent.kind != dim::form::number || q.has_window() || q.name == p.name || q.name == f.step) continue;
                if (q.extent.number < 1 || p.extent.number < 1 || p.extent.number > (std::int64_t{1} << 40) / q.extent.number) continue;
                if (!pair_test{f, k, p.name, q.name, q.extent.number}.all(inner->body)) continue;
                // The fused axis stands where q stood and takes q's name.
                const expr_id v = f.exprs.name(q.name), n = f.exprs.integer(q.extent.number);
                const expr_id high = f.exprs.binary(binary_op::divide, v, n), low = f.exprs.binary(binary_op::remainder, v, n);
                const std::vector<std::pair<name_id, expr_id>> to{{p.name, high}, {q.name, low}};
                each_statement(inner->body, [&](nest& s) {
                    for (expr_id& e : s.s.index) e = with(f, e, to);
                });
                inner->axis.extent.number = p.extent.number * q.extent.number;
                set_range(f, known, inner->axis, rank + 8);
                nest rest = std::move(outer.body[0]);
                outer = std::move(rest);
                simplify_all(f, list, known, rank);
                return true;
            }
        set_range(f, known, p, rank);
        if (fuse_from(f, k, outer.body, known, rank + 1)) return true;
        known.forget(p.name);
    }
    return false;
}
inline void fuse_free_axes(forest& f, const loop::kernel& k, std::vector<nest>& body) {
    for (int round = 0; round < 64; ++round) {
        loop::normal::ranges known;
        if (!fuse_from(f, k, body, known, 0)) return;
    }
}

}  // namespace emmy::fold::closed::detail
