#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/program/evaluate.hpp>

#include <algorithm>
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
/// Next position in row-major order.
inline void advance(sizes_list& c, const sizes_list& shape) {
    for (std::size_t i = c.size(); i-- > 0;) {
        if (++c[i] < shape[i]) return;
        c[i] = 0;
    }
}

/// The same values in another type's form: reals stay unrounded, what becomes an integer is truncated and saturated, integers wrap.
inline evaluated converted(const evaluated& x, dtype to) {
    evaluated out{.type = to, .shape = x.shape};
    const bool from_integers = reads_as_integer(x.type), to_integers = reads_as_integer(to);
    if (from_integers && to_integers) {
        out.integers = x.integers;
        if (to != x.type)
            for (std::int64_t& v : out.integers) v = wrap_to(to, v);
    } else if (from_integers) {
        out.values.reserve(x.integers.size());
        for (std::int64_t v : x.integers) out.values.push_back(integer_to_real(x.type, v));
    } else if (to_integers) {
        out.integers.reserve(x.values.size());
        for (double v : x.values) out.integers.push_back(real_to_integer(to, v));
    } else {
        out.values = x.values;
    }
    return out;
}
/// Elements as reals, whatever their form.
inline std::vector<double> reals_of(const evaluated& x) { return reads_as_integer(x.type) ? converted(x, dtype::f64).values : x.values; }

/// One evaluation: values of the nodes that the outputs need, computed once each. The program passed check_program.
struct evaluation {
    const graph& g;
    std::span<const named_bytes> given;
    std::span<const bound_size> sizes;
    evaluate_options options;
    std::vector<std::unique_ptr<evaluated>> done;

    evaluation(const graph& graph, std::span<const named_bytes> bytes, std::span<const bound_size> bound, const evaluate_options& how = {})
        : g(graph), given(bytes), sizes(bound), options(how), done(graph.nodes.size()) {}

