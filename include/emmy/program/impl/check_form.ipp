#pragma once
#include <emmy/program/check.hpp>

namespace emmy::program {

EMMY_DECL result<void> check_form(const graph& g) {
    const auto inside = [](range r, std::size_t size) { return r.first <= size && r.count <= size - r.first; };
    const auto leads = [&](edge e, std::size_t before) { return e.node < before && e.output < g.nodes[e.node].outputs.count; };
    if (g.outputs.empty()) return refuse(fault_kind::input, "found a program without outputs, expected at least one");
    std::vector<bool> taken(g.names.size(), false);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.id >= g.names.size()) return refuse(fault_kind::input, "found a node without an id, expected one", "nodes[" + std::to_string(i) + "]");
        const auto wrong = [&](const std::string& what) { return refuse(fault_kind::input, what, std::string(g.text(n.id))); };
        if (taken[n.id]) return wrong("found the id twice, expected distinct ids");
        taken[n.id] = true;
        if (n.op >= op::count_) return wrong("found no operator, expected one");
        if (!inside(n.attrs, g.attributes.size()) || !inside(n.inputs, g.edges.size()) || !inside(n.outputs, g.tensors.size()) || n.outputs.count == 0)
            return wrong("found attributes, inputs or outputs outside the graph's lists, expected them inside and at least one output");
        for (const tensor& t : g.outputs_of(n))
            if (!inside(t.shape, g.dims.size())) return wrong("found a shape outside the graph's lists, expected it inside");
        const op_facts& known = facts(n.op);
        if (n.inputs.count < known.min_inputs || (known.max_inputs != 255 && n.inputs.count > known.max_inputs)) return wrong("found " + std::to_string(n.inputs.count) + " inputs, which " + std::string(known.text) + " does not take");
        for (const edge e : g.inputs_of(n))
            if (!leads(e, i)) return wrong("found an edge to no node before this one, expected an output of an earlier node");
        for (const attribute& a : g.attrs_of(n.attrs)) {
            const attr_facts* f = find_attr(n.op, a.key);
            if (f == nullptr) return wrong("found an attribute that " + std::string(known.text) + " does not have, expected its own only");
            const bool named = (a.kind != attr_kind::text && a.kind != attr_kind::dtype) || a.text < g.names.size();
            const bool formed = a.kind != attr_kind::expression || a.value < g.exprs.size();
            if (a.kind != f->kind || !named || !formed) return wrong("found another kind of value for " + std::string(f->text) + ", expected the operator's");
            std::size_t list = 0;
            switch (a.kind) {
                case attr_kind::integers: list = g.integers.size(); break;
                case attr_kind::dims:
                case attr_kind::extents: list = g.dims.size(); break;
                case attr_kind::sources: list = g.sources.size(); break;
                case attr_kind::load_ops: list = g.load_ops.size(); break;
                case attr_kind::parts: list = g.parts.size(); break;
                case attr_kind::graph:
                    if (a.graph >= g.nested.size()) return wrong("found no source graph, expected one");
                    continue;
                default: continue;
            }
            if (!inside(a.list, list)) return wrong("found " + std::string(f->text) + " outside the graph's lists, expected it inside");
        }
        for (const attr_facts& f : known.attrs)
            if (f.when == presence::required && g.find(n, f.key) == nullptr) return wrong("found no " + std::string(f.text) + ", expected one");
    }
    for (const map_source& s : g.sources) {
        bool whole = inside(s.coord_map, g.coordinates.size()) && (s.select == no_expr || s.select < g.exprs.size());
        for (std::uint32_t c = 0; whole && c < s.coord_map.count; ++c) whole = g.coordinates[s.coord_map.first + c] < g.exprs.size();
        if (!whole) return refuse(fault_kind::input, "found an index map with a coordinate that is no expression, expected one");
    }
    for (const load_op& l : g.load_ops)
        if (l.op >= op::count_ || !inside(l.attrs, g.attributes.size())) return refuse(fault_kind::input, "found a load step outside the graph's lists, expected it inside");
    for (const node_id n : g.inputs)
        if (n >= g.nodes.size()) return refuse(fault_kind::input, "found an input that is no node, expected one", "inputs");
    for (const edge e : g.outputs)
        if (!leads(e, g.nodes.size())) return refuse(fault_kind::input, "found an output that no node makes, expected one of the nodes", "outputs");
    return {};
}

}  // namespace emmy::program
