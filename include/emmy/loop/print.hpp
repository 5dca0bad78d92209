#pragma once
#include <emmy/loop/body.hpp>

#include <string>

namespace emmy::loop {

/// For people: one line a statement, loops by indentation. Not a wire; nothing reads it back.
///   k_matmul(x0: f32[512, 512], x1: f32[512, 512]) -> matmul: f32[512, 512]
///   a0<512:
///     a1<512:
///       a2<512:
///         in0 = x0[a0, a2]
///         in1 = x1[a2, a1]
///         v0 = multiply(in0, in1)
///         acc0 <add- v0 /a2
///       matmul[a0, a1] = acc0
EMMY_DECL std::string print(const kernel& k);

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/print.ipp>
#endif