    fault wrong(const node& n, std::string message) const { return fault(fault_kind::input, std::move(message), std::string(g.text(n.id))); }
    /// Type and shape without elements.
    result<evaluated> blank(const node& n) const {
        evaluated out;
        out.type = g.outputs_of(n)[0].type;
        auto shape = concrete_shape(g, g.shape_of(g.outputs_of(n)[0].shape), sizes);
        if (!shape) return refuse(std::move(shape).error().at(g.text(n.id)));
        out.shape = std::move(*shape);
        if (count_of(out.shape) > std::int64_t{1} << 32)
            return refuse(fault_kind::user, "found a tensor of " + std::to_string(count_of(out.shape)) + " elements, expected at most 2^32 for the reference",
                          std::string(g.text(n.id)));
        return out;
    }
    static void allocate(evaluated& e) {
        const auto count = static_cast<std::size_t>(count_of(e.shape));
        if (reads_as_integer(e.type)) e.integers.assign(count, 0);
        else e.values.assign(count, 0.0);
    }
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
        return refuse(wrong(n, "found " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(wanted) + " (" + std::string(token(shape.type)) +
                                   shape_text(shape.shape) + ")"));
    }
    result<evaluated> stored(const node& n) const {
        EMMY_TRY(out, blank(n));
        const auto bytes = bytes_of(n);
        EMMY_CHECK_OK(check_bytes(n, out, bytes));
        if (reads_as_integer(out.type)) {
            allocate(out);
            for (std::size_t i = 0; i < out.integers.size(); ++i) out.integers[i] = load_integer(out.type, bytes.data(), i);
        } else {
            out.values = from_bytes(out.type, bytes);
        }
        return std::move(out);
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
    bool typed() const { return options.mode == arithmetic::typed; }
    /// Rounds as a tensor of its type is stored.
    static void round(evaluated& e) {
        if (reads_as_integer(e.type)) return;
        for (double& v : e.values) v = round_to(e.type, v);
    }

    // evaluate_constants.ipp
    result<evaluated> constant(const node& n) const;
    result<evaluated> computed(const node& n, const graph& inner) const;
    result<evaluated> ramp(const node& n) const;
    // evaluate_pointwise.ipp
    result<evaluated> pointwise(const node& n) const;
    // evaluate_folds.ipp
    result<evaluated> folded(const node& n, std::string_view name, std::int64_t axis_number, bool running, bool divided) const;
    result<evaluated> softmax(const node& n) const;
    result<evaluated> norm(const node& n, bool centred) const;  ///< rms_norm, or layer_norm (centred), over the last axis
    // evaluate_products.ipp
    /// Shapes of a product: batch sizes of the result, and of the operands (1 where one is broadcast).
    struct product_shape {
        sizes_list batch, a_batch, b_batch;
        std::int64_t m = 1, n = 1, k = 1;
        bool transposed = false;
    };
    product_shape product_of(const node& n, const sizes_list& a, const sizes_list& b) const;
    static std::int64_t batch_place(const sizes_list& batch, const sizes_list& operand, std::int64_t index);  ///< operand's matrix that batch `index` reads
    result<evaluated> product_node(const node& n) const;
    result<evaluated> einsum(const node& n) const;
    // evaluate_attention.ipp
    result<evaluated> attention(const node& n) const;
    // evaluate_convolution.ipp
    result<evaluated> convolution(const node& n, std::size_t spatial, bool transposed) const;
    // evaluate_layout.ipp
    result<evaluated> reshaped(const node& n) const;
    result<evaluated> transposed(const node& n) const;
    result<evaluated> sliced(const node& n) const;
    result<evaluated> joined(const node& n) const;
    result<evaluated> mapped(const node& n) const;
    result<evaluated> gathered(const node& n) const;
    result<evaluated> scattered(const node& n) const;
    result<evaluated> bitcast(const node& n) const;

    result<evaluated> compute(const node& n) const {
        switch (n.op) {
            case op::input: return stored(n);
            case op::constant: return constant(n);
            case op::elementwise: return pointwise(n);
            case op::cast: return converted(input(n, 0), g.outputs_of(n)[0].type);
            case op::reduce: return folded(n, g.text(n, attr::op), g.integer(n, attr::axis), false, false);
            case op::scan: return folded(n, g.text(n, attr::op), g.integer(n, attr::axis), true, false);
            case op::mean: return folded(n, "sum", g.integer(n, attr::axis), false, true);
            case op::softmax: return softmax(n);
            case op::rms_norm: return norm(n, false);
            case op::layer_norm: return norm(n, true);
            case op::linear:
            case op::matmul: return product_node(n);
            case op::einsum: return einsum(n);
            case op::sdpa: return attention(n);
            case op::conv1d: return convolution(n, 1, false);
            case op::conv2d: return convolution(n, 2, false);
            case op::conv_transpose1d: return convolution(n, 1, true);
            case op::reshape:
            case op::unsqueeze: return reshaped(n);
            case op::transpose: return transposed(n);
            case op::slice: return sliced(n);
            case op::cat: return joined(n);
            case op::index_map: return mapped(n);
            case op::gather: return gathered(n);
            case op::scatter: return scattered(n);
            case op::bitcast: return bitcast(n);
            case op::range: return ramp(n);
            case op::count_: break;
        }
        return refuse(wrong(n, "found no operator, expected one"));
    }
    static bool narrow(dtype t) { return t != dtype::f64 && t != dtype::f32 && t != dtype::none; }

    /// Everything that `wanted` needs, producers first.
    result<void> run(std::span<const node_id> wanted) {
        std::vector<bool> needed(g.nodes.size(), false), read(g.nodes.size(), false);
        for (node_id n : wanted) needed[n] = true;
        for (node_id n = static_cast<node_id>(g.nodes.size()); n-- > 0;)
            if (needed[n])
                for (const edge e : g.inputs_of(g.nodes[n])) needed[e.node] = read[e.node] = true;
        for (node_id n = 0; n < g.nodes.size(); ++n) {
            if (!needed[n]) continue;
            if (g.nodes[n].outputs.count != 1) return refuse(fault_kind::user, "no reference for an operator of several results", std::string(g.id(n)));
            EMMY_TRY(value, compute(g.nodes[n]));
            const bool kept = options.transient && n < options.transient->size() && (*options.transient)[n];
            if (!kept && (typed() || (read[n] && narrow(value.type)))) round(value);
            done[n] = std::make_unique<evaluated>(std::move(value));
        }
        return {};
    }
};

}  // namespace detail
}  // namespace emmy::program
