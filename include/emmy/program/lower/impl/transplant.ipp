#pragma once
#include <emmy/program/graph.hpp>

namespace emmy::program::detail {

/// Copies nodes of a graph, with what they name, into another: compact lists; names and expressions either anew or by taking the pools over.
class transplant {
public:
    /// `own_pools`: the result has fresh pools; otherwise the source's ids hold in it (the caller moves or copies the pools).
    transplant(const graph& from, graph& to, bool own_pools) : from_(from), to_(to), own_(own_pools), place_(from.nodes.size(), no_node) {
        if (own_) exprs_.assign(from.exprs.size(), no_expr), names_.assign(from.names.size(), no_name);
    }
    node_id place(node_id n) const { return place_[n]; }

    /// The node's producers have been copied or will be: edges are set by finish().
    void copy(node_id n) {
        const node& old = from_.nodes[n];
        node made{.id = name(old.id), .op = old.op};
        made.attrs = attributes(old.attrs);
        made.inputs = {static_cast<std::uint32_t>(to_.edges.size()), old.inputs.count};
        for (const edge e : from_.inputs_of(old)) to_.edges.push_back(e);
        made.outputs = {static_cast<std::uint32_t>(to_.tensors.size()), old.outputs.count};
        for (const tensor& t : from_.outputs_of(old)) to_.tensors.push_back({name(t.name), t.type, dims(t.shape)});
        place_[n] = static_cast<node_id>(to_.nodes.size());
        to_.nodes.push_back(made);
    }
    /// Brings the nodes into canonical order. `order`, when asked for, gives the source's node of each.
    void finish(std::vector<node_id>* order = nullptr) {
        for (edge& e : to_.edges) e.node = place_[e.node];
        const std::vector<node_id> sorted = canonical_order(to_);
        std::vector<node_id> moved(to_.nodes.size());
        std::vector<node> nodes;
        nodes.reserve(sorted.size());
        for (node_id i = 0; i < sorted.size(); ++i) moved[sorted[i]] = i, nodes.push_back(to_.nodes[sorted[i]]);
        to_.nodes = std::move(nodes);
        for (edge& e : to_.edges) e.node = moved[e.node];
        if (order) order->assign(sorted.size(), no_node);
        for (node_id n = 0; n < place_.size(); ++n)
            if (place_[n] != no_node) {
                place_[n] = moved[place_[n]];
                if (order) (*order)[place_[n]] = n;
            }
    }

private:
    name_id name(name_id n) {
        if (!own_ || n == no_name) return n;
        if (names_[n] == no_name) names_[n] = to_.names.intern(from_.names.text(n));
        return names_[n];
    }
    expr_id expression(expr_id id) {
        if (!own_ || id == no_expr) return id;
        if (exprs_[id] != no_expr) return exprs_[id];
        expr e = from_.exprs[id];
        if (e.kind == expr_kind::call) {
            std::vector<expr_id> args;
            for (const expr_id a : from_.exprs.args(e)) args.push_back(expression(a));
            return exprs_[id] = to_.exprs.call(name(e.name), args);
        }
        e.name = name(e.name);
        e.a = expression(e.a);
        e.b = expression(e.b);
        e.c = expression(e.c);
        return exprs_[id] = to_.exprs.add(e);
    }
    range dims(range r) {
        const range out{static_cast<std::uint32_t>(to_.dims.size()), r.count};
        for (dim d : from_.shape_of(r)) {
            d.symbol = name(d.symbol);
            d.value = expression(d.value);
            to_.dims.push_back(d);
        }
        return out;
    }
    range attributes(range r) {
        std::vector<attribute> list;
        for (attribute a : from_.attrs_of(r)) {
            a.text = name(a.text);
            a.value = expression(a.value);
            switch (a.kind) {
                case attr_kind::integers: {
                    const range out{static_cast<std::uint32_t>(to_.integers.size()), a.list.count};
                    for (std::uint32_t i = 0; i < a.list.count; ++i) to_.integers.push_back(from_.integers[a.list.first + i]);
                    a.list = out;
                    break;
                }
                case attr_kind::dims:
                case attr_kind::extents: a.list = dims(a.list); break;
                case attr_kind::sources: a.list = sources(a.list); break;
                case attr_kind::load_ops: {
                    std::vector<load_op> steps;
                    for (std::uint32_t i = 0; i < a.list.count; ++i) {
                        const load_op& l = from_.load_ops[a.list.first + i];
                        steps.push_back({l.op, attributes(l.attrs)});
                    }
                    a.list = {static_cast<std::uint32_t>(to_.load_ops.size()), a.list.count};
                    to_.load_ops.insert(to_.load_ops.end(), steps.begin(), steps.end());
                    break;
                }
                case attr_kind::parts: {
                    const range out{static_cast<std::uint32_t>(to_.parts.size()), a.list.count};
                    for (std::uint32_t i = 0; i < a.list.count; ++i) {
                        const source_part& p = from_.parts[a.list.first + i];
                        to_.parts.push_back({name(p.path), dims(p.shape)});
                    }
                    a.list = out;
                    break;
                }
                case attr_kind::graph:
                    to_.nested.push_back(from_.nested[a.graph]);
                    a.graph = static_cast<std::uint32_t>(to_.nested.size() - 1);
                    break;
                default: break;
            }
            list.push_back(a);
        }
        const range out{static_cast<std::uint32_t>(to_.attributes.size()), r.count};
        to_.attributes.insert(to_.attributes.end(), list.begin(), list.end());
        return out;
    }
    range sources(range r) {
        const range out{static_cast<std::uint32_t>(to_.sources.size()), r.count};
        for (std::uint32_t i = 0; i < r.count; ++i) {
            map_source s = from_.sources[r.first + i];
            const range old = s.coord_map;
            s.coord_map.first = static_cast<std::uint32_t>(to_.coordinates.size());
            for (std::uint32_t k = 0; k < old.count; ++k) to_.coordinates.push_back(expression(from_.coordinates[old.first + k]));
            s.select = expression(s.select);
            to_.sources.push_back(s);
        }
        return out;
    }

    const graph& from_;
    graph& to_;
    bool own_;
    std::vector<node_id> place_;
    std::vector<expr_id> exprs_;
    std::vector<name_id> names_;
};

}  // namespace emmy::program::detail
