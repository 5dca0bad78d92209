#pragma once
#include <emmy/loop/normal/graph.hpp>

/// From statements to values: what a body computes, without its order, its names and its loops.
namespace emmy::loop::normal {

/// Larger bodies are what is written: real ones hold 1,727 statements at most.
constexpr std::size_t most_statements = 16384;
constexpr std::uint32_t most_levels = 4096;

namespace detail {

class body_reader {
public:
    constexpr body_reader(graph& g, const loop::body& b, std::span<const buffer> inputs, std::span<const buffer> outputs)
        : g_(g), b_(b), normalize_(g.exprs, g.known), env_(b.names.size(), binding{}), places_(b.names.size(), no_place), reads_(b.names.size(), 0u) {
        for (const buffer& x : inputs) declare(x, true);
        for (const buffer& x : outputs) declare(x, false);
    }
    constexpr bool read() {
        if (b_.stmts.size() > most_statements || g_.buffers.size() > most_statements) return false;
        for (const stmt& s : b_.stmts)
            if (s.kind == stmt_kind::carry) carries_ = true;
        if (carries_) find_carriers(b_.top);
        list(b_.top);
        for (const effect& e : g_.effects)
            if (!e.to_state && g_.buffers[e.target].input) ok_ = false;  // reads what it writes: order matters
        return ok_;
    }

private:
    struct binding {
        enum class form : std::uint8_t { none, coordinate, value } kind = form::none;
        std::uint32_t id = 0;  // expr_id or value_id
    };
    struct pending {
        name_id name = no_name;
        loop::op op = loop::op::none;
        dtype type = dtype::none;
        value_id value = no_value;       // plain: what is folded
        std::uint32_t state = no_place;  // else its state
    };
    struct carrier {
        stmt_id loop = 0;
        name_id name = no_name;
        stmt_id carry = 0;
        std::uint32_t state = no_place;
        bool running = false;
    };

    // Shapes and symbols.
    constexpr expr_id outside(expr_id id) { return expression(id); }
    constexpr expr_id size(const dim& d) {
        switch (d.kind) {
            case dim::form::number: return g_.exprs.integer(d.number);
            case dim::form::symbol: return g_.exprs.name(g_.symbol(b_.text(d.symbol)));
            case dim::form::expression: return simplified(outside(d.value));
        }
        return no_expr;
    }
    constexpr void declare(const buffer& x, bool input) {
        if (places_[x.name] == no_place) {
            std::vector<expr_id> shape;
            for (const dim& d : x.shape) shape.push_back(size(d));
            places_[x.name] = static_cast<std::uint32_t>(g_.buffers.size());
            g_.buffers.push_back({.name = g_.names.intern(b_.text(x.name)), .type = x.type, .shape = g_.add_expressions(shape)});
        }
        (input ? g_.buffers[places_[x.name]].input : g_.buffers[places_[x.name]].output) = true;
    }
    constexpr std::uint32_t buffer_of(name_id name) {
        if (places_[name] == no_place) {
            ok_ = false;
            return 0;
        }
        return places_[name];
    }

    // Expressions, with what names stand for here.
    constexpr expr_id expression(expr_id id) {
        if (id == no_expr) return id;
        const expr& e = b_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: {
                const binding& known = env_[e.name];
                if (known.kind == binding::form::coordinate) return known.id;
                if (known.kind == binding::form::value) return g_.exprs.name(g_.variable_of(known.id));
                return g_.exprs.name(g_.symbol(b_.text(e.name)));
            }
            case expr_kind::builtin: return g_.exprs.builtin(g_.names.intern(b_.text(e.name)));
            case expr_kind::binary: {
                const expr_id a = expression(e.a), b = expression(e.b);
                return g_.exprs.binary(e.op, a, b);
            }
            case expr_kind::ternary: {
                const expr_id a = expression(e.a), b = expression(e.b), c = expression(e.c);
                return g_.exprs.ternary(a, b, c);
            }
            case expr_kind::cast: {
                const expr_id a = expression(e.a);
                return g_.exprs.cast(g_.names.intern(b_.text(e.name)), a);
            }
            case expr_kind::call: {
                std::vector<expr_id> args;
                for (expr_id a : b_.exprs.args(e)) args.push_back(expression(a));
                return g_.exprs.call(g_.names.intern(b_.text(e.name)), args);
            }
            default: return g_.exprs.add(e);
        }
    }
    constexpr expr_id simplified(expr_id id) { return normalize_(id); }
    constexpr std::vector<expr_id> indices(run r) {
        std::vector<expr_id> out;
        for (expr_id e : b_.expressions(r)) out.push_back(simplified(expression(e)));
        return out;
    }
    constexpr value_id operand(name_id name) {
        const binding& known = env_[name];
        if (known.kind == binding::form::value) return known.id;
        if (known.kind == binding::form::coordinate) return g_.let(known.id);
        ok_ = false;
        return g_.let(g_.exprs.integer(0));
    }
    constexpr void bind(name_id name, value_id v) {
        if (g_.depth(v) > most_levels) ok_ = false;
        env_[name] = {binding::form::value, v};
    }
    constexpr std::vector<expr_id> coordinates(std::size_t count) {
        std::vector<expr_id> out;
        for (std::size_t i = 0; i < count; ++i) out.push_back(g_.exprs.name(path_[i]));
        return out;
    }

