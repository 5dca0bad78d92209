#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/program/wire.hpp>

#include <string>

namespace emmy::program {
namespace detail {

inline void write_shape(json::writer& out, const graph& g, range shape) {
    out.begin_array();
    for (const dim& d : g.shape_of(shape)) write_dim(out, d, g.exprs, g.names);
    out.end_array();
}
inline void write_expression(json::writer& out, const graph& g, expr_id e) {
    std::string text;
    spell_expr(text, e, g.exprs, g.names);
    out.string(text);
}
inline void write_literal(json::writer& out, const literal& n) {
    switch (n.kind) {
        case literal::form::none: out.null(); break;
        case literal::form::integer: out.integer(n.integer); break;
        case literal::form::real: out.real(n.real); break;
        case literal::form::boolean: out.boolean(n.integer != 0); break;
    }
}
inline void write_attributes(json::writer& out, const graph& g, op tag, range list);
inline void write_attribute(json::writer& out, const graph& g, const attribute& a) {
    switch (a.kind) {
        case attr_kind::text:
        case attr_kind::dtype: out.string(g.text(a.text)); break;
        case attr_kind::integer:
        case attr_kind::boolean:
        case attr_kind::real:
        case attr_kind::number: write_literal(out, a.number); break;
        case attr_kind::integers:
            out.begin_array();
            for (std::uint32_t i = 0; i < a.list.count; ++i) out.integer(g.integers[a.list.first + i]);
            out.end_array();
            break;
        case attr_kind::dims: write_shape(out, g, a.list); break;
        case attr_kind::extents:
            out.begin_array();
            for (const dim& d : g.shape_of(a.list)) {
                if (d.kind == dim::form::symbol) out.string(g.text(d.symbol));
                else out.integer(d.number);
            }
            out.end_array();
            break;
        case attr_kind::expression: write_expression(out, g, a.value); break;
        case attr_kind::sources:
            out.begin_array();
            for (std::uint32_t i = 0; i < a.list.count; ++i) {
                const map_source& s = g.sources[a.list.first + i];
                out.begin_object().key("input_idx").integer(s.input_idx).key("coord_map").begin_array();
                for (std::uint32_t c = 0; c < s.coord_map.count; ++c) write_expression(out, g, g.coordinates[s.coord_map.first + c]);
                out.end_array();
                if (s.select != no_expr) write_expression(out.key("select"), g, s.select);
                out.end_object();
            }
            out.end_array();
            break;
        case attr_kind::load_ops:
            out.begin_array();
            for (std::uint32_t i = 0; i < a.list.count; ++i) {
                const load_op& step = g.load_ops[a.list.first + i];
                out.begin_object().key(text(step.op));
                write_attributes(out, g, step.op, step.attrs);
                out.end_object();
            }
            out.end_array();
            break;
        case attr_kind::parts:
            out.begin_array();
            for (std::uint32_t i = 0; i < a.list.count; ++i) {
                const source_part& part = g.parts[a.list.first + i];
                out.begin_array().string(g.text(part.path));
                write_shape(out, g, part.shape);
                out.end_array();
            }
            out.end_array();
            break;
        case attr_kind::graph: write_program(out, g.nested[a.graph]); break;
    }
}
inline void write_attributes(json::writer& out, const graph& g, op tag, range list) {
    out.begin_object();
    for (const attribute& a : g.attrs_of(list)) {
        const attr_facts* known = find_attr(tag, a.key);
        if (known == nullptr) continue;  // a hand-built graph; the reference refuses it
        out.key(known->text);
        write_attribute(out, g, a);
    }
    out.end_object();
}
inline void write_buffer(json::writer& out, const graph& g, edge e) { out.string(e.output == 0 ? g.id(e.node) : g.text(g.at(e).name)); }

}  // namespace detail

EMMY_DECL void write_attributes(json::writer& out, const graph& g, const node& n) { detail::write_attributes(out, g, n.op, n.attrs); }

EMMY_DECL void write_program(json::writer& out, const graph& g) {
    out.begin_object().key("inputs").begin_array();
    for (node_id n : g.inputs) out.string(g.id(n));
    out.end_array().key("outputs").begin_array();
    for (edge e : g.outputs) detail::write_buffer(out, g, e);
    out.end_array().key("nodes").begin_array();
    for (const node& n : g.nodes) {
        out.begin_object().key("id").string(g.text(n.id)).key("op").string(text(n.op));
        if (n.attrs.count > 0) detail::write_attributes(out.key("attrs"), g, n.op, n.attrs);
        if (n.inputs.count > 0) {
            out.key("inputs").begin_array();
            for (edge e : g.inputs_of(n)) detail::write_buffer(out, g, e);
            out.end_array();
        }
        out.key("outputs").begin_array();
        for (const tensor& t : g.outputs_of(n)) {
            out.begin_array().string(g.text(t.name)).string(token(t.type));
            detail::write_shape(out, g, t.shape);
            out.end_array();
        }
        out.end_array().end_object();
    }
    out.end_array().end_object();
}

}  // namespace emmy::program
