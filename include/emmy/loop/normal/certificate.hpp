#pragma once
#include <emmy/loop/normal/colour.hpp>
#include <emmy/loop/normal/store_axes.hpp>

/// Bytes that two kernels share exactly when one is the other up to names, order, sharing of loops and exact rules.
namespace emmy::loop::normal {

namespace detail {

/// Writes a coloured graph: effects by hash, operands of commutative operators by hash, everything numbered as it is met. What two equal
/// hashes could hide is written out: the bytes say the kernel, hashes only choose the order.
class certificate_writer {
public:
    constexpr certificate_writer(const graph& g, colouring& colours, std::span<const std::uint32_t> sequence)
        : g_(g), c_(colours), sequence_(sequence), numbers_(g.values().size(), 0u), buffers_(g.buffers.size(), 0u), states_(g.states.size(), 0u) {
        bytes_.reserve(64 + g.values().size() * 8);
    }
    constexpr std::vector<char> write() {
        std::vector<keyed> order;
        for (std::uint32_t i = 0; i < g_.effects.size(); ++i) order.push_back({c_.effect(i), i});
        sort(order);
        number(order.size());
        for (const keyed& k : order) effect(k.id);
        // Outputs that no statement names are part of the call all the same.
        std::vector<keyed> rest;
        for (std::uint32_t i = 0; i < g_.buffers.size(); ++i)
            if (g_.buffers[i].output && buffers_[i] == 0) rest.push_back({c_.buffer(i), i});
        sort(rest);
        for (const keyed& k : rest) put(0x20), buffer_of(k.id);
        put('v');
        return std::move(bytes_);
    }

private:
    struct keyed {
        std::uint64_t key = 0;
        std::uint32_t id = 0;
    };
    static constexpr void sort(std::vector<keyed>& list) {
        for (std::size_t i = 1; i < list.size(); ++i)
            for (std::size_t j = i; j > 0 && list[j].key < list[j - 1].key; --j) std::swap(list[j], list[j - 1]);
    }
    constexpr void put(unsigned byte) { bytes_.push_back(static_cast<char>(byte)); }
    constexpr void number(std::uint64_t v) {
        for (; v >= 0x80; v >>= 7) put(static_cast<unsigned>(v & 0x7f) | 0x80u);
        put(static_cast<unsigned>(v));
    }
    constexpr void whole(std::int64_t v) { number(static_cast<std::uint64_t>(v) << 1 ^ static_cast<std::uint64_t>(v >> 63)); }
    constexpr void bits(std::uint64_t v) {
        for (int i = 0; i < 8; ++i, v >>= 8) put(static_cast<unsigned>(v & 0xff));
    }
    constexpr void text(name_id name) {
        const std::string_view t = g_.names.text(name);
        number(t.size());
        for (char c : t) bytes_.push_back(c);
    }

    constexpr void size(expr_id id) { id == no_expr ? put(0) : expression(id); }
    constexpr void axis(const variable& v) {
        size(v.extent);
        put(v.window != no_place);
        if (v.window == no_place) return;
        const axis_window& w = g_.windows[v.window];
        put(w.partition);
        size(w.parent_extent), size(w.base), size(w.bound);
    }
    constexpr void buffer_of(std::uint32_t i) {
        if (buffers_[i] != 0) return number(buffers_[i]);
        buffers_[i] = ++buffer_count_;
        number(buffers_[i]);
        const graph_buffer& b = g_.buffers[i];
        put(b.input * 1u + b.output * 2u), put(static_cast<unsigned>(b.type));
        number(b.shape.count);
        for (expr_id d : g_.expressions(b.shape)) g_.exprs[d].kind == expr_kind::integer ? (put(0), whole(g_.exprs[d].integer)) : put(1);  // which symbol does not count
    }
    constexpr void state_of(std::uint32_t i) {
        if (states_[i] != 0) return number(states_[i]);
        states_[i] = ++state_count_;
        number(states_[i]);
        const state& s = g_.states[i];
        put(s.carried), put(static_cast<unsigned>(s.op)), put(static_cast<unsigned>(s.type));
        number(s.around), number(s.cells);
        put(s.seed_buffer != no_place);
        s.seed_buffer != no_place ? buffer_of(s.seed_buffer) : bits(std::bit_cast<std::uint64_t>(s.seed));
    }

