#pragma once
#include <emmy/loop/body.hpp>

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace emmy::loop {
namespace detail {

/// A body as it stands, in one walk over the statements: values, axes and buffers by first use. Counts and tags precede everything of
/// varying size.
class written_writer {
public:
    constexpr written_writer(const loop::body& b, std::span<const buffer> inputs, std::span<const buffer> outputs)
        : body_(b), inputs_(inputs), outputs_(outputs), scalars_(b.names.size(), 0u), buffers_(b.names.size(), 0u), places_(b.names.size(), 0u) {
        bytes_.reserve(64 + b.stmts.size() * 16);
        for (std::size_t i = outputs.size(); i-- > 0;) places_[outputs[i].name] = static_cast<std::uint32_t>(inputs.size() + i + 1);
        for (std::size_t i = inputs.size(); i-- > 0;) places_[inputs[i].name] = static_cast<std::uint32_t>(i + 1);
        for (const stmt& s : b.stmts) note_definitions(s);
    }
    constexpr std::vector<char> write() && {
        list(body_.top);
        // Buffers in the order of first use; then outputs that no statement names, which are part of the call all the same.
        number(used_.size());
        for (name_id name : used_) declaration(name);
        for (const buffer& b : outputs_)
            if (buffers_[b.name] == 0) put(2), shape(b);
        return std::move(bytes_);
    }

private:
    static constexpr std::uint32_t defined = 0xffffffffu;  // a name of the body that has no number yet

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
        const std::string_view t = body_.text(name);
        number(t.size());
        for (char c : t) bytes_.push_back(c);
    }

    constexpr void note_definitions(const stmt& s) {
        switch (s.kind) {
            case stmt_kind::loop:
            case stmt_kind::strided_loop: scalars_[s.axis.name] = defined; break;
            case stmt_kind::load:
                for (name_id n : body_.name_list(s.names)) scalars_[n] = defined;
                [[fallthrough]];
            default: scalars_[s.name] = defined;
        }
        scalars_[no_name] = 0;
    }
    /// A value or axis by number, a name from outside (a symbol) by text, nothing as 0.
    constexpr void scalar(name_id name) {
        if (scalars_[name] == 0) {
            if (name == no_name) return number(0);
            number(1);
            return text(name);
        }
        if (scalars_[name] == defined) scalars_[name] = ++scalar_count_;
        number(scalars_[name] + 1);
    }
    constexpr void buffer_of(name_id name) {
        if (name != no_name && buffers_[name] == 0) {
            used_.push_back(name);
            buffers_[name] = static_cast<std::uint32_t>(used_.size());
        }
        number(buffers_[name]);
    }
    constexpr void names(run r) {
        number(r.count);
        for (name_id n : body_.name_list(r)) scalar(n);
    }
    constexpr void expressions(run r) {
        number(r.count);
        for (expr_id e : body_.expressions(r)) expression(e);
    }
    constexpr void expression(expr_id id) {
        if (id == no_expr) {
            put(0xff);
            return;
        }
        const expr& e = body_.exprs[id];
        put(static_cast<unsigned>(e.kind));
        switch (e.kind) {
            case expr_kind::integer: return whole(e.integer);
            case expr_kind::boolean: return whole(e.integer);
            case expr_kind::real: return bits(e.real_bits);
            case expr_kind::name: return scalar(e.name);
            case expr_kind::builtin: return text(e.name);
            case expr_kind::binary:
                put(static_cast<unsigned>(e.op));
                expression(e.a);
                return expression(e.b);
            case expr_kind::ternary:
                expression(e.a);
                expression(e.b);
                return expression(e.c);
            case expr_kind::call:
                text(e.name);
                number(e.arg_count);
                for (expr_id a : body_.exprs.args(e)) expression(a);
                return;
            case expr_kind::cast:
                text(e.name);
                return expression(e.a);
        }
    }
    /// Of loops: a symbol counts by name, its hint does not.
    constexpr void extent(const dim& d) {
        put(static_cast<unsigned>(d.kind));
        switch (d.kind) {
            case dim::form::number: return whole(d.number);
            case dim::form::symbol: return text(d.symbol);
            case dim::form::expression: return expression(d.value);
        }
    }
    constexpr void axis_of(const axis& a) {
        scalar(a.name);
        extent(a.extent);
        put(a.has_window());
        if (!a.has_window()) return;
        const window& w = body_.windows[a.window];
        put((w.partition ? 1u : 0u) | (w.parent != no_name ? 2u : 0u) | (w.parent_has_window ? 4u : 0u));
        if (w.parent != no_name) extent(w.parent_extent);
        expression(w.base);
        expression(w.bound);
    }
    constexpr void shape(const buffer& b) {
        put(static_cast<unsigned>(b.type));
        number(b.shape.size());
        for (const dim& d : b.shape) {
            put(static_cast<unsigned>(d.kind));
            if (d.kind == dim::form::number) whole(d.number);
            if (d.kind == dim::form::expression) expression(d.value);
        }
    }
    constexpr void declaration(name_id name) {
        if (const std::uint32_t place = places_[name]; place != 0) {
            const bool input = place <= inputs_.size();
            put(input ? 0 : 1);
            return shape(input ? inputs_[place - 1] : outputs_[place - 1 - inputs_.size()]);
        }
        put(3);  // undeclared: validate() refuses such a body
        text(name);
    }

    constexpr void list(run r) {
        number(r.count);
        for (stmt_id id : body_.statements(r)) statement(body_.stmts[id]);
    }
    constexpr void statement(const stmt& s) {
        put(static_cast<unsigned>(s.kind));
        switch (s.kind) {
            case stmt_kind::strided_loop:
                expression(s.value);
                expression(s.step);
                expression(s.end);
                [[fallthrough]];
            case stmt_kind::loop:
                axis_of(s.axis);
                put((s.unroll ? 1u : 0u) | (s.seed ? 2u : 0u));
                return list(s.body);
            case stmt_kind::load:
                buffer_of(s.buffer);
                expressions(s.index);
                put(static_cast<unsigned>(s.type));
                text(s.carried);
                names(s.names);
                return scalar(s.name);
            case stmt_kind::assign:
                put(static_cast<unsigned>(s.op));
                put(static_cast<unsigned>(s.type));
                names(s.args);
                return scalar(s.name);
            case stmt_kind::accum:
                put(static_cast<unsigned>(s.op));
                put(static_cast<unsigned>(s.type));
                names(s.args);
                names(s.axes);
                scalar(s.base);
                return scalar(s.name);
            case stmt_kind::select:
                names(s.args);
                expressions(s.index);
                return scalar(s.name);
            case stmt_kind::write:
                buffer_of(s.buffer);
                expressions(s.index);
                put(static_cast<unsigned>(s.type));
                put(s.atomic);
                text(s.swizzle);
                return names(s.args);
            case stmt_kind::let:
                expression(s.value);
                put(static_cast<unsigned>(s.type));
                return scalar(s.name);
            case stmt_kind::pre:
                scalar(s.buffer);
                expressions(s.index);
                return scalar(s.name);
            case stmt_kind::carry:
                names(s.args);
                expressions(s.index);
                put(static_cast<unsigned>(s.type));
                put(s.seed_is_buffer);
                if (s.seed_is_buffer) {
                    buffer_of(s.buffer);
                } else {
                    bits(std::bit_cast<std::uint64_t>(s.seed_number));
                }
                return scalar(s.name);
            case stmt_kind::cond:
                expression(s.value);
                list(s.body);
                return list(s.else_body);
            case stmt_kind::init:
                bits(std::bit_cast<std::uint64_t>(s.seed_number));
                put(static_cast<unsigned>(s.type));
                return scalar(s.name);
            case stmt_kind::zero_prologue:
                buffer_of(s.buffer);
                return bits(std::bit_cast<std::uint64_t>(s.seed_number));
        }
    }

    const loop::body& body_;
    std::span<const buffer> inputs_, outputs_;
    std::vector<char> bytes_;
    std::vector<std::uint32_t> scalars_, buffers_, places_;  // by name_id: number, number, place in inputs then outputs; 0 = none
    std::vector<name_id> used_;
    std::uint32_t scalar_count_ = 0;
};
}  // namespace detail

/// Bytes of a kernel whose written order is its meaning (scheduled statements): names do not count, order does.
constexpr std::vector<char> written_bytes(const body& b, std::span<const buffer> inputs, std::span<const buffer> outputs) {
    return detail::written_writer(b, inputs, outputs).write();
}

}  // namespace emmy::loop
