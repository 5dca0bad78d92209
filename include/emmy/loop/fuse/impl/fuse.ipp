#pragma once
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/fuse/impl/axes.ipp>
#include <emmy/loop/fuse/impl/emit.ipp>
#include <emmy/loop/fuse/impl/lift.ipp>
#include <emmy/loop/fuse/impl/merge.ipp>
#include <emmy/loop/fuse/impl/naming.ipp>
#include <emmy/loop/fuse/impl/reads.ipp>
#include <emmy/loop/fuse/impl/roll.ipp>
#include <emmy/loop/fuse/impl/splice.ipp>

namespace emmy::loop {
namespace fusion {

/// Buffers that the kernel reads, in the order of `order`; what that lacks (rolled kernels have none) in the order of the program.
inline std::vector<buffer_id> inputs_of(program_graph& p, const draft& d, std::span<const buffer_id> order) {
    placement at(p, d);
    std::set<buffer_id> found;
    for (const value_id v : at.values())
        if (p.values.at(v).kind == value_kind::load) found.insert(p.values.at(v).target);
    if (d.seed != nothing) found.insert(d.seed);
    std::vector<buffer_id> out;
    for (const buffer_id b : order)
        if (found.erase(b) > 0) out.push_back(b);
    out.insert(out.end(), found.begin(), found.end());
    return out;
}

/// On the wire input nodes stand in the order of their names.
inline void order_nodes(loop::kernel& k) {
    std::vector<std::uint32_t>& order = k.node_order;
    for (std::uint32_t i = 0; i < k.inputs.size(); ++i) order.push_back(i);
    const auto by_name = [&](std::uint32_t a, std::uint32_t b) { return k.body.text(k.inputs[a].name) < k.body.text(k.inputs[b].name); };
    if (std::is_sorted(order.begin(), order.end(), by_name)) order.clear();  // empty = as declared
    else std::sort(order.begin(), order.end(), by_name);
}

/// The kernel of a region before it has an order and names.
inline result<draft> drafted(program_graph& p, rewriter& rewrite, splicer& splice, const roller& roll, const region& r, const fuse_options& options) {
    if (const auto rolled = roll.kernels.find(r.ops[0]); rolled != roll.kernels.end()) return rolled->second;
    EMMY_TRY(d, splice.splice(r));
    sibling_merge(p, rewrite).run(d);
    free_axes axes(p, rewrite);
    axes.order_chain(d);
    axes.split_and_fuse(d, options.split_axes);
    return std::move(d);
}

/// A carried state is a port of the kernel that no statement writes: a turn's cells by turn.
inline void add_state_port(program_graph& p, const draft& d, const std::string& state, formed& k) {
    loop::body& b = k.kernel.body;
    buffer port{.name = b.names.intern(std::string(b.text(k.kernel.outputs[0].name)) + "__" + state), .type = dtype::f32, .shape = {k.kernel.outputs[0].shape[0]}};
    for (const draft_store& s : d.stores) {
        if (!s.carry) continue;
        for (std::size_t i = 0; i < s.index.size(); ++i)
            if (p.values.exprs[s.index[i]].kind == expr_kind::name) port.shape.push_back(k.kernel.outputs[0].shape[i + 1]);
    }
    k.kernel.outputs.push_back(std::move(port));
    k.outputs.push_back(program::no_node);
}

inline result<std::vector<formed>> fused(const program::primitive_graph& program, const fuse_options& options) {
    program_graph p(program.g.names, program.g.exprs, options.unit_factors);
    EMMY_CHECK_OK(lift(p, program));
    rewriter rewrite(p);
    roller roll(p, rewrite);
    roll.run();
    splicer splice(p, rewrite);
    const std::vector<region> regions = form_regions(p, splice.region_of);
    const naming names(program);
    std::vector<formed> out;
    std::map<buffer_id, std::pair<std::uint32_t, std::uint32_t>> made;  // buffer: kernel and its output
    for (const region& r : regions) {
        if (r.outputs.empty()) continue;
        EMMY_TRY(d, drafted(p, rewrite, splice, roll, r, options));
        formed k;
        std::vector<buffer_id> order;
        if (!roll.kernels.contains(r.ops[0])) order = read_order(p, r, [&](op_index from, op_index to) { return splice.region_of[from] == splice.region_of[to]; }).buffers();
        const std::vector<buffer_id> inputs = inputs_of(p, d, order);
        emitter emit(p, d);
        k.kernel = emit.emit(inputs, r.outputs);
        for (const buffer_id b : inputs) {
            const auto from = made.find(b);
            k.inputs.push_back(from == made.end() ? port_source{.node = p.buffers[b].node} : port_source{.kernel = from->second.first, .output = from->second.second});
        }
        for (std::uint32_t i = 0; i < r.outputs.size(); ++i) {
            made[r.outputs[i]] = {static_cast<std::uint32_t>(out.size()), i};
            k.outputs.push_back(p.buffers[r.outputs[i]].node);
        }
        if (d.step != nothing) add_state_port(p, d, emit.state(), k);
        std::vector<program::node_id> nodes, also;
        for (const op_index o : r.ops) {
            if (p.ops[o].node != program::no_node) nodes.push_back(p.ops[o].node);
            std::vector<program::node_id>& list = p.ops[o].kind == lifted_kind::rolled ? nodes : also;
            list.insert(list.end(), p.ops[o].rolled.begin(), p.ops[o].rolled.end());
        }
        order_nodes(k.kernel);
        names.name(k, nodes, also);
        out.push_back(std::move(k));
    }
    return out;
}

}  // namespace fusion

EMMY_DECL result<std::vector<formed>> fuse(const program::primitive_graph& program, const fuse_options& options) { return fusion::fused(program, options); }

}  // namespace emmy::loop
