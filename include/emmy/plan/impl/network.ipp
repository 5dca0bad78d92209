#pragma once
#include <emmy/fork/structure/kernel_set.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/plan/network.hpp>

#include <algorithm>
#include <map>

namespace emmy::plan {

namespace detail {

inline expr_id import_expr(expr_pool& to, text_pool& names, const expr_pool& from, const text_pool& from_names, expr_id id) {
    if (id == no_expr) return no_expr;
    expr e = from[id];
    if (e.kind == expr_kind::call) {
        std::vector<expr_id> args;
        for (const expr_id a : from.args(e)) args.push_back(import_expr(to, names, from, from_names, a));
        return to.call(names.intern(from_names.text(e.name)), args);
    }
    if (e.name != no_name) e.name = names.intern(from_names.text(e.name));
    e.a = import_expr(to, names, from, from_names, e.a);
    e.b = import_expr(to, names, from, from_names, e.b);
    e.c = import_expr(to, names, from, from_names, e.c);
    return to.add(e);
}

inline std::uint32_t add_buffer(network& n, const loop::kernel& k, const loop::buffer& b, plan::role role) {
    buffer out{.name = std::string(k.body.text(b.name)), .type = b.type, .shape = {}, .role = role};
    for (const dim& d : b.shape) out.shape.push_back(n.import(d, k.body.exprs, k.body.names));
    n.buffers.push_back(std::move(out));
    return static_cast<std::uint32_t>(n.buffers.size() - 1);
}

/// Names of the buffers that kernels see where they stand: of a whole network, or of the node that they replace.
struct surroundings {
    std::map<std::string, std::uint32_t, std::less<>> inputs, outputs;
};
inline surroundings surroundings_of(const loop::kernel& k, std::span<const std::uint32_t> inputs, std::span<const std::uint32_t> outputs) {
    surroundings out;
    for (std::size_t i = 0; i < k.inputs.size(); ++i) out.inputs.emplace(k.body.text(k.inputs[i].name), inputs[i]);
    for (std::size_t i = 0; i < k.outputs.size(); ++i) out.outputs.emplace(k.body.text(k.outputs[i].name), outputs[i]);
    return out;
}

inline std::string free_name(const network& n, std::string_view wanted) {
    std::string out(wanted);
    for (int i = 2; n.find(out) != none; ++i) out = std::string(wanted) + "#" + std::to_string(i);
    return out;
}

/// Kernels as nodes; buffers that they alone know become workspaces.
inline result<std::vector<node>> wire(network& n, const loop::kernel& outside, surroundings at, std::span<const loop::kernel> kernels) {
    const auto wrong = [](const loop::kernel& k, const loop::buffer& b, std::string what) { return refuse(fault_kind::input, std::move(what), k.name + "." + std::string(k.body.text(b.name))); };
    std::map<std::string, std::uint32_t, std::less<>> written;
    std::vector<node> nodes;
    for (const loop::kernel& k : kernels) {
        node made{.kernel = std::make_shared<loop::kernel>(k), .inputs = {}, .outputs = {}};
        for (const loop::buffer& b : k.outputs) {
            const std::string name(k.body.text(b.name));
            if (written.contains(name)) return wrong(k, b, "found a second kernel that writes the buffer, expected one");
            const auto known = at.outputs.find(name);
            std::uint32_t place = known != at.outputs.end() ? known->second : none;
            if (place == none) {
                const std::string free = free_name(n, name);
                place = add_buffer(n, k, b, role::workspace);
                n.buffers[place].name = free;
            } else if (n.buffers[place].type != b.type) {
                return wrong(k, b, "found " + std::string(token(b.type)) + ", expected " + std::string(token(n.buffers[place].type)));
            }
            written.emplace(name, place);
            made.outputs.push_back(place);
        }
        nodes.push_back(std::move(made));
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const loop::kernel& k = kernels[i];
        const std::vector<bool> read = inputs_read(k);
        for (std::size_t j = 0; j < k.inputs.size(); ++j) {
            const loop::buffer& b = k.inputs[j];
            const std::string_view name = k.body.text(b.name);
            std::uint32_t place = none;
            if (const auto made = written.find(name); made != written.end()) place = made->second;
            else if (const auto given = at.inputs.find(name); given != at.inputs.end()) place = given->second;
            else if (read[j]) return wrong(k, b, "found a buffer that no kernel writes, expected an output of another one or an input of " + outside.name);
            if (place != none && read[j] && n.buffers[place].type != b.type)
                return wrong(k, b, "found " + std::string(token(b.type)) + ", expected " + std::string(token(n.buffers[place].type)) + " as it is written");
            nodes[i].inputs.push_back(place);
        }
    }
    for (const loop::buffer& b : outside.outputs)
        if (!written.contains(outside.body.text(b.name))) return wrong(outside, b, "found no kernel that writes the buffer, expected one");
    return nodes;
}

inline std::vector<loop::kernel> kernels_of(const fork::kernel_set& set) {
    std::vector<loop::kernel> out;
    for (const fork::piece& p : set.pieces) out.push_back(p.form.kernel);
    return out;
}

/// A constant as it is stored: known to the kernel that reads it.
inline void add_relaid(network& n, surroundings& at, const fork::kernel_set& set) {
    for (const fork::relaid_input& r : set.relaid)
        for (const fork::piece& p : set.pieces)
            for (const loop::buffer& b : p.form.kernel.inputs) {
                if (p.form.kernel.body.text(b.name) != r.source || at.inputs.contains(r.source)) continue;
                const std::string free = free_name(n, r.source);
                const std::uint32_t place = add_buffer(n, p.form.kernel, b, role::constant);
                n.buffers[place].name = free;
                if (const auto folded = at.inputs.find(r.folded); folded != at.inputs.end()) n.buffers[place].transposed_of = n.buffers[folded->second].name;
                at.inputs.emplace(r.source, place);
            }
}

}  // namespace detail

EMMY_DECL std::uint32_t network::find(std::string_view buffer) const {
    for (std::uint32_t i = 0; i < buffers.size(); ++i)
        if (buffers[i].name == buffer) return i;
    return none;
}

EMMY_DECL std::uint32_t network::root(std::uint32_t buffer) const {
    for (std::size_t steps = 0; buffers[buffer].view_of != none && steps < buffers.size(); ++steps) buffer = buffers[buffer].view_of;
    return buffer;
}

EMMY_DECL dim network::import(const dim& d, const expr_pool& from, const text_pool& from_names) {
    dim out = d;
    if (d.kind == dim::form::symbol) out.symbol = names.intern(from_names.text(d.symbol));
    if (d.kind == dim::form::expression) out.value = detail::import_expr(exprs, names, from, from_names, d.value);
    return out;
}

EMMY_DECL network network::of(loop::kernel k) {
    network n;
    node made;
    for (const loop::buffer& b : k.inputs) made.inputs.push_back(detail::add_buffer(n, k, b, role::input));
    for (const loop::buffer& b : k.outputs) made.outputs.push_back(detail::add_buffer(n, k, b, role::output));
    made.kernel = std::make_shared<loop::kernel>(std::move(k));
    n.nodes.push_back(std::move(made));
    return n;
}

EMMY_DECL network network::of(const program::primitive_graph& program, std::span<const loop::formed> kernels) {
    network n;
    const program::graph& g = program.g;
    std::map<program::node_id, std::uint32_t> place;
    const auto add = [&](program::edge e, plan::role role) {
        const program::tensor& t = g.at(e);
        buffer out{.name = std::string(g.id(e.node)), .type = t.type, .shape = {}, .role = role};
        for (const dim& d : g.shape_of(t.shape)) out.shape.push_back(n.import(d, g.exprs, g.names));
        n.buffers.push_back(std::move(out));
        return static_cast<std::uint32_t>(n.buffers.size() - 1);
    };
    const auto is_given = [&](program::node_id id) { return g.nodes[id].op == program::op::input || g.nodes[id].op == program::op::constant; };
    for (const program::node_id id : g.inputs) place.emplace(id, add({id, 0}, role::input));
    const auto constant = [&](program::node_id id) {
        if (id != program::no_node && !place.contains(id)) place.emplace(id, add({id, 0}, role::constant));
    };
    for (const loop::formed& f : kernels)
        for (const loop::port_source& from : f.inputs)
            if (from.kernel == loop::port_source::outside) constant(from.node);
    for (const program::edge e : g.outputs)
        if (is_given(e.node)) constant(e.node);
    for (const program::edge e : g.outputs) {
        if (!place.contains(e.node)) {
            place.emplace(e.node, add(e, role::output));
            continue;
        }
        const std::uint32_t view = add(e, role::output);
        n.buffers[view].name = detail::free_name(n, n.buffers[view].name + "__output");
        n.buffers[view].view_of = place[e.node];
    }
    std::vector<std::vector<std::uint32_t>> written;
    for (const loop::formed& f : kernels) {
        node made{.kernel = std::make_shared<loop::kernel>(f.kernel), .inputs = {}, .outputs = {}};
        for (const loop::port_source& from : f.inputs) made.inputs.push_back(from.kernel == loop::port_source::outside ? place.at(from.node) : written[from.kernel][from.output]);
        for (std::size_t o = 0; o < f.outputs.size(); ++o) {
            const auto known = place.find(f.outputs[o]);
            std::uint32_t at = known != place.end() ? known->second : none;
            if (at == none) {
                at = detail::add_buffer(n, f.kernel, f.kernel.outputs[o], role::workspace);
                if (f.outputs[o] != program::no_node) place.emplace(f.outputs[o], at);
            }
            made.outputs.push_back(at);
        }
        written.push_back(made.outputs);
        n.nodes.push_back(std::move(made));
    }
    return n;
}

EMMY_DECL result<network> network::of(const loop::kernel& outside, std::span<const loop::kernel> kernels) {
    network n = of(outside);
    EMMY_CHECK_OK(n.replace(0, kernels));
    return n;
}

EMMY_DECL result<network> network::of(const loop::kernel& parent, const fork::kernel_set& set) {
    network n = of(parent);
    EMMY_CHECK_OK(n.replace(0, set));
    return n;
}

EMMY_DECL result<void> network::replace(std::uint32_t at, std::span<const loop::kernel> kernels) {
    const node old = nodes[at];
    EMMY_TRY(made, detail::wire(*this, *old.kernel, detail::surroundings_of(*old.kernel, old.inputs, old.outputs), kernels));
    nodes.erase(nodes.begin() + at);
    nodes.insert(nodes.begin() + at, made.begin(), made.end());
    return {};
}

EMMY_DECL result<void> network::replace(std::uint32_t at, const fork::kernel_set& set) {
    const node old = nodes[at];
    detail::surroundings around = detail::surroundings_of(*old.kernel, old.inputs, old.outputs);
    detail::add_relaid(*this, around, set);
    EMMY_TRY(made, detail::wire(*this, *old.kernel, std::move(around), detail::kernels_of(set)));
    nodes.erase(nodes.begin() + at);
    nodes.insert(nodes.begin() + at, made.begin(), made.end());
    return {};
}

EMMY_DECL std::vector<bool> inputs_read(const loop::kernel& k) {
    std::vector<bool> out(k.inputs.size(), false);
    const auto read = [&](name_id buffer) {
        for (std::size_t i = 0; i < k.inputs.size(); ++i)
            if (k.inputs[i].name == buffer) out[i] = true;
    };
    for (const loop::stmt& s : k.body.stmts) {
        if (s.kind == loop::stmt_kind::load) read(s.buffer);
        if (s.kind == loop::stmt_kind::carry && s.seed_is_buffer) read(s.buffer);
    }
    return out;
}

EMMY_DECL std::vector<bool> outputs_added(const loop::kernel& k) {
    std::vector<bool> out(k.outputs.size(), false);
    for (const loop::stmt& s : k.body.stmts)
        if (s.kind == loop::stmt_kind::write && s.atomic)
            for (std::size_t i = 0; i < k.outputs.size(); ++i)
                if (k.outputs[i].name == s.buffer) out[i] = true;
    return out;
}

EMMY_DECL result<std::vector<std::uint32_t>> launch_order(const network& n) {
    std::vector<std::vector<std::uint32_t>> writers(n.buffers.size());
    for (std::uint32_t i = 0; i < n.nodes.size(); ++i)
        for (const std::uint32_t b : n.nodes[i].outputs) writers[n.root(b)].push_back(i);
    std::vector<std::vector<std::uint32_t>> waits(n.nodes.size());
    for (std::uint32_t i = 0; i < n.nodes.size(); ++i) {
        const std::vector<bool> read = inputs_read(*n.nodes[i].kernel);
        for (std::size_t j = 0; j < n.nodes[i].inputs.size(); ++j)
            if (read[j] && n.nodes[i].inputs[j] != none)
                for (const std::uint32_t w : writers[n.root(n.nodes[i].inputs[j])]) waits[i].push_back(w);
    }
    std::vector<std::uint32_t> order;
    std::vector<bool> done(n.nodes.size(), false);
    while (order.size() < n.nodes.size()) {
        const std::size_t before = order.size();
        for (std::uint32_t i = 0; i < n.nodes.size(); ++i) {
            if (done[i] || !std::all_of(waits[i].begin(), waits[i].end(), [&](std::uint32_t w) { return done[w]; })) continue;
            done[i] = true;
            order.push_back(i);
            break;  // the first that can run
        }
        if (order.size() == before) {
            std::string names;
            for (std::uint32_t i = 0; i < n.nodes.size(); ++i)
                if (!done[i]) names += (names.empty() ? "" : ", ") + n.nodes[i].kernel->name;
            return refuse(fault_kind::input, "found kernels that wait for each other: " + names + ", expected an order in which every buffer is written before it is read");
        }
    }
    return order;
}

}  // namespace emmy::plan
