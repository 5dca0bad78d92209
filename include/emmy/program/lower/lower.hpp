#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/graph.hpp>

/// Lowering of a traced program to tensor primitives: what kernels are formed from.
namespace emmy::program {

/// An operator of the traced program that a primitive implements, wholly or in part.
struct origin {
    node_id traced = no_node;  ///< its node in the traced program
    name_id id = no_name;      ///< that node's id, in primitive_graph::g.names
    program::op op = op::input;
    constexpr bool operator==(const origin&) const = default;
};

/// A program of input, constant, elementwise, reduce, scan, index_map, gather and bitcast nodes only.
///
/// Operands of an elementwise node have its shape (broadcasts are maps of their own); a reduce keeps its axis at extent 1.
/// Axis attributes may be negative. Node ids are the buffer names that kernels carry: a traced operator's result keeps its id, what lies between
/// has a suffix (`linear_1_wt`, `mean_sum`, …). Expressions are over out_coord_<i> and the program's symbols, not simplified.
struct primitive_graph {
    graph g;                          ///< canonical order; only what the outputs need, and every input. Names and expressions extend the traced program's pools
    std::vector<bool> transient;      ///< by node: made inside a lowering, not the operator's own result: its dtype is a shape carrier, storing it rounds nothing
    std::vector<range> origins;       ///< by node: a run of origin_list, in ascending order of `traced`; empty for inputs
    std::vector<origin> origin_list;

    std::span<const origin> origins_of(node_id n) const { return {origin_list.data() + origins[n].first, origins[n].count}; }
};

/// Rules are tried in one fixed order (doc/lowering.md), the result is a function of the graph alone. Symbolic sizes stay symbolic.
/// Errors (input): what check_form refuses; shapes that do not fit the operator (the node is named); (user): an operator or form without a rule.
EMMY_DECL result<primitive_graph> lower(const graph& traced);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/lower/impl/lower.ipp>
#endif
