#pragma once
#include <emmy/program/lower/lower.hpp>

#include <array>
#include <initializer_list>
#include <optional>

namespace emmy::program::detail {

using edges = std::initializer_list<node_id>;

/// A graph under rewriting: nodes are appended or rewritten in place (a result keeps its id, type, shape and readers), use lists say who
/// reads what, lists by operator say what a rule has still to look at. A node that loses its last reader goes at once, with what only it read.
class workspace {
public:
    graph g;
    std::array<std::vector<node_id>, static_cast<std::size_t>(op::count_)> pending;  ///< by operator, in order of appearance
    std::size_t changes = 0;

    explicit workspace(const graph& traced) : g(traced), states_(g.nodes.size()), owner_(g.names.size(), no_node) {
        const std::vector<bool> live = live_nodes(g);
        for (node_id n = 0; n < g.nodes.size(); ++n) {
            if (!live[n]) continue;
            state& s = states_[n];
            s.alive = true;
            owner_[g.nodes[n].id] = n;
            if (!is_leaf(n)) s.origins.push_back(n);
            for (const edge e : g.inputs_of(g.nodes[n])) states_[e.node].readers.push_back(n);
            pending[static_cast<std::size_t>(g.nodes[n].op)].push_back(n);
        }
        for (const edge e : g.outputs) states_[e.node].wanted = true;
        for (const node_id n : g.inputs) states_[n].wanted = true;
    }

    bool alive(node_id n) const { return states_[n].alive; }
    bool transient(node_id n) const { return states_[n].transient; }
    void set_transient(node_id n, bool on) { states_[n].transient = on; }
    bool wanted(node_id n) const { return states_[n].wanted; }  ///< an input or output of the program
    const std::vector<node_id>& readers(node_id n) const { return states_[n].readers; }  ///< one entry an edge
    std::vector<node_id>& origins(node_id n) { return states_[n].origins; }
    std::size_t size() const { return g.nodes.size(); }
    op kind(node_id n) const { return g.nodes[n].op; }
    bool is_leaf(node_id n) const { return kind(n) == op::input || kind(n) == op::constant; }
    node_id input(node_id n, std::size_t i) const { return g.edges[g.nodes[n].inputs.first + i].node; }
    std::size_t input_count(node_id n) const { return g.nodes[n].inputs.count; }
    dtype type(node_id n) const { return g.outputs_of(g.nodes[n])[0].type; }
    range shape(node_id n) const { return g.outputs_of(g.nodes[n])[0].shape; }
    std::span<const dim> dims(node_id n) const { return g.shape_of(shape(n)); }  ///< valid until the next shape is made
    std::vector<dim> sizes(node_id n) const { return {dims(n).begin(), dims(n).end()}; }
    std::string id(node_id n) const { return std::string(g.id(n)); }
    std::string tensor_name(node_id n) const { return std::string(g.text(g.outputs_of(g.nodes[n])[0].name)); }
    bool pointwise(node_id n, std::string_view name) const { return kind(n) == op::elementwise && g.text(g.nodes[n], attr::op) == name; }
    /// The number of a literal constant.
    std::optional<literal> number(node_id n) const {
        const attribute* a = kind(n) == op::constant ? g.find(g.nodes[n], attr::value) : nullptr;
        return a ? std::optional(a->number) : std::nullopt;
    }
    bool same_shape(range a, range b) const {
        if (a == b) return true;
        if (a.count != b.count) return false;
        for (std::uint32_t i = 0; i < a.count; ++i)
            if (!same_extent(g.dims[a.first + i], g.dims[b.first + i])) return false;
        return true;
    }
    fault wrong(node_id n, std::string message, fault_kind kind = fault_kind::input) const { return fault(kind, std::move(message), id(n)); }
    /// A negative axis counts from the end.
    result<std::size_t> axis_of(node_id n, std::int64_t axis, std::size_t rank) const {
        const std::int64_t from_start = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
        if (from_start < 0 || from_start >= static_cast<std::int64_t>(rank)) return refuse(wrong(n, "found axis " + std::to_string(axis) + ", expected one of " + std::to_string(rank)));
        return static_cast<std::size_t>(from_start);
    }

    // --- lists ---
    range make_shape(std::span<const dim> sizes) {
        const range out{static_cast<std::uint32_t>(g.dims.size()), static_cast<std::uint32_t>(sizes.size())};
        for (const dim& d : sizes) g.dims.push_back(d);
        return out;
    }
    /// [1]: the shape of every literal.
    range one() {
        if (one_.count == 0) one_ = make_shape(std::array{number_dim(1)});
        return one_;
    }
    range make_attrs(std::initializer_list<attribute> list) {
        const range out{static_cast<std::uint32_t>(g.attributes.size()), static_cast<std::uint32_t>(list.size())};
        g.attributes.insert(g.attributes.end(), list.begin(), list.end());
        return out;
    }
    /// A transpose's axes.
    range axes_attrs(std::span<const std::int64_t> axes) {
        const range list{static_cast<std::uint32_t>(g.integers.size()), static_cast<std::uint32_t>(axes.size())};
        for (const std::int64_t axis : axes) g.integers.push_back(axis);
        return make_attrs({{.key = attr::axes, .kind = attr_kind::integers, .list = list}});
    }
    range axes_attrs(std::initializer_list<std::int64_t> axes) { return axes_attrs(std::span(axes.begin(), axes.size())); }
    attribute text_attr(attr key, std::string_view text) { return {.key = key, .kind = attr_kind::text, .text = g.names.intern(text)}; }
    range op_attrs(std::string_view name) { return name == "copy" ? range{} : make_attrs({text_attr(attr::op, name)}); }
    range fold_attrs(std::string_view name, std::int64_t axis) {
        const attribute by{.key = attr::axis, .kind = attr_kind::integer, .number = {literal::form::integer, axis, 0}};
        if (name == "sum") return axis == 0 ? range{} : make_attrs({by});
        return axis == 0 ? make_attrs({text_attr(attr::op, name)}) : make_attrs({text_attr(attr::op, name), by});
    }

