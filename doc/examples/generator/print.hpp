#pragma once
// From a problem and a row to C++ text for a processor.
#include "knobs.hpp"

#include <string>

namespace transposition {

/// y[j, i] = x[i, j]: x is f32, `rows` by `columns`, row-major.
struct problem {
    int rows = 0, columns = 0;
};

/// Everything that makes two of this generator's kernels the same kernel: what its identity is the digest of.
inline std::string canonical_text(const problem& p) { return "transposition f32 " + std::to_string(p.rows) + "x" + std::to_string(p.columns); }

/// Raised whenever a row prints another text: measurements of another number are another producer's.
constexpr int print_version = 1;

/// A whole source that defines `extern "C" void transpose(const emmy_launch*)`. Members of the team take tiles in turn.
inline std::string print(const problem& p, const row<BLK, UNROLL>& r) {
    const auto number = [](int n) { return std::to_string(n); };
    const tile t = r.get<BLK>();
    const int unroll = r.get<UNROLL>();
    std::string out =
        "struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };\n"
        "extern \"C\" void transpose(const emmy_launch* launch) {\n"
        "    const float* __restrict x = static_cast<const float*>(launch->buffers[0]);\n"
        "    float* __restrict y = static_cast<float*>(launch->buffers[1]);\n";
    out += "    for (int tile = launch->part; tile < " + number((p.rows + t.rows - 1) / t.rows * ((p.columns + t.columns - 1) / t.columns)) + "; tile += launch->parts) {\n";
    out += "        const int i0 = tile / " + number((p.columns + t.columns - 1) / t.columns) + " * " + number(t.rows) + ", j0 = tile % " +
           number((p.columns + t.columns - 1) / t.columns) + " * " + number(t.columns) + ";\n";
    out += "        const int i1 = i0 + " + number(t.rows) + " < " + number(p.rows) + " ? i0 + " + number(t.rows) + " : " + number(p.rows) + ";\n";
    out += "        const int j1 = j0 + " + number(t.columns) + " < " + number(p.columns) + " ? j0 + " + number(t.columns) + " : " + number(p.columns) + ";\n";
    out += "        int j = j0;\n";
    out += "        for (; j + " + number(unroll) + " <= j1; j += " + number(unroll) + ")\n";
    out += "            for (int i = i0; i < i1; ++i) {\n";
    for (int u = 0; u < unroll; ++u) {
        const std::string column = u == 0 ? "j" : "(j + " + number(u) + ")";
        out += "                y[" + column + " * " + number(p.rows) + "LL + i] = x[i * " + number(p.columns) + "LL + " + column + "];\n";
    }
    out += "            }\n";
    out += "        for (; j < j1; ++j)\n";
    out += "            for (int i = i0; i < i1; ++i) y[j * " + number(p.rows) + "LL + i] = x[i * " + number(p.columns) + "LL + j];\n";
    out += "    }\n}\n";
    return out;
}

}  // namespace transposition
