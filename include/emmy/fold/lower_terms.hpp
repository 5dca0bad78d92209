#pragma once
#include <emmy/fold/term.hpp>

/// From closed terms back to a loop body: the way that a piece of a cut becomes a kernel.
namespace emmy::fold::closed {

/// Where the loops of the grid stand.
enum class grid_nesting : std::uint8_t {
    tree,   ///< each value in the outermost loop that binds what it varies with: nothing is computed twice
    inside  ///< everything inside all peeled axes: a cell of the grid is computed on its own
};

/// The kernel that a forest says, in the order that bodies have: a value stands in the outermost loop that binds what it depends on, the
/// loop of a fold likewise; folds of one axis that do not need each other share a loop; free axes and sweeps open as a tree, those that
/// more terms are evaluated over further out. A rescaled fold becomes temporaries and accumulators with a base, its pivot last. Stores are
/// written as they are: observed ones inside the loop they observe, atomic ones atomic. Free axes and folds of static extent 1 have no
/// loop. Windows stay on their axes. Names are numbered anew (in0, v0, acc0, a0, p0), buffers keep theirs; buffers as the forest declares.
/// Errors (device_limit): carried states; an observed store whose loop cannot stand around it. (internal): a value that nothing defines.
EMMY_DECL result<loop::kernel> lower(const forest& f, grid_nesting grid = grid_nesting::tree);

}  // namespace emmy::fold::closed

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/lower_terms.ipp>
#endif