    // Carried states: the carrying loop of a Carry is the nearest one around it whose axis its index does not name.
    constexpr void find_carriers(run r) {
        for (stmt_id id : b_.statements(r)) {
            const stmt& s = b_.stmts[id];
            if (s.kind == stmt_kind::loop) {
                nest_.push_back(id);
                find_carriers(s.body);
                nest_.pop_back();
            }
            if (s.kind != stmt_kind::carry) continue;
            std::size_t at = nest_.size();
            for (; at > 0; --at) {
                bool cell = false;
                for (expr_id e : b_.expressions(s.index)) cell = cell || (b_.exprs[e].kind == expr_kind::name && b_.exprs[e].name == b_.stmts[nest_[at - 1]].axis.name);
                if (!cell) break;
            }
            if (at == 0) {
                ok_ = false;
            } else {
                carriers_.push_back({.loop = nest_[at - 1], .name = s.name, .carry = id});
            }
        }
    }
    constexpr carrier* carrier_of(name_id name) {
        for (carrier& c : carriers_)
            if (c.name == name) return &c;
        return nullptr;
    }

    // Which names a subtree reads as values: reads_[name] == stamp.
    constexpr void note_expression(expr_id id) {
        if (id == no_expr) return;
        const expr& e = b_.exprs[id];
        switch (e.kind) {
            case expr_kind::name: reads_[e.name] = stamp_; return;
            case expr_kind::ternary: note_expression(e.c); [[fallthrough]];
            case expr_kind::binary: note_expression(e.b); [[fallthrough]];
            case expr_kind::cast: return note_expression(e.a);
            case expr_kind::call:
                for (expr_id a : b_.exprs.args(e)) note_expression(a);
                return;
            default: return;
        }
    }
    constexpr void note_reads(run r) {
        for (stmt_id id : b_.statements(r)) {
            const stmt& s = b_.stmts[id];
            for (name_id n : b_.name_list(s.args)) reads_[n] = stamp_;
            if (s.kind == stmt_kind::accum) reads_[s.base] = stamp_;
            for (expr_id e : b_.expressions(s.index)) {
                const expr& x = b_.exprs[e];
                if (x.kind == expr_kind::name) reads_[x.name] = stamp_;
                else if (x.kind != expr_kind::integer) note_expression(e);
            }
            if (s.kind == stmt_kind::let) note_expression(s.value);
            if (s.kind == stmt_kind::loop) note_reads(s.body);
        }
    }

