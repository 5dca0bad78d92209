#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/term.hpp>

/// A piece of a cut, a split or a layout becomes a kernel of its own: formed anew where its terms allow it.
namespace emmy::fold::closed {

struct formed_kernel {
    loop::kernel kernel{};   ///< the body: what the kernel's identity is taken of
    forest terms{};          ///< what its addresses mean: the body lifted again (formed), else the minted terms as they were
    bool formed = false;     ///< the body can be lifted again and no store keeps a sweep
};

/// Aligns the sweeps of independent regions, promotes sweeps, lowers, lifts again. Minted terms stay where a store keeps a sweep or the body
/// does not lift (a rescaled fold): positions of operands in `terms` are then those of the minted tree.
/// Errors: of lower().
EMMY_DECL result<formed_kernel> form(forest minted);

}  // namespace emmy::fold::closed
