#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/dim.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/core/expr.hpp>
#include <emmy/core/text_pool.hpp>
#include <emmy/program/op.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A traced program: a graph of operators over named tensors, flat and owning everything it names.
namespace emmy::program {

using node_id = std::uint32_t;
constexpr node_id no_node = 0xffffffffu;

/// A run of elements in one of the graph's lists.
struct range {
    std::uint32_t first = 0, count = 0;
    constexpr bool operator==(const range&) const = default;
};

/// A tensor that a node makes: row-major, sizes in elements (f4e2m1x2 counts bytes on its last axis).
struct tensor {
    name_id name = no_name;  ///< informational for output 0 (edges name the node's id); the buffer's name for later outputs
    dtype type = dtype::none;
    range shape = {};             ///< graph::dims
};

/// The size of a symbol, by its name.
struct bound_size {
    std::string_view symbol = {};
    std::int64_t size = 0;
};
/// Sizes that a symbol may take; address arithmetic may rely on the larger.
constexpr std::int64_t least_symbol_size = 1, largest_symbol_size = 4096;

/// Output `output` of node `node`.
struct edge {
    node_id node = no_node;
    std::uint32_t output = 0;
    constexpr bool operator==(const edge&) const = default;
};

/// A number whose JSON kind is part of its value: 0 is not 0.0 is not false.
struct literal {
    enum class form : std::uint8_t { none, integer, real, boolean };
    form kind = form::none;
    std::int64_t integer = 0;  ///< integer, boolean
    double real = 0;           ///< real
    constexpr bool operator==(const literal&) const = default;
    constexpr double as_double() const { return kind == form::real ? real : static_cast<double>(integer); }
};

/// An attribute that is written, i.e. differs from its default.
struct attribute {
    attr key = attr::count_;
    attr_kind kind = attr_kind::text;
    literal number = {};           ///< integer, real, boolean, number
    name_id text = no_name;   ///< text, dtype
    expr_id value = no_expr;  ///< expression
    range list = {};               ///< integers, dims and extents, sources, load_ops, parts: in the graph's list of that name
    std::uint32_t graph = 0;  ///< graph: place in graph::nested
};

struct node {
    name_id id = no_name;
    program::op op = op::input;
    range attrs = {};    ///< graph::attributes, in table order
    range inputs = {};   ///< graph::edges
    range outputs = {};  ///< graph::tensors, at least one
};

/// One source of an index map: output coordinates (`out_coord_0` …) to the coordinates of input `input_idx`.
struct map_source {
    std::int64_t input_idx = 0;
    range coord_map = {};            ///< graph::coordinates
    expr_id select = no_expr;   ///< absent: everything the earlier sources left
};
/// One step applied to a checkpoint tensor when it is bound.
struct load_op {
    program::op op = op::reshape;
    range attrs = {};
};
struct source_part {
    name_id path = no_name;
    range shape = {};  ///< graph::dims
};

struct graph {
    text_pool names;
    expr_pool exprs;
    std::vector<node> nodes;            ///< canonical order (see canonical_order)
    std::vector<node_id> inputs;        ///< call-signature order; every `input` node
    std::vector<edge> outputs;
    std::vector<attribute> attributes;
    std::vector<edge> edges;
    std::vector<tensor> tensors;
    std::vector<dim> dims;
    std::vector<std::int64_t> integers;
    std::vector<expr_id> coordinates;
    std::vector<map_source> sources;
    std::vector<load_op> load_ops;
    std::vector<source_part> parts;
    std::vector<graph> nested;  ///< source graphs of computed constants

    std::string_view text(name_id id) const { return names.text(id); }
    std::string_view id(node_id n) const { return names.text(nodes[n].id); }
    std::span<const edge> inputs_of(const node& n) const { return {edges.data() + n.inputs.first, n.inputs.count}; }
    std::span<const tensor> outputs_of(const node& n) const { return {tensors.data() + n.outputs.first, n.outputs.count}; }
    std::span<const attribute> attrs_of(range r) const { return {attributes.data() + r.first, r.count}; }
    std::span<const dim> shape_of(range r) const { return {dims.data() + r.first, r.count}; }
    const tensor& at(edge e) const { return tensors[nodes[e.node].outputs.first + e.output]; }
    std::span<const dim> shape(edge e) const { return shape_of(at(e).shape); }

    /// The written attribute, or nullptr.
    const attribute* find(const node& n, attr key) const {
        for (const attribute& a : attrs_of(n.attrs))
            if (a.key == key) return &a;
        return nullptr;
    }
    std::int64_t integer(const node& n, attr key) const {  ///< written or default
        const attribute* a = find(n, key);
        return a ? a->number.integer : static_cast<std::int64_t>(find_attr(n.op, key)->number);
    }
    bool boolean(const node& n, attr key) const { return integer(n, key) != 0; }
    double real(const node& n, attr key) const {
        const attribute* a = find(n, key);
        return a ? a->number.as_double() : find_attr(n.op, key)->number;
    }
    std::string_view text(const node& n, attr key) const {
        const attribute* a = find(n, key);
        return a ? text(a->text) : find_attr(n.op, key)->fallback;
    }

    /// The node of an id, or no_node. Linear; readers that need many keep their own table.
    node_id find_node(std::string_view id) const {
        const name_id wanted = names.find(id);
        for (node_id n = 0; wanted != no_name && n < nodes.size(); ++n)
            if (nodes[n].id == wanted) return n;
        return no_node;
    }
};

/// The one order of nodes: Kahn's algorithm with a min-heap of node ids compared as strings.
EMMY_DECL std::vector<node_id> canonical_order(const graph& g);
/// Nodes that an output needs, and every `input` node; false elsewhere (dead literals of the trace).
EMMY_DECL std::vector<bool> live_nodes(const graph& g);
/// Distinct symbols of all dims, in order of first appearance over the inputs' shapes, then the rest.
EMMY_DECL std::vector<name_id> symbols(const graph& g);
/// The hint that the first dim of this symbol carries; default_hint when none does.
EMMY_DECL std::int64_t hint_of(const graph& g, name_id symbol);

/// Builds graphs by hand; the result is in canonical order. What is wrong with one (an edge to no node, an id twice, a setting that the
/// operator does not have) is refused by check_form, which the evaluator runs.
class builder {
public:
    /// A static size (≥ 1) or a symbol with its hint.
    struct size {
        std::int64_t number = 0;  ///< the size, or the symbol's hint
        std::string symbol = {};
    };
    struct setting {  ///< an attribute of kind integer, real, boolean, text
        attr key;
        literal number = {};
        std::string text = {};
    };
    EMMY_DECL edge input(std::string_view id, dtype type, std::span<const size> shape);
    /// A checkpoint tensor at `path`.
    EMMY_DECL edge weight(std::string_view id, std::string_view path, dtype type, std::span<const size> shape);
    EMMY_DECL edge add(std::string_view id, op tag, std::span<const edge> inputs, dtype type, std::span<const size> shape, std::span<const setting> settings = {});
    /// A single-source index map; coordinates are expression texts over out_coord_<i>.
    EMMY_DECL edge map(std::string_view id, edge from, dtype type, std::span<const size> shape, std::span<const std::string> coordinates);
    EMMY_DECL void output(edge e) { g_.outputs.push_back(e); }
    EMMY_DECL graph finish() &&;

private:
    EMMY_DECL range add_shape(std::span<const size> shape);
    EMMY_DECL edge add_node(std::string_view id, op tag, range attrs, std::span<const edge> inputs, dtype type, std::span<const size> shape);
    graph g_;
};

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/graph.ipp>
#endif