    constexpr void list(run r) {
        for (stmt_id id : b_.statements(r)) {
            if (!ok_) return;
            statement(id);
        }
    }
    constexpr void statement(stmt_id id) {
        const stmt& s = b_.stmts[id];
        switch (s.kind) {
            case stmt_kind::loop: return loop_statement(id);
            case stmt_kind::load:
                if (s.names.count > 1 || s.carried != no_name) return refuse();
                return bind(s.name, g_.load(buffer_of(s.buffer), indices(s.index), s.type));
            case stmt_kind::assign: {
                std::vector<value_id> args;
                for (name_id n : b_.name_list(s.args)) args.push_back(operand(n));
                if (static_cast<int>(args.size()) != loop::facts(s.op).arity) return refuse();
                return bind(s.name, g_.apply(s.op, s.type, args));
            }
            case stmt_kind::accum: {
                const value_id v = operand(b_.name_list(s.args)[0]);
                for (pending& p : accums_) {
                    if (p.name != s.name) continue;
                    if (p.state == no_place) return void(p.value = v);
                    const value_id args[] = {s.base != no_name ? operand(s.base) : operand(s.name), v};
                    // A maximum of an accumulator and a value is the same either way round; the rescaled left operand is data as any other.
                    return bind(s.name, g_.apply(s.op, s.type, args));
                }
                return refuse();
            }
            case stmt_kind::select: {
                std::vector<value_id> branches;
                for (name_id n : b_.name_list(s.args)) branches.push_back(operand(n));
                if (branches.empty() || s.index.count != branches.size()) return refuse();
                return bind(s.name, g_.select(branches, indices(s.index)));
            }
            case stmt_kind::let: return bind(s.name, g_.let(simplified(expression(s.value)), s.type));
            case stmt_kind::write: {
                if (s.args.count != 1) return refuse();
                effect e{.target = buffer_of(s.buffer), .value = operand(b_.name_list(s.args)[0]), .type = s.type, .atomic = s.atomic};
                e.index = g_.add_expressions(indices(s.index)), e.path = g_.add_list(path_);
                if (s.swizzle != no_name) e.swizzle = g_.names.intern(b_.text(s.swizzle));
                g_.effects.push_back(e);
                return;
            }
            case stmt_kind::pre: {
                const carrier* c = carrier_of(s.buffer);
                if (!c || c->state == no_place) return refuse();
                std::vector<expr_id> at = coordinates(g_.states[c->state].around + (c->running ? 1u : 0u));
                for (expr_id e : indices(s.index)) at.push_back(e);
                return bind(s.name, g_.read_state(c->running ? value_kind::pre : value_kind::last, c->state, at));
            }
            case stmt_kind::carry: {
                const carrier* c = carrier_of(s.name);
                if (!c || !c->running) return refuse();
                std::vector<expr_id> at = coordinates(g_.states[c->state].around + 1u);
                for (expr_id e : indices(s.index)) at.push_back(e);
                effect e{.to_state = true, .target = c->state, .value = operand(b_.name_list(s.args)[0]), .type = s.type};
                e.index = g_.add_expressions(at), e.path = g_.add_list(path_);
                g_.effects.push_back(e);
                return;
            }
            default: return refuse();  // of scheduled kernels: their order is their meaning
        }
    }
    constexpr void refuse() { ok_ = false; }

    constexpr std::uint32_t window_of(const axis& a) {
        if (!a.has_window()) return no_place;
        const window& w = b_.windows[a.window];
        if (w.parent_has_window) ok_ = false;
        return g_.window({.parent_extent = w.parent != no_name ? size(w.parent_extent) : no_expr, .base = expression(w.base), .bound = expression(w.bound), .partition = w.partition});
    }

