#pragma once
#include <emmy/plan/bind.hpp>

#include <string>
#include <string_view>

namespace emmy::json {
class writer;
}

/// Plans for people and for machines.
namespace emmy::plan {

/// Header line, one line a buffer, one a launch:
///   k_gated: 3 launches of 2 kernels, 4 buffers given, workspaces 992 bytes (no reuse 960, at least 992), team 1, num_tokens=5
///     input      f32  x[num_tokens, 16]      320 B
///     workspace  f32  gate[num_tokens, 24]   480 B at 0, launches 0-2
///     0  k_gate: x, w -> gate        WORK=t4
EMMY_DECL std::string text(std::string_view title, const executable& plan, const binding& at);

/// {"schema":"emmy.plan/1","name","symbols":[{"name","hint","size"}],"team","buffers":[{"name","role","type","shape","bytes"[,"launches":[first,last],"offset"][,"view_of"][,"transposed_of"]}],
/// "kernels":[{"name","identity","entry","knobs"}],"launches":[{"name","kernel","inputs","outputs","zeroed","sizes"}],
/// "arena":{"bytes","at_least","without_reuse"},"scratch"}. Shapes are what dimensions are on the wire of programs; kernels and buffers are named by
/// place, an input that is declared and never read is null.
EMMY_DECL void write_json(json::writer& out, std::string_view title, const executable& plan, const binding& at);

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/print.ipp>
#endif
