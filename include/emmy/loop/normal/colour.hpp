#pragma once
#include <emmy/loop/normal/graph.hpp>

/// Hashes of values that no name, order or number can reach: what sorts operands, effects and buffers.
namespace emmy::loop::normal {

namespace detail {

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}
constexpr std::uint64_t finish(std::uint64_t h) {
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}
constexpr std::uint64_t text_hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return finish(h);
}

/// Colours of buffers, states and free axes; from them the hash of every expression and value (bottom-up), and from the places where
/// they occur the next colours (top-down). Equal colours after refinement: nothing local tells the two apart.
class colouring {
public:
    /// Axes of stores: one colour per dimension that names them (`slots`), others are told apart by refinement.
    constexpr explicit colouring(const graph& g) : g_(g), buffers_(g.buffers.size(), 0u), states_(g.states.size(), 0u), axes_(g.variables().size(), 0u) {
        for (std::size_t i = 0; i < g.buffers.size(); ++i) {
            const graph_buffer& b = g.buffers[i];
            std::uint64_t h = mix(0xb0f, static_cast<std::uint64_t>(b.type) * 4u + b.input * 2u + b.output);
            for (expr_id d : g.expressions(b.shape)) h = mix(h, g.exprs[d].kind == expr_kind::integer ? static_cast<std::uint64_t>(g.exprs[d].integer) : 0x5b01u);
            buffers_[i] = finish(h);
        }
        for (std::size_t i = 0; i < g.states.size(); ++i) {
            const normal::state& s = g.states[i];
            std::uint64_t h = mix(0x57a7e, static_cast<std::uint64_t>(s.op) << 16 ^ static_cast<std::uint64_t>(s.type) << 8 ^ s.carried);
            h = mix(mix(h, std::bit_cast<std::uint64_t>(s.seed)), static_cast<std::uint64_t>(s.around) << 32 ^ s.cells);
            states_[i] = finish(h);
        }
        for (std::size_t v = 1; v < g.variables().size(); ++v) {
            const variable& x = g.var(static_cast<name_id>(v));
            switch (x.kind) {
                case variable::form::axis: axes_[v] = axis_colour(x, 0xf4ee); break;
                case variable::form::bound: axes_[v] = axis_colour(x, mix(0xb0d, x.height)); break;
                case variable::form::symbol: axes_[v] = finish(mix(0x5b, text_hash(g.names.text(x.ref)))); break;
                case variable::form::value: break;
            }
        }
        live_mark_.assign(g.values().size(), 0);
        for (const normal::effect& e : g.effects) {
            reach(e.value);
            for (expr_id x : g.expressions(e.index)) reach_expression(x);
        }
        for (value_id v = 0; v < live_mark_.size(); ++v)
            if (live_mark_[v] != 0) live_.push_back(v);
        read_.assign(g.buffers.size(), 0);
        for (value_id v : live_)
            if (g[v].kind == value_kind::load) read_[g[v].ref] = 1;
        for (const normal::state& s : g.states)
            if (s.seed_buffer != no_place) read_[s.seed_buffer] = 1;
    }

    constexpr bool read(std::uint32_t buffer) const { return read_[buffer] != 0; }  ///< by a value that an effect needs, or as a seed
    constexpr std::span<const value_id> live() const { return live_; }  ///< values that an effect needs, arguments first
    constexpr std::uint64_t buffer(std::size_t i) const { return buffers_[i]; }
    constexpr std::uint64_t state(std::size_t i) const { return states_[i]; }
    constexpr std::uint64_t axis(name_id v) const { return axes_[v]; }
    constexpr std::uint64_t value(value_id v) const { return up_[v]; }
    constexpr std::uint64_t effect(std::size_t i) const { return effects_[i]; }
    constexpr void mark_buffer(std::size_t i) { buffers_[i] = finish(mix(buffers_[i], 0x3a4c)); }
    constexpr void mark_state(std::size_t i) { states_[i] = finish(mix(states_[i], 0x3a4d)); }
    constexpr void mark_axis(name_id v) { axes_[v] = finish(mix(axes_[v], 0x3a4e)); }