    constexpr void loop_statement(stmt_id id) {
        const stmt& s = b_.stmts[id];
        if (s.unroll || !s.seed) return refuse();
        bool carrying = false;
        for (const carrier& c : carriers_) carrying = carrying || c.loop == id;
        const expr_id extent = size(s.axis.extent);
        const bool unit = !carrying && g_.exprs[extent].kind == expr_kind::integer && g_.exprs[extent].integer == 1;

        // Accumulators of this loop: plain ones are values; one that its own loop reads, or that is updated twice or rescaled, is a state.
        const std::size_t first = accums_.size();
        bool folds = false;
        for (stmt_id inner : b_.statements(s.body)) folds = folds || b_.stmts[inner].kind == stmt_kind::accum;
        name_id axis_variable = no_name;
        if (unit) {
            g_.fire(rule::unit_loop);
            env_[s.axis.name] = {binding::form::coordinate, g_.exprs.integer(0)};
        } else {
            axis_variable = g_.axis(extent, window_of(s.axis));
            env_[s.axis.name] = {binding::form::coordinate, g_.exprs.name(axis_variable)};
        }
        if (folds) {
            ++stamp_;
            note_reads(s.body);
            for (stmt_id inner : b_.statements(s.body)) {
                const stmt& a = b_.stmts[inner];
                if (a.kind != stmt_kind::accum) continue;
                if (a.args.count != 1 || !loop::facts(a.op).folds) return refuse();
                pending* known = nullptr;
                for (std::size_t i = first; i < accums_.size(); ++i)
                    if (accums_[i].name == a.name) known = &accums_[i];
                const bool plain = !known && a.base == no_name && reads_[a.name] != stamp_;
                if (known && (known->op != a.op || known->type != a.type)) return refuse();
                if (!known) accums_.push_back({.name = a.name, .op = a.op, .type = a.type});
                if (!plain) (known ? *known : accums_.back()).state = 0;  // numbered below
            }
            for (std::size_t i = first; i < accums_.size(); ++i) {
                pending& p = accums_[i];
                if (p.state == no_place) continue;
                if (unit) {
                    bind(p.name, g_.let(g_.exprs.real(loop::facts(p.op).identity)));
                    continue;
                }
                p.state = static_cast<std::uint32_t>(g_.states.size());
                g_.states.push_back({.name = g_.names.intern(b_.text(p.name)), .op = p.op, .type = p.type, .around = static_cast<std::uint32_t>(path_.size())});
            }
        }
        for (carrier& c : carriers_) {
            if (c.loop != id) continue;
            const stmt& carry = b_.stmts[c.carry];
            c.state = static_cast<std::uint32_t>(g_.states.size()), c.running = true;
            g_.states.push_back({.name = g_.names.intern(b_.text(c.name)), .carried = true, .type = carry.type,
                .seed_buffer = carry.seed_is_buffer ? buffer_of(carry.buffer) : no_place, .seed = carry.seed_is_buffer ? 0 : carry.seed_number,
                .around = static_cast<std::uint32_t>(path_.size()), .cells = carry.index.count});
        }
        if (!unit) path_.push_back(axis_variable);
        for (std::size_t i = first; i < accums_.size(); ++i)
            if (!unit && accums_[i].state != no_place) bind(accums_[i].name, g_.read_state(value_kind::pre, accums_[i].state, coordinates(path_.size())));

        list(s.body);

        if (!ok_) return;
        for (std::size_t i = first; i < accums_.size(); ++i) {
            const pending p = accums_[i];
            if (p.state != no_place) {
                if (unit) continue;  // holds its value
                effect e{.to_state = true, .target = p.state, .value = operand(p.name)};
                e.index = g_.add_expressions(coordinates(path_.size())), e.path = g_.add_list(path_);
                g_.effects.push_back(e);
                bind(p.name, g_.read_state(value_kind::last, p.state, coordinates(path_.size() - 1)));
            } else if (p.value == no_value) {
                return refuse();
            } else if (unit && p.type != dtype::none) {
                const value_id one[] = {p.value};
                bind(p.name, g_.apply(op::copy, p.type, one));
            } else {
                bind(p.name, unit ? p.value : g_.reduce(p.op, axis_variable, p.value, p.type));
            }
        }
        accums_.resize(first, pending{});
        for (carrier& c : carriers_)
            if (c.loop == id) c.running = false;
        if (!unit) path_.pop_back();
        env_[s.axis.name] = {};
    }

    graph& g_;
    const loop::body& b_;
    normalizer normalize_;
    std::vector<binding> env_;
    std::vector<std::uint32_t> places_, reads_;
    std::vector<name_id> path_;
    std::vector<pending> accums_;
    std::vector<carrier> carriers_;
    std::vector<stmt_id> nest_;
    std::uint32_t stamp_ = 0;
    bool ok_ = true, carries_ = false;
};

}  // namespace detail

/// Reads a body into an empty graph: buffers in declared order (inputs, then outputs), one effect per Write, per Carry and per accumulator
/// that its own loop reads. Loops of extent 1 are coordinate 0; expressions are simplified and in canonical order; copies without dtype
/// are their argument. False for what only its written order defines: statements of scheduled kernels (Cond, Init, StridedLoop,
/// ZeroPrologue), of more than most_statements statements or most_levels values one upon the other, vector loads, unrolled or unseeded loops, a buffer both read and written, and bodies that validate() refuses.
constexpr bool from_body(graph& g, const loop::body& b, std::span<const buffer> inputs, std::span<const buffer> outputs) {
    return detail::body_reader(g, b, inputs, outputs).read();
}

}  // namespace emmy::loop::normal