    constexpr void effect(std::uint32_t i) {
        const normal::effect& e = g_.effects[i];
        put(e.to_state ? 0x11 : 0x10);
        e.to_state ? state_of(e.target) : buffer_of(e.target);
        number(sequence_[i]);
        put(static_cast<unsigned>(e.type)), put(e.atomic), text(e.swizzle);
        local_.clear();
        number(e.index.count);
        for (expr_id x : g_.expressions(e.index)) expression(x);
        value(e.value);
        // Axes that nothing names repeat the store.
        std::vector<keyed> rest;
        for (name_id a : g_.list(e.path))
            if (g_.var(a).kind == variable::form::axis && local_number(a) == 0) rest.push_back({c_.axis(a), a});
        sort(rest);
        number(rest.size());
        for (const keyed& k : rest) axis(g_.var(k.id));
    }
    constexpr std::uint32_t local_number(name_id a) const {
        for (std::uint32_t i = 0; i < local_.size(); ++i)
            if (local_[i] == a) return i + 1;
        return 0;
    }

    constexpr void value(value_id v) {
        if (numbers_[v] != 0) {
            put(0x30);
            return number(numbers_[v]);
        }
        numbers_[v] = ++value_count_;
        const normal::value& x = g_[v];
        put(0x31 + static_cast<unsigned>(x.kind));
        put(static_cast<unsigned>(x.op)), put(static_cast<unsigned>(x.type));
        switch (x.kind) {
            case value_kind::load: buffer_of(x.ref); break;
            case value_kind::reduce:
                number(g_.var(x.ref).height);
                axis(g_.var(x.ref));
                break;
            case value_kind::pre:
            case value_kind::last: state_of(x.ref); break;
            default: break;
        }
        number(x.args.count), number(x.index.count);
        if (x.args.count == 2 && x.kind == value_kind::op && facts(x.op).commutative && c_.value(g_.args(x)[1]) < c_.value(g_.args(x)[0])) {
            value(g_.args(x)[1]), value(g_.args(x)[0]);
        } else {
            for (value_id a : g_.args(x)) value(a);
        }
        for (expr_id e : g_.index(x)) expression(e);
    }

