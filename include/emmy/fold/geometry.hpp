#pragma once
#include <emmy/fold/term.hpp>

/// What the cells of a kernel are: its grid, which sweeps belong to it, unit rows.
namespace emmy::fold::closed {

struct geometry {
    std::vector<loop::axis> grid{};     ///< peeled axes and promoted sweeps; an axis without name is the unit row: extent 1, coordinate 0
    std::vector<name_id> promoted{};    ///< sweeps that belong to the grid, in store order
    bool swept = false;                 ///< a store keeps a sweep: a row statistic that is not computed again for every cell
    bool unit_row() const {
        for (const loop::axis& a : grid)
            if (a.name == no_name) return true;
        return false;
    }
};
/// A sweep that every store rides at one extent belongs to the grid if its extent is 1, if an operand of a contraction varies with it, or if
/// every fold does (and there is one, or the peeled axes are all 1). A contraction whose output has one row gets a unit row.
EMMY_DECL geometry geometry_of(const forest& f);

/// Moves promoted sweeps into `free` (the unit row stays a fact of geometry_of). True where no store keeps a sweep.
EMMY_DECL bool promote(forest& f);

/// The grid in the order of a split's workspace: by descending smallest stride over the stores, axes without one first (structure of
/// the partial buffer: states, shares, then these).
EMMY_DECL std::vector<loop::axis> workspace_order(const forest& f);

/// Where a contraction owns no output row: a coordinate `_row` of extent 1 in place of the literal 0 that its buffers read and stores write
/// at one dimension. True where it was bound.
EMMY_DECL bool bind_row(forest& f);

/// Coordinates of a contraction: on operand A alone, on B alone, on both (without the contracted one). A softmax fold counts as the
/// contraction of its values (multiplied out by exp(score)).
struct roles {
    term_id a = no_term;
    std::vector<term_id> b{};           ///< one per product channel
    std::vector<name_id> left{}, right{}, shared{};
    explicit operator bool() const { return !b.empty(); }
};
EMMY_DECL roles roles_of(const forest& f, term_id id);

/// From the root down, at a map its first operand that is no buffer read: the fold reached, or none (a pointwise kernel).
EMMY_DECL term_id head_of(const forest& f);
/// The producing folds of the regions, or the head.
EMMY_DECL std::vector<term_id> kernel_roots(const forest& f);

}  // namespace emmy::fold::closed

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/geometry.ipp>
#endif
