#pragma once
#include <emmy/fold/geometry.hpp>
#include <emmy/fold/kernel_form.hpp>

/// A piece of a cut, a split or a layout becomes a kernel of its own: formed anew where its terms allow it.
namespace emmy::fold::closed {

/// Aligns the sweeps of independent regions, promotes sweeps, lowers, lifts again: `terms` is that lift, with free axes in canonical form and
/// chains of plain folds made rescaled ones; the kernel's body is the one lifted. Where a store keeps a sweep, or a fold is rescaled already,
/// formed is false: `terms` are the minted ones as given, whose positions the body alone does not tell.
/// Errors: of lower().
EMMY_DECL result<kernel_form> form(forest minted);

}  // namespace emmy::fold::closed

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/form.ipp>
#endif