    struct term {
        std::int64_t factor = 0;
        expr_id atom = no_expr;
    };
    constexpr bool flatten(expr_id id, std::int64_t factor, std::vector<term>& terms, std::int64_t& constant) const {
        const expr& e = g_.exprs[id];
        std::int64_t n = 0;
        if (e.kind == expr_kind::integer) return !__builtin_mul_overflow(e.integer, factor, &n) && !__builtin_add_overflow(constant, n, &constant);
        if (e.kind == expr_kind::binary) {
            if (e.op == binary_op::add) return flatten(e.a, factor, terms, constant) && flatten(e.b, factor, terms, constant);
            if (e.op == binary_op::subtract && !__builtin_sub_overflow(std::int64_t{0}, factor, &n)) return flatten(e.a, factor, terms, constant) && flatten(e.b, n, terms, constant);
            if (e.op == binary_op::multiply && g_.exprs[e.a].kind == expr_kind::integer) return !__builtin_mul_overflow(factor, g_.exprs[e.a].integer, &n) && flatten(e.b, n, terms, constant);
            if (e.op == binary_op::multiply && g_.exprs[e.b].kind == expr_kind::integer) return !__builtin_mul_overflow(factor, g_.exprs[e.b].integer, &n) && flatten(e.a, n, terms, constant);
        }
        for (term& t : terms)
            if (t.atom == id) return !__builtin_add_overflow(t.factor, factor, &t.factor);
        terms.push_back({factor, id});
        return true;
    }
    constexpr void expression(expr_id id) {
        const expr& e = g_.exprs[id];
        if (e.kind == expr_kind::integer) {
            put(1);
            return whole(e.integer);
        }
        if (e.kind == expr_kind::binary && (e.op == binary_op::add || e.op == binary_op::subtract || e.op == binary_op::multiply)) {
            std::vector<term> terms;
            std::int64_t constant = 0;
            if (flatten(id, 1, terms, constant) && !(terms.size() == 1 && terms[0].atom == id)) {
                std::size_t kept = 0;
                for (const term& t : terms)
                    if (t.factor != 0) terms[kept++] = t;
                terms.resize(kept, term{});
                if (kept == 1 && constant == 0 && terms[0].factor == 1) return expression(terms[0].atom);
                for (std::size_t i = 1; i < terms.size(); ++i)
                    for (std::size_t j = i; j > 0 && before(terms[j], terms[j - 1]); --j) std::swap(terms[j], terms[j - 1]);
                put(2);
                number(terms.size()), whole(constant);
                for (const term& t : terms) whole(t.factor), atom(t.atom);
                return;
            }
        }
        atom(id);
    }
    constexpr bool before(const term& a, const term& b) {
        const std::uint64_t x = c_.expression(a.atom), y = c_.expression(b.atom);
        return x != y ? x < y : a.factor < b.factor;
    }
    constexpr void atom(expr_id id) {
        const expr& e = g_.exprs[id];
        put(0x40 + static_cast<unsigned>(e.kind));
        switch (e.kind) {
            case expr_kind::integer:
            case expr_kind::boolean: return whole(e.integer);
            case expr_kind::real: return bits(e.real_bits);
            case expr_kind::name: return named(e.name);
            case expr_kind::builtin: return text(e.name);
            case expr_kind::cast:
                text(e.name);
                return expression(e.a);
            case expr_kind::ternary: return expression(e.a), expression(e.b), expression(e.c);
            case expr_kind::call:
                text(e.name);
                number(e.arg_count);
                for (expr_id a : g_.exprs.args(e)) expression(a);
                return;
            case expr_kind::binary: {
                put(static_cast<unsigned>(e.op == binary_op::floor_divide ? binary_op::divide : e.op));
                const bool swap = facts(e.op).commutative && c_.expression(e.b) < c_.expression(e.a);
                expression(swap ? e.b : e.a);
                return expression(swap ? e.a : e.b);
            }
        }
    }
    constexpr void named(name_id name) {
        const variable& v = g_.var(name);
        put(static_cast<unsigned>(v.kind));
        switch (v.kind) {
            case variable::form::symbol: return text(v.ref);
            case variable::form::value: return value(v.ref);
            case variable::form::bound:  // by height: inside one value no two bound axes have the same
                number(v.height);
                if (v.height >= first_slot) axis(v);
                return;
            case variable::form::axis: {
                const std::uint32_t known = local_number(name);
                if (known != 0) return number(known);
                local_.push_back(name);
                number(local_.size());
                return axis(v);
            }
        }
    }

    const graph& g_;
    colouring& c_;
    std::span<const std::uint32_t> sequence_;
    std::vector<char> bytes_;
    std::vector<std::uint32_t> numbers_, buffers_, states_;  // by id: number; 0 = not met
    std::vector<name_id> local_;                             // unnamed axes of the effect at hand, as met
    std::uint32_t value_count_ = 0, buffer_count_ = 0, state_count_ = 0;
};

/// Colours, refined; where several buffers, states or axes stay alike, each is tried first and the smallest bytes stand.
class certifier {
public:
    constexpr explicit certifier(graph& g) : g_(g), sequence_(g.effects.size(), 0u) {
        use_store_axes(g);
        number_overlapping();
    }
    constexpr std::vector<char> write() {
        colouring colours(g_);
        colours.hash_up(sequence_);
        return best(std::move(colours), true);
    }
    std::uint32_t leaves = 0, rounds = 0;  ///< how much was tried

private:
    enum class form : std::uint8_t { buffer, state, axis };
    struct thing {
        std::uint64_t colour = 0;
        form kind = form::buffer;
        std::uint32_t id = 0;
    };

    /// Stores to one buffer keep their order unless they surely meet different cells.
    constexpr void number_overlapping() {
        simplifier look(g_.exprs, g_.known);
        for (std::uint32_t i = 0; i < g_.effects.size(); ++i) {
            if (g_.effects[i].to_state || sequence_[i] != 0) continue;
            std::vector<std::uint32_t> all;
            for (std::uint32_t j = i; j < g_.effects.size(); ++j)
                if (!g_.effects[j].to_state && g_.effects[j].target == g_.effects[i].target) all.push_back(j);
            bool overlap = false;
            for (std::size_t a = 0; a < all.size(); ++a)
                for (std::size_t b = a + 1; b < all.size(); ++b) overlap = overlap || !disjoint(look, g_.effects[all[a]], g_.effects[all[b]]);
            if (overlap)
                for (std::uint32_t n = 0; n < all.size(); ++n) sequence_[all[n]] = n + 1;
        }
    }
    constexpr bool disjoint(const simplifier& look, const effect& a, const effect& b) const {
        const auto x = g_.expressions(a.index), y = g_.expressions(b.index);
        for (std::size_t d = 0; d < x.size() && d < y.size(); ++d) {
            const interval p = look.bounds(x[d]), q = look.bounds(y[d]);
            if (p.known && q.known && (p.high < q.low || q.high < p.low)) return true;
        }
        return false;
    }

