#pragma once
#include <emmy/core/json.hpp>
#include <emmy/loop/body.hpp>

namespace emmy::loop {

/// Checks what a body means, so that everything behind it may assume it. `where` is the path of the kernel's `loop_ir`; faults
/// (input) name the field below it, e.g. kernels[3].loop_ir.nodes[2].attrs.body[0].Loop.body[1].Assign.args[0].
///
/// After success:
///  - every name read is visible (loop-ir §3.1): an axis of an enclosing loop, a value defined before in this or an enclosing
///    statement list, an accumulator inside or after its loop; no visible name is defined again; names are identifiers;
///  - buffers are declared once; Load reads a declared input, Write and ZeroPrologue name a declared output, ranks agree, the
///    number of elements of every static shape fits 2^56;
///  - expressions of indices, predicates, extents and windows hold no builtin, call or division by a literal zero; indices,
///    predicates and steps hold no real number; casts name a dtype;
///  - Assign has an operator with its arity; Accum has a folding one, all Accums of one name in one loop body agree on operator
///    and dtype, every accumulator is started (by entry of its loop, Init, or an earlier loop when `seed` is false); its axes are
///    empty or the innermost enclosing loop's axis;
///  - every state has one Carry, whose index entries are distinct axes of loops inside the carrying loop, or 0; every Pre names a
///    state, with its rank, inside or after the carrying loop; a seed buffer is a declared input of the state's rank and shape;
///    a state is read through Pre only;
///  - a vector Load or Write has 2 … 16 values: consecutive elements along the last dimension.
EMMY_DECL result<void> validate(const kernel& k, const json::path& where = {});

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/validate.ipp>
#endif
