#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/kernel_form.hpp>

/// A piece of a cut, a split or a layout becomes a kernel of its own: formed anew where its terms allow it.
namespace emmy::fold::closed {

/// Aligns the sweeps of independent regions, promotes sweeps, lowers, lifts again. Minted terms stay where a store keeps a sweep or the body
/// does not lift (a rescaled fold): positions of operands in `terms` are then those of the minted tree.
/// Errors: of lower().
EMMY_DECL result<kernel_form> form(forest minted);

}  // namespace emmy::fold::closed
