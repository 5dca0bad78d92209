#pragma once
#include <emmy/core/config.hpp>
#include <emmy/loop/body.hpp>

#include <optional>
#include <string>

/// Normal forms for people: a kernel as the functions it stores, and where two kernels part.
namespace emmy::loop {

/// One line a store and one a value that is read twice or folded, values before their readers. i<d> is the coordinate of dimension d of a
/// store, r<h> the axis of a fold over values that hold h - 1 folds at most. Not a wire; nothing reads it back. A kernel that only its
/// written order defines is printed as it is written.
///   %1 = maximum r1<2048: x[i0, r1]
///   %2 = add r1<2048: exp(subtract(x[i0, r1], %1))
///   softmax[i0<512, i1<2048] = divide(exp(subtract(x[i0, i1], %1)), %2)
EMMY_DECL std::string print_normal(const kernel& k);

/// The first place, from the stores down, where two normal forms are not the same.
struct parting {
    std::string path;           ///< in both: "softmax / divide.1 / exp.1", operands from 1
    std::string other_path;     ///< in the second kernel, where operand numbers or names differ from the first's
    std::string what;           ///< operator, dtype, buffer, index, extent, predicate, scalar, sharing, stores, …
    std::string first, second;  ///< the two nodes, spelled
};
/// Nothing when the two are one kernel (equal identities).
EMMY_DECL std::optional<parting> first_difference(const kernel& a, const kernel& b);

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/normal/impl/diff.ipp>
#endif
