#pragma once
#include <emmy/fold/tree.hpp>

#include <cstdint>
#include <optional>
#include <vector>

/// Where an access goes in memory: its row-major element offset as a sum of terms.
namespace emmy::fold {

/// coefficient · product of symbols · atom. An atom is an axis, or an expression that is not affine (a quotient, a gathered value).
struct offset_term {
    std::int64_t coefficient = 0;
    std::vector<name_id> symbols;          ///< sorted; sizes that a stride is made of
    expr_id atom = no_expr;                ///< a name or an opaque expression of the body's pool; no_expr: a constant
    bool operator==(const offset_term&) const = default;
};
using offset = std::vector<offset_term>;

/// Offset of `index` into a buffer of this shape. x / c and x % c that meet in one offset recompose to x.
/// Nothing when an extent is an expression over symbols that is no product.
EMMY_DECL std::optional<offset> flatten(const loop::kernel& k, const std::vector<dim>& shape, std::span<const expr_id> index);

/// How an offset moves when `axis` advances by one, for runs of `lanes` coordinates that start at a multiple of `lanes`:
/// 0 uniform, 1 adjacent, another number a constant stride; nothing when it is none of these.
EMMY_DECL std::optional<std::int64_t> lane_stride(const loop::kernel& k, const offset& o, name_id axis, int lanes);

/// Integer arithmetic, comparisons and logic over names and numbers: a predicate that whole vectors of coordinates can evaluate.
EMMY_DECL bool lanes_evaluate(const loop::body& b, expr_id e);

/// The expression names `name`.
EMMY_DECL bool names(const loop::body& b, expr_id e, name_id name);

/// The buffer of a Load or Write.
EMMY_DECL const loop::buffer* find_buffer(const loop::kernel& k, name_id name);

}  // namespace emmy::fold

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/access.ipp>
#endif
