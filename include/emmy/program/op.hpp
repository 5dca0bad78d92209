#pragma once
#include <cstdint>
#include <span>
#include <string_view>

/// The operators of a traced program and the attributes each may carry: the one table that reading, writing and checking use.
namespace emmy::program {

enum class op : std::uint8_t {
    input, constant,
    // tensor primitives: what is left after lowering
    elementwise, reduce, scan, index_map, gather, bitcast, range, cast, scatter,
    // operators of the framework
    linear, matmul, sdpa, rms_norm, layer_norm, softmax, mean, transpose, reshape, slice, cat, unsqueeze, conv1d, conv2d, conv_transpose1d, einsum,
    count_
};

enum class attr : std::uint8_t {
    name, value, context_value, load_ops, source_path, source_parts, source_shape, source_dtype, source_graph,
    op, axis, out_shape, sources, dtype, start, stop, step, reduce_fn,
    has_bias, is_causal, sliding_window, scale, eps, axes, shape, dim, stride, padding, dilation, groups, equation,
    count_
};

/// How an attribute is written and kept.
enum class attr_kind : std::uint8_t {
    text,        ///< string
    dtype,       ///< string: a canonical element type
    integer, real, boolean,
    number,      ///< integer, real or boolean: the kind is part of the value
    integers,    ///< array of integers
    dims,        ///< array of dimensions
    extents,     ///< array of integers (-1: what is left over) and bare symbol names
    expression,  ///< string: an expression over symbols
    sources,     ///< array of {input_idx, coord_map, select?}
    load_ops,    ///< array of single-key objects {tag: attributes}
    parts,       ///< array of [path, shape]
    graph        ///< a nested program without inputs
};

/// When the attribute is absent: it must not be; it has the stated default (never written); it simply has none.
enum class presence : std::uint8_t { required, defaulted, optional };

struct attr_facts {
    attr key;
    std::string_view text;  ///< on the wire
    attr_kind kind;
    presence when;
    double number = 0;               ///< default of integer, real, boolean
    std::string_view fallback = {};  ///< default of text
};

struct op_facts {
    op tag;
    std::string_view text;  ///< "torch.softmax", "tensor.reduce", …
    std::uint8_t min_inputs, max_inputs;  ///< 255: any number
    std::span<const attr_facts> attrs;    ///< in the order they are written
};

namespace detail {
using k = attr_kind;
using p = presence;
inline constexpr attr_facts constant_attrs[] = {{attr::name, "name", k::text, p::required}, {attr::value, "value", k::number, p::optional},
    {attr::context_value, "context_value", k::expression, p::optional}, {attr::load_ops, "load_ops", k::load_ops, p::optional},
    {attr::source_path, "source_path", k::text, p::optional}, {attr::source_parts, "source_parts", k::parts, p::optional},
    {attr::source_shape, "source_shape", k::dims, p::optional}, {attr::source_dtype, "source_dtype", k::text, p::optional},
    {attr::source_graph, "source_graph", k::graph, p::optional}};
inline constexpr attr_facts elementwise_attrs[] = {{attr::op, "op", k::text, p::defaulted, 0, "copy"}};
inline constexpr attr_facts fold_attrs[] = {{attr::op, "op", k::text, p::defaulted, 0, "sum"}, {attr::axis, "axis", k::integer, p::defaulted, 0}};
inline constexpr attr_facts index_map_attrs[] = {{attr::out_shape, "out_shape", k::dims, p::defaulted}, {attr::sources, "sources", k::sources, p::required}};
inline constexpr attr_facts gather_attrs[] = {{attr::axis, "axis", k::integer, p::defaulted, 0}};
inline constexpr attr_facts bitcast_attrs[] = {{attr::dtype, "dtype", k::dtype, p::defaulted, 0, "u16"}};
inline constexpr attr_facts range_attrs[] = {{attr::start, "start", k::integer, p::defaulted, 0}, {attr::stop, "stop", k::integer, p::defaulted, 0},
    {attr::step, "step", k::integer, p::defaulted, 1}, {attr::dtype, "dtype", k::dtype, p::defaulted, 0, "i64"}};
inline constexpr attr_facts cast_attrs[] = {{attr::dtype, "dtype", k::dtype, p::defaulted, 0, "f32"}};
inline constexpr attr_facts scatter_attrs[] = {{attr::axis, "axis", k::integer, p::defaulted, 0}, {attr::reduce_fn, "reduce_fn", k::text, p::optional}};
inline constexpr attr_facts linear_attrs[] = {{attr::has_bias, "has_bias", k::boolean, p::defaulted, 0}};
inline constexpr attr_facts sdpa_attrs[] = {{attr::is_causal, "is_causal", k::boolean, p::defaulted, 0}, {attr::sliding_window, "sliding_window", k::integer, p::optional},
    {attr::scale, "scale", k::real, p::optional}};
inline constexpr attr_facts rms_norm_attrs[] = {{attr::eps, "eps", k::real, p::defaulted, 1e-6}};
inline constexpr attr_facts layer_norm_attrs[] = {{attr::eps, "eps", k::real, p::defaulted, 1e-5}};
inline constexpr attr_facts last_axis_attrs[] = {{attr::axis, "axis", k::integer, p::defaulted, -1}};
inline constexpr attr_facts transpose_attrs[] = {{attr::axes, "axes", k::integers, p::required}};
inline constexpr attr_facts reshape_attrs[] = {{attr::shape, "shape", k::extents, p::required}};
inline constexpr attr_facts slice_attrs[] = {{attr::shape, "shape", k::extents, p::required}, {attr::dim, "dim", k::integer, p::required}, {attr::start, "start", k::integer, p::required}};
inline constexpr attr_facts unsqueeze_attrs[] = {{attr::dim, "dim", k::integer, p::defaulted, 0}};
inline constexpr attr_facts conv_attrs[] = {{attr::stride, "stride", k::integer, p::defaulted, 1}, {attr::padding, "padding", k::integer, p::defaulted, 0},
    {attr::dilation, "dilation", k::integer, p::defaulted, 1}, {attr::groups, "groups", k::integer, p::defaulted, 1}};
inline constexpr attr_facts einsum_attrs[] = {{attr::equation, "equation", k::text, p::required}};

inline constexpr op_facts op_table[] = {
    {op::input, "input", 0, 0, {}},
    {op::constant, "constant", 0, 0, constant_attrs},
    {op::elementwise, "tensor.elementwise", 1, 3, elementwise_attrs},
    {op::reduce, "tensor.reduce", 1, 1, fold_attrs},
    {op::scan, "tensor.scan", 1, 1, fold_attrs},
    {op::index_map, "tensor.index_map", 1, 255, index_map_attrs},
    {op::gather, "tensor.gather", 2, 2, gather_attrs},
    {op::bitcast, "tensor.bitcast", 1, 1, bitcast_attrs},
    {op::range, "tensor.range", 0, 0, range_attrs},
    {op::cast, "tensor.cast", 1, 1, cast_attrs},
    {op::scatter, "tensor.scatter", 3, 3, scatter_attrs},
    {op::linear, "torch.linear", 2, 3, linear_attrs},
    {op::matmul, "torch.matmul", 2, 3, linear_attrs},
    {op::sdpa, "torch.sdpa", 3, 255, sdpa_attrs},
    {op::rms_norm, "torch.rms_norm", 2, 2, rms_norm_attrs},
    {op::layer_norm, "torch.layer_norm", 1, 3, layer_norm_attrs},
    {op::softmax, "torch.softmax", 1, 255, last_axis_attrs},
    {op::mean, "torch.mean", 1, 255, last_axis_attrs},
    {op::transpose, "torch.transpose", 1, 255, transpose_attrs},
    {op::reshape, "torch.reshape", 1, 255, reshape_attrs},
    {op::slice, "torch.slice", 1, 255, slice_attrs},
    {op::cat, "torch.cat", 1, 255, {}},
    {op::unsqueeze, "torch.unsqueeze", 1, 255, unsqueeze_attrs},
    {op::conv1d, "torch.conv1d", 2, 3, conv_attrs},
    {op::conv2d, "torch.conv2d", 2, 3, conv_attrs},
    {op::conv_transpose1d, "torch.conv_transpose1d", 2, 3, conv_attrs},
    {op::einsum, "EinsumOp", 1, 255, einsum_attrs},
};
}  // namespace detail

constexpr const op_facts& facts(op tag) { return detail::op_table[static_cast<std::size_t>(tag)]; }
constexpr std::string_view text(op tag) { return facts(tag).text; }
/// The operator of a wire tag; op::count_ when there is none.
constexpr op op_from_text(std::string_view tag) {
    for (const op_facts& f : detail::op_table)
        if (f.text == tag) return f.tag;
    return op::count_;
}
constexpr const attr_facts* find_attr(op tag, attr key) {
    for (const attr_facts& f : facts(tag).attrs)
        if (f.key == key) return &f;
    return nullptr;
}

}  // namespace emmy::program