    /// Hashes of values and effects from the colours there are. `sequence`: per effect, its number among effects that must keep their order.
    constexpr void hash_up(std::span<const std::uint32_t> sequence) {
        expressions_.assign(g_.exprs.size(), 0u);
        up_.assign(g_.values().size(), 0u);
        for (value_id v : live_) up_[v] = hash(v);
        effects_.assign(g_.effects.size(), 0u);
        for (std::size_t i = 0; i < effects_.size(); ++i) {
            const normal::effect& e = g_.effects[i];
            std::uint64_t h = mix(e.to_state ? states_[e.target] : buffers_[e.target], static_cast<std::uint64_t>(e.type) * 4u + e.atomic * 2u + e.to_state);
            h = mix(h, e.swizzle == no_name ? 0 : text_hash(g_.names.text(e.swizzle)));
            for (expr_id x : g_.expressions(e.index)) h = mix(h, expression(x));
            std::uint64_t path = 0;
            for (name_id a : g_.list(e.path)) path += finish(axes_[a]);
            effects_[i] = finish(mix(mix(h, up_[e.value]), path + sequence[i]));
        }
    }
    /// The colours after one more round of looking at every place of use.
    constexpr void refine() {
        std::vector<std::uint64_t> context(up_.size(), 0u), buffers(buffers_.size(), 0u), states(states_.size(), 0u), axes(axes_.size(), 0u);
        for (std::size_t i = 0; i < effects_.size(); ++i) {
            const normal::effect& e = g_.effects[i];
            context[e.value] += finish(effects_[i]);
            (e.to_state ? states : buffers)[e.target] += finish(mix(effects_[i], 1));
            std::uint32_t place = 0;
            for (expr_id x : g_.expressions(e.index)) occurrences(x, mix(effects_[i], ++place), context, axes);
            for (name_id a : g_.list(e.path)) axes[a] += finish(mix(effects_[i], 2));
        }
        for (std::size_t at = live_.size(); at-- > 0;) {
            const value_id v = live_[at];
            const normal::value& x = g_[v];
            const std::uint64_t here = finish(mix(context[v], up_[v]));
            const bool alike = x.kind == value_kind::op && facts(x.op).commutative;
            std::uint32_t place = 0;
            for (value_id a : g_.args(x)) context[a] += finish(mix(here, alike ? 0 : ++place));
            if (x.kind == value_kind::load) buffers[x.ref] += here;
            if (x.kind == value_kind::pre || x.kind == value_kind::last) states[x.ref] += here;
            place = 16;
            for (expr_id e : g_.index(x)) occurrences(e, mix(here, ++place), context, axes);
        }
        for (std::size_t i = 0; i < states_.size(); ++i)
            if (g_.states[i].seed_buffer != no_place) {
                buffers[g_.states[i].seed_buffer] += finish(mix(states_[i], 3));
                states[i] += finish(mix(buffers_[g_.states[i].seed_buffer], 4));
            }
        for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = finish(mix(buffers_[i], buffers[i]));
        for (std::size_t i = 0; i < states_.size(); ++i) states_[i] = finish(mix(states_[i], states[i]));
        for (std::size_t i = 0; i < axes_.size(); ++i)
            if (g_.var(static_cast<name_id>(i)).kind == variable::form::axis) axes_[i] = finish(mix(axes_[i], axes[i]));
    }

