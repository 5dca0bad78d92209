#pragma once
#include <emmy/program/graph.hpp>

namespace emmy::program {

/// One operator by hand:
///   operator = name "(" argument { "," argument } ")"
///   argument = [ name ":" ] dtype "[" size { "," size } "]"  |  setting "=" value
///   size     = number | symbol [ "=" hint ]
/// e.g. softmax(x: f32[512,2048], dim=-1)   matmul(f16[seq_len=512,512], f16[512,512])   linear(input: f32[32,64], weight: f32[128,64], bias: f32[128])
/// Operators: matmul, linear (optional bias), softmax, sum, mean, rms_norm (optional weight tensor given as second argument), and every
/// pointwise name of one type (operands broadcast). The second and later tensors of linear and rms_norm are weights: constants
/// `p_<name>` with the checkpoint path `<name>`.
/// Errors (user): one line with the offset, what was found, what was expected; an unknown operator lists the known ones.
EMMY_DECL result<graph> parse_op(std::string_view text);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/op_text.ipp>
#endif
