#pragma once
#include <emmy/program/graph.hpp>

namespace emmy::program {

/// One operator by hand:
///   operator = name "(" argument { "," argument } ")"
///   argument = [ name ":" ] dtype "[" [ size { "," size } ] "]"  |  setting "=" value
///   size     = number | symbol [ "=" hint ]
///   value    = number | "true" | "false" | dtype | "[" [ item { "," item } ] "]" | text in double quotes;  item = whole number | symbol
/// e.g. softmax(x: f32[512,2048], dim=-1)   matmul(f16[seq_len=512,512], f16[512,512])   linear(input: f32[32,64], weight: f32[128,64], bias: f32[128])
///      permute(x: f16[2,seq_len,8], dims=[1,0,2])   attention(f16[1,8,512,64], f16[1,2,512,64], f16[1,2,512,64], is_causal=true)   einsum(f32[4,5], f32[5,6], equation="ij,jk->ik")
/// Operators: matmul, linear (optional bias), softmax, sum, mean, rms_norm (optional weight tensor given as second argument), every pointwise name
/// (operands broadcast), and the compositions of doc/operators.md. The second and later tensors of linear, norms, convolutions and the
/// table of embedding are weights: constants `p_<name>` with the checkpoint path `<name>`.
/// Errors (user): one line with the offset, what was found, what was expected; an unknown operator lists the known ones.
EMMY_DECL result<graph> parse_op(std::string_view text);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/op_text.ipp>
#endif
