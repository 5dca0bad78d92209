#pragma once
#include <emmy/program/evaluate.hpp>
#include <emmy/program/lower/lower.hpp>

namespace emmy::program {

/// Bytes of a constant of the lowered program, row-major in its type, made of the bytes of the traced program's tensors: layout steps that lowering put
/// into the binding (`linear_wt`: the weight turned) are carried out, folded constants are computed. Literals and dynamic divisors too.
/// `given`: by id of the traced program, as evaluate() takes them. Errors (input): not a constant, a tensor without bytes or of the wrong size.
EMMY_DECL result<std::vector<std::byte>> bind_constant(const graph& traced, const graph& lowered, node_id constant, std::span<const named_bytes> given,
                                                       std::span<const bound_size> sizes = {});

/// All outputs of the lowered program, in the order of the traced one's: what its kernels compute when nothing rounds but the program's own tensors.
EMMY_DECL result<std::vector<evaluated>> evaluate(const graph& traced, const primitive_graph& lowered, std::span<const named_bytes> given,
                                                  std::span<const bound_size> sizes = {}, const evaluate_options& options = {});

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/lower/impl/bind.ipp>
#endif
