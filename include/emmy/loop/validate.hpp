#pragma once
#include <emmy/core/json.hpp>
#include <emmy/loop/body.hpp>

namespace emmy::loop {

/// Checks what a body means, so that everything behind it may assume it. `where` is the path of the kernel's `loop_ir`; faults
/// (input) name the field below it, e.g. kernels[3].loop_ir.nodes[2].attrs.body[0].Loop.body[1].Assign.args[0].
///
/// After success:
///  - every name read is visible: an axis of an enclosing loop, a value defined before in this or an enclosing
///    statement list, an accumulator inside or after its loop; no visible name is defined again; all names are identifiers;
///  - buffers are declared once, with sizes of at least 1 and at most 2^56 static elements; Load reads a declared input (its dtype
///    is as wide as the buffer's), Write and ZeroPrologue name a declared output, ranks agree;
///  - expressions of indices, predicates, Cond, windows and StridedLoop are whole numbers: they read axes, and values only as (int)v
///    (any integer dtype); they hold no real number, builtin, call, or division by a literal zero. A Let is such an expression or
///    one real number. Expressions in sizes read symbols only;
///  - loops have extents of at least 1; a literal step is positive;
///  - Assign has an operator with its arity; Accum has a folding one, all Accums of one name agree on operator and dtype, every
///    accumulator is started once (by entry of the loop that holds its Accum, or by Init; a loop with `seed` false goes on with
///    one started before); its axes are empty or the innermost enclosing loop's axis;
///  - every state has one Carry, its value one Pre's rank; index entries are 0 or distinct axes, exactly those of the loops between
///    the carrying loop and the Carry; a seed buffer is a declared input of the state's shape; Pre stands inside the carrying
///    loop or after it; the state's name is read by Pre only;
///  - a Select has at least one branch; a vector Load or Write has 2 to 16 values: consecutive elements of the last dimension;
///  - Load `carried` and Write `swizzle` are not set: they mean nothing outside scheduled device code.
/// Not checked: index ranges, divisors that become zero and overflow of expressions; they depend on sizes.
EMMY_DECL result<void> validate(const kernel& k, const json::path& where = {});

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/validate.ipp>
#endif