    /// Sums and products with literals are taken apart, so that their tree does not count.
    constexpr std::uint64_t expression(expr_id id) {
        if (expressions_[id] != 0) return expressions_[id];
        const expr& e = g_.exprs[id];
        std::uint64_t out = 0;
        switch (e.kind) {
            case expr_kind::integer: out = static_cast<std::uint64_t>(e.integer) * unit; break;
            case expr_kind::boolean: out = finish(mix(0xb001, static_cast<std::uint64_t>(e.integer))); break;
            case expr_kind::real: out = finish(mix(0x4ea1, e.real_bits)); break;
            case expr_kind::name: {
                const variable& v = g_.var(e.name);
                out = v.kind == variable::form::value ? finish(mix(0x7a1, up_[v.ref])) : axes_[e.name];
                break;
            }
            case expr_kind::builtin: out = finish(mix(0xb1, text_hash(g_.names.text(e.name)))); break;
            case expr_kind::cast: out = finish(mix(mix(0xca, text_hash(g_.names.text(e.name))), expression(e.a))); break;
            case expr_kind::ternary: out = finish(mix(mix(mix(0x7e, expression(e.a)), expression(e.b)), expression(e.c))); break;
            case expr_kind::call: {
                std::uint64_t h = mix(0xca11, text_hash(g_.names.text(e.name)));
                for (expr_id a : g_.exprs.args(e)) h = mix(h, expression(a));
                out = finish(h);
                break;
            }
            case expr_kind::binary: {
                const std::uint64_t a = expression(e.a), b = expression(e.b);
                if (e.op == binary_op::add) out = a + b;
                else if (e.op == binary_op::subtract) out = a - b;
                else if (e.op == binary_op::multiply && g_.exprs[e.a].kind == expr_kind::integer) out = static_cast<std::uint64_t>(g_.exprs[e.a].integer) * b;
                else if (e.op == binary_op::multiply && g_.exprs[e.b].kind == expr_kind::integer) out = static_cast<std::uint64_t>(g_.exprs[e.b].integer) * a;
                else {
                    const std::uint64_t op = e.op == binary_op::floor_divide ? static_cast<std::uint64_t>(binary_op::divide) : static_cast<std::uint64_t>(e.op);
                    out = facts(e.op).commutative ? finish(mix(mix(0xb2 + op, a + b), finish(a) + finish(b))) : finish(mix(mix(0xb3 + op * 256u, a), b));
                }
                break;
            }
        }
        return expressions_[id] = out;
    }

private:
    constexpr void reach(value_id v) {
        if (live_mark_[v] != 0) return;
        live_mark_[v] = 1;
        for (value_id a : g_.args(g_[v])) reach(a);
        if (g_[v].kind != value_kind::op)
            for (expr_id e : g_.index(g_[v])) reach_expression(e);
    }
    constexpr void reach_expression(expr_id id) {
        const expr& e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::name:
                if (g_.var(e.name).kind == variable::form::value) reach(g_.var(e.name).ref);
                return;
            case expr_kind::ternary: reach_expression(e.c); [[fallthrough]];
            case expr_kind::binary: reach_expression(e.b); [[fallthrough]];
            case expr_kind::cast: return reach_expression(e.a);
            case expr_kind::call:
                for (expr_id a : g_.exprs.args(e)) reach_expression(a);
                return;
            default: return;
        }
    }
    static constexpr std::uint64_t unit = 0xa0761d6478bd642fu;

    constexpr std::uint64_t axis_colour(const variable& x, std::uint64_t start) const {
        std::uint64_t h = mix(start, size_hash(x.extent));
        if (x.window != no_place) {
            const axis_window& w = g_.windows[x.window];
            h = mix(h, 2u + w.partition);
            h = mix(h, w.parent_extent == no_expr ? 0 : size_hash(w.parent_extent));
            h = mix(h, (w.base == no_expr ? 0 : size_hash(w.base)) ^ (w.bound == no_expr ? 0 : 2 * size_hash(w.bound)));
        }
        return finish(h);
    }
    /// Of an expression over symbols.
    constexpr std::uint64_t size_hash(expr_id id) const {
        const expr& e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::integer: return finish(mix(0x51, static_cast<std::uint64_t>(e.integer)));
            case expr_kind::name: return g_.var(e.name).kind == variable::form::symbol ? finish(mix(0x52, text_hash(g_.names.text(g_.var(e.name).ref)))) : 0x53;
            case expr_kind::binary: return finish(mix(mix(0x54 + static_cast<std::uint64_t>(e.op), size_hash(e.a)), size_hash(e.b)));
            case expr_kind::ternary: return finish(mix(mix(mix(0x55, size_hash(e.a)), size_hash(e.b)), size_hash(e.c)));
            default: return 0x56;
        }
    }
    constexpr std::uint64_t hash(value_id v) {
        const normal::value& x = g_[v];
        std::uint64_t h = static_cast<std::uint64_t>(x.kind) << 32 ^ static_cast<std::uint64_t>(x.op) << 16 ^ static_cast<std::uint64_t>(x.type);
        if (x.kind == value_kind::load) h = mix(h, buffers_[x.ref]);
        else if (x.kind == value_kind::reduce) h = mix(h, axes_[x.ref]);
        else if (x.kind == value_kind::pre || x.kind == value_kind::last) h = mix(h, states_[x.ref]);
        if (x.args.count == 2 && x.kind == value_kind::op && facts(x.op).commutative) {
            const std::uint64_t a = up_[g_.args(x)[0]], b = up_[g_.args(x)[1]];
            h = mix(mix(h, a + b), finish(a) ^ finish(b));
        } else {
            for (value_id a : g_.args(x)) h = mix(h, up_[a]);
        }
        for (expr_id e : g_.index(x)) h = mix(h, expression(e));
        return finish(h);
    }
    /// Notes values and free axes inside an expression; an axis by what the expression is when that axis alone is marked.
    constexpr void occurrences(expr_id id, std::uint64_t where, std::vector<std::uint64_t>& context, std::vector<std::uint64_t>& axes) {
        const expr& e = g_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: {
                const variable& v = g_.var(e.name);
                if (v.kind == variable::form::value) context[v.ref] += finish(where);
                if (v.kind == variable::form::axis) axes[e.name] += finish(where);
                return;
            }
            case expr_kind::binary: {
                const std::uint64_t here = mix(where, expression(id));
                if (is_linear(e)) return terms(id, 1, here, context, axes);
                const bool alike = facts(e.op).commutative;
                occurrences(e.a, mix(here, alike ? 0 : 1), context, axes);
                return occurrences(e.b, mix(here, alike ? 0 : 2), context, axes);
            }
            case expr_kind::ternary:
                occurrences(e.a, mix(mix(where, expression(id)), 1), context, axes);
                occurrences(e.b, mix(mix(where, expression(id)), 2), context, axes);
                occurrences(e.c, mix(mix(where, expression(id)), 3), context, axes);
                return;
            case expr_kind::cast: return occurrences(e.a, mix(where, expression(id)), context, axes);
            case expr_kind::call: {
                std::uint32_t place = 0;
                for (expr_id a : g_.exprs.args(e)) occurrences(a, mix(mix(where, expression(id)), ++place), context, axes);
                return;
            }
            default: return;
        }
    }
    constexpr bool is_linear(const expr& e) const {
        if (e.kind != expr_kind::binary) return false;
        return e.op == binary_op::add || e.op == binary_op::subtract
               || (e.op == binary_op::multiply && (g_.exprs[e.a].kind == expr_kind::integer || g_.exprs[e.b].kind == expr_kind::integer));
    }
    /// The terms of a sum by their factors: the tree of the sum does not count.
    constexpr void terms(expr_id id, std::uint64_t factor, std::uint64_t where, std::vector<std::uint64_t>& context, std::vector<std::uint64_t>& axes) {
        const expr& e = g_.exprs[id];
        if (!is_linear(e)) return occurrences(id, mix(where, factor), context, axes);
        if (e.op == binary_op::multiply) {
            const bool left = g_.exprs[e.a].kind == expr_kind::integer;
            return terms(left ? e.b : e.a, factor * static_cast<std::uint64_t>(g_.exprs[left ? e.a : e.b].integer), where, context, axes);
        }
        terms(e.a, factor, where, context, axes);
        terms(e.b, e.op == binary_op::subtract ? std::uint64_t{0} - factor : factor, where, context, axes);
    }

    const graph& g_;
    std::vector<std::uint64_t> buffers_, states_, axes_, up_, effects_, expressions_;
    std::vector<std::uint8_t> live_mark_, read_;
    std::vector<value_id> live_;
};

}  // namespace detail

}  // namespace emmy::loop::normal
