#pragma once
#include <emmy/loop/impl/interpret_model.ipp>

#include <algorithm>

/// Values by their meaning: constants, conversions, roundings, index expressions, addresses. Equal values are one.
namespace emmy::loop::interp {

class value_builder {
protected:
    value_builder(const loop::body& b, model& out) : b_(b), m_(out) {}

    bool typed() const { return m_.mode == numeric_mode::typed; }
    const value& at(value_id v) const { return m_.values[v]; }
    tl::unexpected<fault> bad(stmt_id s, std::string text, fault_kind kind = fault_kind::input) const { return refuse(kind, std::move(text), statement_text(b_, s)); }

    // ---- values
    value_id add(value v, bool share = true) {
        for (value_id x : {v.a, v.b, v.c})
            if (x != none && v.kind != value_kind::running && v.kind != value_kind::pre) v.dep |= at(x).dep, v.ordered = v.ordered || at(x).ordered;
        if (share) {
            const std::uint64_t key = (static_cast<std::uint64_t>(v.kind) << 56 ^ static_cast<std::uint64_t>(v.a) * 0x9e3779b97f4a7c15u ^ static_cast<std::uint64_t>(v.b) << 17 ^
                                       static_cast<std::uint64_t>(v.c) << 34) * 0xff51afd7ed558ccdu ^ static_cast<std::uint64_t>(v.imm);
            for (auto [it, end] = shared_.equal_range(key); it != end; ++it)
                if (at(it->second).same(v)) return it->second;
            shared_.emplace(key, static_cast<value_id>(m_.values.size()));
        }
        m_.values.push_back(v);
        return static_cast<value_id>(m_.values.size() - 1);
    }
    value_id integer(std::int64_t n) {
        value v;
        v.imm = n;
        return add(v);
    }
    value_id real(double n) {
        value v;
        v.kind = value_kind::real, v.real = n, v.type = dtype::f64, v.is_integer = false;
        return add(v);
    }
    value_id convert(value_kind kind, value_id a, dtype from, dtype to, bool is_integer) {
        if (kind == value_kind::to_real && at(a).kind == value_kind::integer) return real_typed(integer_to_real(from, at(a).imm), to);
        if (kind == value_kind::round && at(a).kind == value_kind::real) return real_typed(round_to(to, at(a).real), to);
        value v;
        v.kind = kind, v.a = a, v.from = from, v.type = to, v.is_integer = is_integer;
        return add(v);
    }
    value_id as_real(value_id a) { return at(a).is_integer ? convert(value_kind::to_real, a, at(a).type, dtype::f64, false) : a; }
    value_id as_integer(value_id a) { return at(a).is_integer ? a : convert(value_kind::to_integer, a, at(a).type, dtype::i64, true); }
    value_id choose(value_id condition, value_id then, value_id otherwise, dtype type) {
        value v;
        v.kind = value_kind::choose, v.a = condition, v.b = then, v.c = otherwise, v.type = type, v.is_integer = at(then).is_integer;
        return add(v);
    }
    value_id integer_op(binary_op op, value_id a, value_id b) {
        if (at(a).kind == value_kind::integer && at(b).kind == value_kind::integer) return integer(apply(op, at(a).imm, at(b).imm));
        value v;
        v.kind = value_kind::integer_op, v.bop = op, v.a = a, v.b = b;
        return add(v);
    }
    /// A real rounded to a type, as the mode rounds. f8 types only where the operator encodes (`encodes`).
    dtype rounding(dtype t, bool encodes = false) const {
        if (reads_as_integer(t) || typed()) return t;
        return encodes && (t == dtype::f8e4m3 || t == dtype::f8e5m2) ? t : dtype::f32;
    }
    value_id to_type(value_id v, dtype t) {
        const dtype have = at(v).type;
        if (reads_as_integer(t)) {
            if (!at(v).is_integer) return convert(value_kind::to_integer, v, have, t, true);
            return have == t ? v : convert(value_kind::wrap, v, have, t, true);
        }
        const dtype r = rounding(t);
        const value_id x = as_real(v);
        if (have == r && !at(v).is_integer) return x;
        return convert(value_kind::round, x, have, r, false);
    }

