#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/extent.hpp>
#include <emmy/program/graph.hpp>

/// What must hold of a traced program before anyone computes with it. Reading (wire.hpp) and evaluation run these checks.
namespace emmy::program {

/// Axes of one tensor, at most; nothing real has more than 6.
constexpr std::size_t largest_rank = 16;

/// What a reader of graphs may assume and a hand-built one may lack: at least one output, producers before their readers, edges and lists
/// inside their tables, distinct ids, the operator's own attributes with their kinds and all required ones. Errors (input): the node is named.
EMMY_DECL result<void> check_form(const graph& g);

/// The shape that the operator makes of its inputs and attributes. Declared for input, constant, index_map (its out_shape) and range.
/// The graph is well formed. Errors (input), placed at "inputs" or "attrs.<key>": shapes and attributes that do not fit.
EMMY_DECL result<std::vector<extent>> infer_shape(const graph& g, const node& n);

/// Declared equals inferred, shapes and element types, of one node of a well-formed graph. Errors (input), placed at "inputs",
/// "attrs.<key>" or "outputs".
EMMY_DECL result<void> check_node(const graph& g, const node& n);

/// One symbol at most, and one that an input binds or a dim hints at. Errors (input).
EMMY_DECL result<void> check_symbols(const graph& g);

/// All of the above for the whole program. One fault: "<node id>.<field>: found …, expected …".
EMMY_DECL result<void> check_program(const graph& g);

/// The parts of a torch.cat and its axis from 0; the axis is the literal after the parts. Errors (input): no whole literal, none of the axes.
struct cat_parts {
    std::uint32_t parts = 0;
    std::size_t axis = 0;
};
EMMY_DECL result<cat_parts> cat_of(const graph& g, const node& n);
/// Axis orders of a torch.transpose: out axis i is in axis order[i]. Two entries swap those axes of a tensor of any rank.
/// Errors (input): no permutation.
EMMY_DECL result<std::vector<std::size_t>> transpose_order(const graph& g, const node& n);
/// The mask of a torch.sdpa: place among its inputs, 0 when it has none (scalar literals after q, k, v are arguments of the trace, unread).
EMMY_DECL std::uint32_t sdpa_mask(const graph& g, const node& n);
/// Query heads per key head of a torch.sdpa; 1 without grouping. The node passed check_node.
EMMY_DECL std::int64_t sdpa_groups(const graph& g, const node& n);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/check.ipp>
#endif
