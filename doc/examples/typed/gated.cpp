// A kernel of one's own with the typed Loop IR: checked and identified by the compiler, the body of a file at run time.
#include <emmy/loop/print.hpp>
#include <emmy/loop/typed.hpp>
#include <emmy/loop/validate.hpp>

#include <cstdio>

using namespace emmy;
using namespace emmy::literals;
using namespace emmy::loop::typed;

/// y[r, n] = silu(x . gate) * (x . up): two folds in one loop, roundings to f16 where they are written.
constexpr builder gated(extent rows, extent width, extent depth) {
    builder b;
    auto x = b.input<f16, "x">(rows, depth);
    auto gate = b.input<f16, "gate">(depth, width);
    auto up = b.input<f16, "up">(depth, width);
    auto y = b.output<f16, "y">(rows, width);
    b.loop(rows, width, [&](axis i, axis j) {
        auto g = b.accumulate<op::add>(), u = b.accumulate<op::add>();
        b.loop(depth, [&](axis k) {
            g.fold(wide(x(i, k)) * wide(gate(k, j)));
            u.fold(wide(x(i, k)) * wide(up(k, j)));
        });
        y(i, j) = silu(cast<f16>(g)) * cast<f16>(u);
    });
    return b;
}

// The identity that measurements of this kernel are kept under: the compiler computes it, and prints the right one when this one is not.
static_assert(is_kernel<[] { return gated(symbol{"num_tokens"}, 14336, 4096); }, "4664bd884173b7ec8c2a0e44f6313f22"_id>());

int main() {
    const auto kernel = loop::typed::kernel(gated(symbol{"num_tokens"}, 14336, 4096), "k_gated");
    if (!kernel || !loop::validate(*kernel)) return 1;
    std::printf("%s%s\n", loop::print(*kernel).c_str(), to_hex(loop::identity(*kernel)).c_str());
}
