#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/graph.hpp>

#include <span>
#include <string>

/// Programs as texts that are cut to a size, stripped of what nobody reads, and compared.
namespace emmy::program {

/// The program of these sizes: every dim, every extent of an attribute and every name in an expression that is one of the symbols becomes
/// its number; an expression of numbers becomes its value, a dynamic divisor (`context_value`) a literal. Symbols not named stay.
/// A size twin of a traced program (`.m32`, `post8`) equals what this makes, see equal_pruned.
/// Errors (user): a symbol that the program does not have, one named twice, a size outside 1 … 4096; (input): a dim that becomes less than 1.
EMMY_DECL result<graph> specialise(const graph& g, std::span<const bound_size> sizes);

/// The program without the nodes that no output needs (literals of the trace, unread slices); `input` nodes stay, source graphs too are
/// pruned. Node ids and order stay; the graph's lists may keep entries that nothing names. The graph is well formed (check_form).
EMMY_DECL graph prune(const graph& g);

/// What two programs have in common when they are the same: the pruned wire text without hints and without the informational tensor names.
EMMY_DECL std::string pruned_text(const graph& g);
EMMY_DECL bool equal_pruned(const graph& a, const graph& b);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/specialise.ipp>
#endif