    constexpr std::vector<thing> things(const colouring& c) const {
        std::vector<thing> out;
        for (std::uint32_t i = 0; i < g_.buffers.size(); ++i)
            if (g_.buffers[i].output || c.read(i)) out.push_back({c.buffer(i), form::buffer, i});
        for (std::uint32_t i = 0; i < g_.states.size(); ++i) out.push_back({c.state(i), form::state, i});
        for (const effect& e : g_.effects)
            for (name_id a : g_.list(e.path))
                if (g_.var(a).kind == variable::form::axis) out.push_back({c.axis(a), form::axis, a});
        for (std::size_t i = 1; i < out.size(); ++i)
            for (std::size_t j = i; j > 0 && out[j].colour < out[j - 1].colour; --j) std::swap(out[j], out[j - 1]);
        return out;
    }
    static constexpr std::size_t distinct(std::span<const thing> list) {
        std::size_t n = list.empty() ? 0 : 1;
        for (std::size_t i = 1; i < list.size(); ++i) n += list[i].colour != list[i - 1].colour;
        return n;
    }

    /// hash_up() was done. `complete`: try every member of a class; else only the first.
    constexpr std::vector<char> best(colouring c, bool complete) {
        std::vector<thing> list = things(c);
        for (std::size_t n = distinct(list); n < list.size();) {
            c.refine();
            c.hash_up(sequence_);
            ++rounds, work_ += g_.values().size();
            list = things(c);
            const std::size_t now = distinct(list);
            if (now == n) break;
            n = now;
        }
        std::size_t first = 0;
        while (first + 1 < list.size() && list[first].colour != list[first + 1].colour) ++first;
        if (first + 1 >= list.size() || work_ > work_limit) {
            ++leaves;
            certificate_writer writer(g_, c, sequence_);
            return writer.write();
        }
        std::vector<char> out;
        for (std::size_t i = first; i < list.size() && list[i].colour == list[first].colour; ++i) {
            if (i > first && !complete) break;
            if (i > first && leaves < leaf_limit && work_ <= work_limit) {
                // The same bytes on the first way down: an automorphism maps the one on the other, the rest would only repeat.
                if (best(marked(c, list[i]), false) == out) continue;
            }
            if (i > first && (leaves >= leaf_limit || work_ > work_limit)) break;
            std::vector<char> bytes = best(marked(c, list[i]), complete);
            if (i == first || smaller(bytes, out)) out = std::move(bytes);
        }
        return out;
    }
    constexpr colouring marked(const colouring& c, const thing& t) {
        work_ += g_.values().size();
        colouring out = c;
        switch (t.kind) {
            case form::buffer: out.mark_buffer(t.id); break;
            case form::state: out.mark_state(t.id); break;
            case form::axis: out.mark_axis(t.id); break;
        }
        out.hash_up(sequence_);
        return out;
    }
    static constexpr bool smaller(const std::vector<char>& a, const std::vector<char>& b) {
        if (a.size() != b.size()) return a.size() < b.size();
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
        return false;
    }

    // A body made to have thousands of like buffers ends here, its order as it was written; the worst real one needs 18 rounds.
    static constexpr std::uint32_t leaf_limit = 4096;
    static constexpr std::uint64_t work_limit = 4'000'000;
    std::uint64_t work_ = 0;
    graph& g_;
    std::vector<std::uint32_t> sequence_;
};

}  // namespace detail

/// Changes the graph (use_store_axes). Effects are written whole; values that no effect needs are not.
constexpr std::vector<char> certificate(graph& g) {
    detail::certifier writer(g);
    return writer.write();
}

}  // namespace emmy::loop::normal