    // --- nodes ---
    /// What the nodes made from now on belong to: they are transient parts of this node.
    void enter(node_id result) { current_ = result; }
    node_id add(std::string_view wanted, op tag, range attrs, std::span<const node_id> inputs, dtype type, range shape) {
        ++changes;
        const name_id name = g.names.intern(wanted);
        const auto n = static_cast<node_id>(g.nodes.size());
        node made{.id = free_id(name), .op = tag, .attrs = attrs};
        made.outputs = {static_cast<std::uint32_t>(g.tensors.size()), 1};
        g.tensors.push_back({name, type, shape});
        g.nodes.push_back(made);
        state s;
        s.alive = true;
        s.transient = true;
        if (current_ != no_node && tag != op::constant) s.origins = states_[current_].origins;
        states_.push_back(std::move(s));
        if (owner_.size() < g.names.size()) owner_.resize(g.names.size() * 2, no_node);
        owner_[made.id] = n;
        link(n, inputs);
        pending[static_cast<std::size_t>(tag)].push_back(n);
        return n;
    }
    node_id add(std::string_view wanted, op tag, range attrs, edges inputs, dtype type, range shape) { return add(wanted, tag, attrs, std::span(inputs.begin(), inputs.size()), type, shape); }
    /// The node's own operator, attributes and inputs become these; id, type, shape and readers stay.
    void become(node_id n, op tag, range attrs, std::span<const node_id> inputs) {
        ++changes;
        const std::vector<edge> before(g.inputs_of(g.nodes[n]).begin(), g.inputs_of(g.nodes[n]).end());
        g.nodes[n].op = tag;
        g.nodes[n].attrs = attrs;
        link(n, inputs);
        for (const edge e : before) unlink(e.node, n);
        pending[static_cast<std::size_t>(tag)].push_back(n);
    }
    void become(node_id n, op tag, range attrs, edges inputs) { become(n, tag, attrs, std::span(inputs.begin(), inputs.size())); }

    node_id pointwise(const std::string& wanted, std::string_view name, edges inputs, dtype type, range shape) { return add(wanted, op::elementwise, op_attrs(name), inputs, type, shape); }
    void become_pointwise(node_id n, std::string_view name, edges inputs) { become(n, op::elementwise, op_attrs(name), inputs); }
    /// A literal constant of shape [1]; its dtype is that of what consumes it (comparisons: f32).
    node_id number(const std::string& wanted, double value, dtype type) {
        if (type == dtype::boolean) type = dtype::f32;
        const attribute name = text_attr(attr::name, wanted);
        return add(wanted, op::constant, make_attrs({name, {.key = attr::value, .kind = attr_kind::number, .number = {literal::form::real, 0, value}}}), edges{}, type, one());
    }
    /// All readers of `from` read `to` instead.
    void redirect(node_id from, node_id to) {
        ++changes;
        std::vector<node_id> readers;
        readers.swap(states_[from].readers);
        for (const node_id r : readers) {
            const range in = g.nodes[r].inputs;
            for (std::uint32_t i = 0; i < in.count; ++i)
                if (g.edges[in.first + i].node == from) g.edges[in.first + i].node = to;
            states_[to].readers.push_back(r);
        }
        drop_if_unread(from);
    }
    /// Takes what is to be looked at of one operator; what a rule leaves is put back by keep().
    std::vector<node_id> take(op tag) {
        std::vector<node_id> out;
        out.swap(pending[static_cast<std::size_t>(tag)]);
        return out;
    }

    struct state {
        bool alive = false, transient = false, wanted = false;
        std::vector<node_id> readers, origins;
    };

private:
    void link(node_id n, std::span<const node_id> inputs) {
        node& made = g.nodes[n];
        made.inputs = {static_cast<std::uint32_t>(g.edges.size()), static_cast<std::uint32_t>(inputs.size())};
        for (const node_id i : inputs) {
            g.edges.push_back({i, 0});
            states_[i].readers.push_back(n);
        }
    }
    void unlink(node_id of, node_id reader) {
        auto& readers = states_[of].readers;
        for (std::size_t i = readers.size(); i-- > 0;)
            if (readers[i] == reader) {
                readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
        drop_if_unread(of);
    }
    void drop_if_unread(node_id first) {
        std::vector<node_id> todo{first};
        while (!todo.empty()) {
            const node_id n = todo.back();
            todo.pop_back();
            state& s = states_[n];
            if (!s.alive || s.wanted || !s.readers.empty()) continue;
            s.alive = false;
            if (owner_[g.nodes[n].id] == n) owner_[g.nodes[n].id] = no_node;
            for (const edge e : g.inputs_of(g.nodes[n])) {
                auto& readers = states_[e.node].readers;
                for (std::size_t i = readers.size(); i-- > 0;)
                    if (readers[i] == n) {
                        readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(i));
                        break;
                    }
                todo.push_back(e.node);
            }
        }
    }
    name_id free_id(name_id wanted) {
        const auto taken = [&](name_id name) { return name < owner_.size() && owner_[name] != no_node; };
        while (taken(wanted)) wanted = g.names.intern("n" + std::to_string(next_id_++));
        return wanted;
    }

    std::vector<state> states_;
    std::vector<node_id> owner_;  // by name: the living node of that id
    node_id current_ = no_node;
    std::size_t next_id_ = 0;
    range one_{};
};

}  // namespace emmy::program::detail
