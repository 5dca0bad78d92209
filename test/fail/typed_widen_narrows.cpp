// expect: widen<f16>: found f32, expected f16, bf16 or the type itself \(cast rounds\)
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f16, "x">(4, 8);
    [[maybe_unused]] auto w = b.input<f32, "w">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = rounded(x(i, j) + cast<f16>(w(i, j)));
#else
        y(i, j) = rounded(x(i, j) + widen<f16>(w(i, j)));
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
