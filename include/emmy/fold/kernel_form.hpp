#pragma once
#include <emmy/fold/seams.hpp>

/// A kernel as structural decisions hold it: what is run and the term that it stands for, side by side.
namespace emmy::fold {

/// `terms` is the minted forest: routes of this kernel are positions in it. A body that was read from a file (or formed anew) lifts to it;
/// a piece whose body cannot say its term (formed = false) has its body lowered from it, and lifting that body only comes near.
/// Buffers are one thing on both sides by their names' texts; the two name pools are apart.
struct kernel_form {
    loop::kernel kernel;
    closed::forest terms;
    bool formed = true;
};

/// Lifts a kernel's own body, its equals read in the order `how`. Errors: those of closed::lift_terms().
EMMY_DECL result<kernel_form> form_of(loop::kernel k, closed::spelling how = closed::spelling::stored);

}  // namespace emmy::fold

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/kernel_form.ipp>
#endif
