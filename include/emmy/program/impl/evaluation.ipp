#pragma once
#include <emmy/program/evaluate.hpp>
#include <emmy/program/impl/coordinates.ipp>

#include <memory>

namespace emmy::program {
namespace detail {

using sizes_list = std::vector<std::int64_t>;

inline std::int64_t count_of(const sizes_list& shape) {
    std::int64_t out = 1;
    for (std::int64_t extent : shape) out *= extent;
    return out;
}
inline std::string shape_text(const sizes_list& shape) {
    std::string out = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) (out += i ? "," : "") += std::to_string(shape[i]);
    return out + "]";
}
inline sizes_list strides_of(const sizes_list& shape) {
    sizes_list out(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
    return out;
}

/// One evaluation: values of the nodes that the outputs need, computed once each.
struct evaluation {
    const graph& g;
    std::span<const named_bytes> given;
    std::span<const bound_size> sizes;
    std::vector<std::unique_ptr<evaluated>> done;

    evaluation(const graph& graph, std::span<const named_bytes> bytes, std::span<const bound_size> bound) : g(graph), given(bytes), sizes(bound), done(graph.nodes.size()) {}

    fault wrong(const node& n, std::string message) const { return fault(fault_kind::input, std::move(message), std::string(g.text(n.id))); }
    result<evaluated> blank(const node& n) const {
        evaluated out;
        out.type = g.outputs_of(n)[0].type;
        auto shape = concrete_shape(g, g.shape_of(g.outputs_of(n)[0].shape), sizes);
        if (!shape) return refuse(std::move(shape).error().at(g.text(n.id)));
        out.shape = std::move(*shape);
        if (count_of(out.shape) > std::int64_t{1} << 32) return refuse(fault_kind::user, "found a tensor of " + std::to_string(count_of(out.shape)) + " elements, expected at most 2^32 for the reference", std::string(g.text(n.id)));
        return out;
    }
    static void allocate(evaluated& e) { e.values.assign(static_cast<std::size_t>(count_of(e.shape)), 0.0); }
    const evaluated& input(const node& n, std::size_t i) const { return *done[g.inputs_of(n)[i].node]; }
    /// A negative axis counts from the end; errors when it is out of range.
    result<std::size_t> axis_of(const node& n, std::int64_t axis, std::size_t rank) const {
        const std::int64_t from_start = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
        if (from_start < 0 || from_start >= static_cast<std::int64_t>(rank))
            return refuse(wrong(n, "found axis " + std::to_string(axis) + ", expected one of " + std::to_string(rank)));
        return static_cast<std::size_t>(from_start);
    }
    result<void> same_shape(const node& n, const sizes_list& found, const sizes_list& wanted) const {
        if (found == wanted) return {};
        return refuse(wrong(n, "found the shape " + shape_text(found) + ", expected " + shape_text(wanted)));
    }

    std::span<const std::byte> bytes_of(const node& n) const {
        for (const named_bytes& b : given)
            if (b.id == g.text(n.id)) return b.bytes;
        return {};
    }
    result<void> check_bytes(const node& n, const evaluated& shape, std::span<const std::byte> bytes) const {
        const std::size_t wanted = static_cast<std::size_t>(count_of(shape.shape)) * byte_size(shape.type);
        if (bytes.size() == wanted) return {};
        return refuse(wrong(n, "found " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(wanted) + " (" + std::string(token(shape.type)) + shape_text(shape.shape) + ")"));
    }
    result<evaluated> stored(const node& n) const {
        EMMY_TRY(out, blank(n));
        const auto bytes = bytes_of(n);
        EMMY_CHECK_OK(check_bytes(n, out, bytes));
        out.values = from_bytes(out.type, bytes);
        return std::move(out);
    }
    result<evaluated> constant(const node& n) const {
        EMMY_TRY(out, blank(n));
        if (const attribute* a = g.find(n, attr::value)) {
            out.values.assign(static_cast<std::size_t>(count_of(out.shape)), round_to(out.type, a->number.as_double()));
            return std::move(out);
        }
        if (const attribute* a = g.find(n, attr::context_value)) {
            EMMY_TRY(value, size_expression(a->value));
            out.values.assign(static_cast<std::size_t>(count_of(out.shape)), static_cast<double>(value));
            return std::move(out);
        }
        if (const attribute* a = g.find(n, attr::source_graph); a && bytes_of(n).empty()) {
            EMMY_TRY(inner, program::evaluate(g.nested[a->graph], {}, sizes));
            out.values = std::move(inner[0].values);
            if (const attribute* steps = g.find(n, attr::load_ops))
                for (std::uint32_t i = 0; i < steps->list.count; ++i) {
                    const op step = g.load_ops[steps->list.first + i].op;
                    if (step != op::reshape) return refuse(fault_kind::user, "no reference for a computed constant under " + std::string(text(step)), std::string(g.text(n.id)));
                }
            if (static_cast<std::int64_t>(out.values.size()) != count_of(out.shape)) return refuse(wrong(n, "found " + std::to_string(out.values.size()) + " computed values, expected " + shape_text(out.shape)));
            for (double& v : out.values) v = round_to(out.type, v);
            return std::move(out);
        }
        return stored(n);
    }
    result<std::int64_t> size_expression(expr_id e) const {
        const auto value = evaluate_integer(g.exprs, e, [&](name_id n) { return std::optional(size_of(n)); });
        if (!value) return refuse(fault_kind::input, "found a size that does not evaluate, expected integer arithmetic over symbols");
        return *value;
    }
    std::int64_t size_of(name_id symbol) const {
        for (const bound_size& b : sizes)
            if (b.symbol == g.text(symbol)) return b.size;
        return hint_of(g, symbol);
    }

    result<evaluated> pointwise(const node& n) const;
    result<evaluated> folded(const node& n, std::string_view name, std::int64_t axis_number, bool running, bool divided) const;
    result<evaluated> softmax(const node& n) const;
    /// rms_norm, or layer_norm (centred; weight and bias optional), over the last axis.
    result<evaluated> norm(const node& n, bool centred) const;
    /// Shapes of a product: batch sizes of the result, and the strides of each operand's batches (0 where it is broadcast).
    struct product_shape {
        sizes_list batch, a_batch, b_batch;  // extents; 1 where broadcast
        std::int64_t m = 1, n = 1, k = 1;
        bool transposed = false;
    };
    result<product_shape> product_of(const node& n, const sizes_list& a, const sizes_list& b, const sizes_list& out) const;
    /// Number of the operand's matrix that batch `index` of the result reads.
    static std::int64_t batch_place(const sizes_list& batch, const sizes_list& operand, std::int64_t index);
    result<evaluated> product_node(const node& n) const;
    result<evaluated> reshaped(const node& n) const;
    result<evaluated> transposed(const node& n) const;
    result<evaluated> sliced(const node& n) const;
    result<evaluated> joined(const node& n) const;
    result<evaluated> mapped(const node& n) const;
    result<evaluated> gathered(const node& n) const;
    result<evaluated> ramp(const node& n) const;
    result<evaluated> compute(const node& n) const {
        switch (n.op) {
            case op::input: return stored(n);
            case op::constant: return constant(n);
            case op::elementwise: return pointwise(n);
            case op::cast: return reshaped(n);
            case op::reduce: return folded(n, g.text(n, attr::op), g.integer(n, attr::axis), false, false);
            case op::scan: return folded(n, g.text(n, attr::op), g.integer(n, attr::axis), true, false);
            case op::mean: return folded(n, "sum", g.integer(n, attr::axis), false, true);
            case op::softmax: return softmax(n);
            case op::rms_norm: return norm(n, false);
            case op::layer_norm: return norm(n, true);
            case op::linear:
            case op::matmul: return product_node(n);
            case op::reshape:
            case op::unsqueeze: return reshaped(n);
            case op::transpose: return transposed(n);
            case op::slice: return sliced(n);
            case op::cat: return joined(n);
            case op::index_map: return mapped(n);
            case op::gather: return gathered(n);
            case op::range: return ramp(n);
            default: return refuse(fault_kind::user, "no reference for " + std::string(text(n.op)), std::string(g.text(n.id)));
        }
    }
    static bool narrow(dtype t) { return t != dtype::f64 && t != dtype::f32 && t != dtype::none; }

    /// Everything that `wanted` needs, producers first; the nodes in `wanted` themselves only when `with_wanted`.
    result<void> run(std::span<const node_id> wanted, bool with_wanted) {
        std::vector<bool> needed(g.nodes.size(), false), last(g.nodes.size(), false);
        for (node_id n : wanted) needed[n] = last[n] = true;
        for (node_id n = static_cast<node_id>(g.nodes.size()); n-- > 0;)
            if (needed[n])
                for (const edge e : g.inputs_of(g.nodes[n])) needed[e.node] = true;
        std::vector<bool> read(g.nodes.size(), false);
        for (node_id n = 0; n < g.nodes.size(); ++n)
            for (const edge e : g.inputs_of(g.nodes[n])) read[e.node] = read[e.node] || needed[n];
        for (node_id n = 0; n < g.nodes.size(); ++n) {
            if (!needed[n] || (last[n] && !with_wanted)) continue;
            if (g.nodes[n].outputs.count != 1) return refuse(fault_kind::user, "no reference for an operator of several results", std::string(g.id(n)));
            EMMY_TRY(value, compute(g.nodes[n]));
            if (read[n] && narrow(value.type))  // a tensor of the program is a rounding point
                for (double& v : value.values) v = round_to(value.type, v);
            done[n] = std::make_unique<evaluated>(std::move(value));
        }
        return {};
    }
};

}  // namespace detail
}  // namespace emmy::program