    // ---- expressions
    result<value_id> expression(expr_id id, stmt_id s) {
        const expr& e = b_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return integer(e.integer);
            case expr_kind::real: return real(e.real());
            case expr_kind::name: {
                const value_id v = visible_[e.name];
                note_running_reads(v);
                if (v == none) return bad(s, "found " + std::string(b_.text(e.name)) + ", expected a name that is visible here");
                return v;
            }
            case expr_kind::ternary: {
                EMMY_TRY(condition, expression(e.a, s));
                EMMY_TRY(then, expression(e.b, s));
                EMMY_TRY(otherwise, expression(e.c, s));
                if (at(condition).kind == value_kind::integer) return at(condition).imm != 0 ? then : otherwise;
                if (at(then).is_integer && at(otherwise).is_integer) return choose(truth(condition), then, otherwise, dtype::i64);
                return choose(truth(condition), as_real(then), as_real(otherwise), dtype::f64);
            }
            case expr_kind::binary: {
                EMMY_TRY(a, expression(e.a, s));
                EMMY_TRY(b, expression(e.b, s));
                const bool logic = e.op == binary_op::logical_and || e.op == binary_op::logical_or;
                if (logic) return integer_op(e.op, truth(a), truth(b));
                if (at(a).is_integer && at(b).is_integer) return integer_op(e.op, a, b);
                const int level = facts(e.op).level;
                value v;
                v.kind = value_kind::real_op, v.bop = e.op, v.a = as_real(a), v.b = as_real(b);
                v.is_integer = level == 3 || (e.op >= binary_op::less && e.op <= binary_op::greater_equal);
                v.type = v.is_integer ? dtype::i64 : dtype::f64;
                if (e.op >= binary_op::bit_xor && e.op <= binary_op::shift_right) return bad(s, "found a bit operator on a real number");
                return add(v);
            }
            case expr_kind::cast: {
                EMMY_TRY(a, expression(e.a, s));
                const dtype t = dtype_from_alias(b_.text(e.name));
                if (t == dtype::none && b_.text(e.name) != "bool") return bad(s, "found a cast to " + std::string(b_.text(e.name)) + ", expected a dtype");
                if (reads_as_integer(t) && at(a).is_integer) return a;  // on an integer the identity
                return to_type(a, t == dtype::i32 ? dtype::i64 : t);
            }
            default: return bad(s, "found a call or builtin: scheduled text is not interpreted");
        }
    }
    value_id truth(value_id v) {
        if (at(v).is_integer) return v;
        value out;
        out.kind = value_kind::real_op, out.bop = binary_op::not_equal, out.a = v, out.b = real(0);
        return add(out);
    }
    /// The flat place in a buffer; shallow dimensions first, so that what a loop does not change is computed outside it.
    value_id address(std::span<const value_id> index, std::span<const std::int64_t> shape, std::uint32_t buffer, stmt_id s, std::uint64_t guard = 0) {
        std::vector<std::size_t> order(index.size());
        std::vector<std::int64_t> stride(index.size(), 1);
        for (std::size_t i = index.size(); i-- > 0;) order[i] = i, stride[i] = i + 1 < index.size() ? stride[i + 1] * shape[i + 1] : 1;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return at(index[x]).dep < at(index[y]).dep; });
        value_id sum = none;
        for (std::size_t i : order) {
            if (at(index[i]).kind == value_kind::integer && at(index[i]).imm == 0 && (sum != none || i != order.back())) continue;
            value v;
            v.kind = value_kind::address, v.a = sum, v.b = index[i], v.imm = stride[i], v.extent = shape[i], v.buffer = buffer;
            v.dimension = static_cast<std::uint32_t>(i), v.stmt = s;
            v.dep = guard;
            sum = add(v, guard == 0);
        }
        return sum == none ? integer(0) : sum;
    }
    result<std::vector<value_id>> indices(loop::run r, stmt_id s) {
        std::vector<value_id> out;
        for (expr_id e : b_.expressions(r)) {
            EMMY_TRY(v, expression(e, s));
            out.push_back(as_integer(v));
        }
        return out;
    }

    result<std::vector<value_id>> indices_as_truth(loop::run r, stmt_id s) {
        std::vector<value_id> out;
        for (expr_id e : b_.expressions(r)) {
            EMMY_TRY(v, expression(e, s));
            out.push_back(truth(v));
        }
        return out;
    }

    value_id real_typed(double n, dtype t) {
        value v;
        v.kind = value_kind::real, v.real = n, v.type = t, v.is_integer = false;
        return add(v);
    }

    void note_running_reads(value_id v) {
        if (v != none && at(v).kind == value_kind::running) m_.loops[m_.accumulators[at(v).aux].loop].running_read = true;
    }

    const loop::body& b_;
    model& m_;
    std::vector<value_id> visible_;  ///< by name: what it stands for here

private:
    std::unordered_multimap<std::uint64_t, value_id> shared_;
};

}  // namespace emmy::loop::interp
