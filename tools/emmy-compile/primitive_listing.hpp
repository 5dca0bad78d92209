#pragma once
#include <emmy-compile/listing.hpp>

#include <emmy/program/lower/lower.hpp>

/// Lowered programs for people and machines.
namespace emmy::compile {

/// Coordinates out_coord_<i> as c<i>.
inline std::string coordinate_text(const program::graph& g, expr_id id) {
    std::string out;
    spell_expr(out, id, g.exprs, g.names);
    constexpr std::string_view written = "out_coord_";
    for (std::size_t at = 0; (at = out.find(written, at)) != std::string::npos; ++at) out.replace(at, written.size(), "c");
    return out;
}

///   ~linear_reduce: f16[512, 1, 4096] = sum(linear_ew, axis -2)            linear
/// A `~` marks a buffer that lowering made between: its type rounds nothing. Behind: the traced operators that the node implements.
inline std::string list_primitives(const program::primitive_graph& p) {
    const program::graph& g = p.g;
    std::string out;
    for (program::node_id n = 0; n < g.nodes.size(); ++n) {
        const program::node& node = g.nodes[n];
        const auto input = [&](std::size_t i) { return std::string(g.id(g.inputs_of(node)[i].node)); };
        std::string line = (p.transient[n] ? "~" : "") + std::string(g.id(n)) + ": " + shape_text(g, g.outputs_of(node)[0]) + " = ";
        std::string args;
        for (std::size_t i = 0; i < node.inputs.count; ++i) args += (i ? ", " : "") + input(i);
        if (node.op == program::op::elementwise) {
            line += std::string(g.text(node, program::attr::op)) + "(" + args + ")";
        } else if (node.op == program::op::reduce || node.op == program::op::scan) {
            line += (node.op == program::op::scan ? "running " : "") + std::string(g.text(node, program::attr::op)) + "(" + args + ", axis " + std::to_string(g.integer(node, program::attr::axis)) + ")";
        } else if (node.op == program::op::index_map) {
            const program::range sources = g.find(node, program::attr::sources)->list;
            for (std::uint32_t i = 0; i < sources.count; ++i) {
                const program::map_source& s = g.sources[sources.first + i];
                line += (i ? ", else " : "") + input(static_cast<std::size_t>(s.input_idx)) + "[";
                for (std::uint32_t k = 0; k < s.coord_map.count; ++k) line += (k ? ", " : "") + coordinate_text(g, g.coordinates[s.coord_map.first + k]);
                line += "]" + (s.select == no_expr ? std::string() : " if " + coordinate_text(g, s.select));
            }
        } else if (const program::attribute* value = g.find(node, program::attr::value); value && node.op == program::op::constant) {
            line += value->number.kind == program::literal::form::real ? json::spell_real(value->number.real) : std::to_string(value->number.integer);
        } else {
            std::string attrs;
            json::writer w(attrs);
            program::write_attributes(w, g, node);
            line += std::string(program::text(node.op)) + (node.op == program::op::input ? "" : "(" + args + (args.empty() || attrs == "{}" ? "" : ", ") + (attrs == "{}" ? "" : attrs) + ")");
        }
        std::string origins;
        for (const program::origin& o : p.origins_of(n))
            if (o.id != node.id) origins += (origins.empty() ? "" : " ") + std::string(g.text(o.id));
        if (!origins.empty()) line += std::string(line.size() < 70 ? 72 - line.size() : 2, ' ') + origins;
        out += line + "\n";
    }
    out += "return ";
    for (std::size_t i = 0; i < g.outputs.size(); ++i) out += (i ? ", " : "") + std::string(g.id(g.outputs[i].node));
    return out + "\n";
}

/// {"schema", "program", "transient": [ids], "origins": {id: [ids of the traced program]}}
inline std::string primitive_json(const program::primitive_graph& p) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("schema").string("emmy.primitive/1").key("program");
    program::write_program(w, p.g);
    w.key("transient").begin_array();
    for (program::node_id n = 0; n < p.g.nodes.size(); ++n)
        if (p.transient[n]) w.string(p.g.id(n));
    w.end_array().key("origins").begin_object();
    for (program::node_id n = 0; n < p.g.nodes.size(); ++n) {
        if (p.origins_of(n).empty()) continue;
        w.key(p.g.id(n)).begin_array();
        for (const program::origin& o : p.origins_of(n)) w.string(p.g.text(o.id));
        w.end_array();
    }
    w.end_object().end_object();
    return out;
}

}  // namespace emmy::compile
