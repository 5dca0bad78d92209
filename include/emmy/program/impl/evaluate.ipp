#pragma once
#include <emmy/core/dim_wire.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/impl/evaluate_attention.ipp>
#include <emmy/program/impl/evaluate_constants.ipp>
#include <emmy/program/impl/evaluate_convolution.ipp>
#include <emmy/program/impl/evaluate_folds.ipp>
#include <emmy/program/impl/evaluate_layout.ipp>
#include <emmy/program/impl/evaluate_pointwise.ipp>
#include <emmy/program/impl/evaluate_products.ipp>
#include <emmy/program/impl/evaluation.ipp>

namespace emmy::program {

EMMY_DECL std::vector<double> from_bytes(dtype type, std::span<const std::byte> bytes) {
    std::vector<double> out(bytes.size() / byte_size(type));
    if (type == dtype::f32) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(emmy::detail::read_bytes<float>(bytes.data(), i));
        return out;
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = load_element(type, bytes.data(), i);
    return out;
}

EMMY_DECL std::vector<std::byte> to_bytes(dtype type, std::span<const double> values) {
    std::vector<std::byte> out(values.size() * byte_size(type));
    for (std::size_t i = 0; i < values.size(); ++i) store_real(type, out.data(), i, values[i]);
    return out;
}

EMMY_DECL std::vector<std::byte> to_bytes(const evaluated& tensor) {
    if (!reads_as_integer(tensor.type)) return to_bytes(tensor.type, tensor.values);
    std::vector<std::byte> out(tensor.integers.size() * byte_size(tensor.type));
    for (std::size_t i = 0; i < tensor.integers.size(); ++i) store_integer(tensor.type, out.data(), i, tensor.integers[i]);
    return out;
}

EMMY_DECL result<std::vector<std::int64_t>> concrete_shape(const graph& g, std::span<const dim> shape, std::span<const bound_size> sizes) {
    const detail::evaluation at(g, {}, sizes);
    std::vector<std::int64_t> out;
    double elements = 1;
    for (const dim& d : shape) {
        std::int64_t size = d.number;
        if (d.kind == dim::form::symbol) size = at.size_of(d.symbol);
        if (d.kind == dim::form::expression) {
            EMMY_TRY(value, at.size_expression(d.value));
            size = value;
        }
        if (size < 1)
            return refuse(fault_kind::input, "found the size " + std::to_string(size) + " for " + dim_text(d, g.exprs, g.names) + ", expected at least 1");
        elements *= static_cast<double>(size);
        if (elements > 4e18) return refuse(fault_kind::input, "found more elements than 64 bits count, expected a tensor that can exist");
        out.push_back(size);
    }
    return out;
}

EMMY_DECL result<std::int64_t> element_count(const graph& g, std::span<const dim> shape, std::span<const bound_size> sizes) {
    EMMY_TRY(concrete, concrete_shape(g, shape, sizes));
    return detail::count_of(concrete);
}

EMMY_DECL result<std::vector<evaluated>> evaluate(const graph& g, std::span<const named_bytes> given, std::span<const bound_size> sizes,
                                                  const evaluate_options& options) {
    EMMY_CHECK_OK(check_program(g));
    detail::evaluation e(g, given, sizes, options);
    std::vector<node_id> wanted;
    for (const edge out : options.wanted.empty() ? std::span<const edge>(g.outputs) : options.wanted) {
        if (out.node >= g.nodes.size() || out.output != 0)
            return refuse(fault_kind::user, "found a wanted tensor that no node makes, expected output 0 of a node");
        wanted.push_back(out.node);
    }
    EMMY_CHECK_OK(e.run(wanted));
    std::vector<evaluated> out;
    for (const node_id n : wanted) {
        out.push_back(*e.done[n]);
        if (reads_as_integer(out.back().type)) out.back().values = detail::reals_of(out.back());
    }
    return out;
}

EMMY_DECL result<std::vector<double>> evaluate_cells(const graph& g, std::span<const named_bytes> given, std::span<const bound_size> sizes,
                                                     std::span<const std::int64_t> cells) {
    EMMY_CHECK_OK(check_program(g));
    const node& last = g.nodes[g.outputs[0].node];
    const auto direct = [&](std::size_t i) {
        const node& n = g.nodes[g.inputs_of(last)[i].node];
        return n.op == op::input || (n.op == op::constant && (g.find(n, attr::source_path) || g.find(n, attr::source_parts)));
    };
    std::vector<double> out;
    out.reserve(cells.size());
    const bool by_cell = (last.op == op::matmul || last.op == op::linear) && direct(0) && direct(1) && (last.inputs.count == 2 || direct(2)) &&
                         !is_integer(g.at(g.outputs[0]).type) && g.shape(g.inputs_of(last)[0]).size() > 1 && g.shape(g.inputs_of(last)[1]).size() > 1 &&
                         (last.inputs.count == 2 || g.shape(g.inputs_of(last)[2]).size() == 1);
    if (!by_cell) {
        EMMY_TRY(all, evaluate(g, given, sizes));
        for (std::int64_t c : cells) {
            if (c < 0 || c >= static_cast<std::int64_t>(all[0].values.size()))
                return refuse(fault_kind::user, "found the cell " + std::to_string(c) + ", expected one inside the output");
            out.push_back(all[0].values[static_cast<std::size_t>(c)]);
        }
        return out;
    }
    const detail::evaluation e(g, given, sizes);
    EMMY_TRY(whole, e.blank(last));
    std::vector<evaluated> operand;
    std::vector<const std::byte*> bytes;
    for (std::size_t i = 0; i < last.inputs.count; ++i) {
        const node& n = g.nodes[g.inputs_of(last)[i].node];
        EMMY_TRY(shape, e.blank(n));
        EMMY_CHECK_OK(e.check_bytes(n, shape, e.bytes_of(n)));
        operand.push_back(std::move(shape));
        bytes.push_back(e.bytes_of(n).data());
    }
    const auto p = e.product_of(last, operand[0].shape, operand[1].shape);
    const std::int64_t count = detail::count_of(whole.shape);
    for (std::int64_t c : cells) {
        if (c < 0 || c >= count) return refuse(fault_kind::user, "found the cell " + std::to_string(c) + ", expected one inside the output");
        const std::int64_t column = c % p.n, row = c / p.n % p.m, batch = c / (p.n * p.m);
        const std::int64_t a = detail::evaluation::batch_place(p.batch, p.a_batch, batch) * p.m * p.k + row * p.k;
        const std::int64_t b = detail::evaluation::batch_place(p.batch, p.b_batch, batch) * p.k * p.n;
        double sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
            sum += load_element(operand[0].type, bytes[0], static_cast<std::size_t>(a + k)) *
                   load_element(operand[1].type, bytes[1], static_cast<std::size_t>(b + (p.transposed ? column * p.k + k : k * p.n + column)));
        out.push_back(
            sum + (last.inputs.count == 3 ? load_element(operand[2].type, bytes[2], static_cast<std::size_t>(operand[2].shape[0] == 1 ? 0 : column)) : 0.0));
    }
    return out;
}

}  // namespace emmy::program
