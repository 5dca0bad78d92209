// expect: output y: found a whole buffer, expected one element of it, x\(i, j\)
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = x(i, j);
#else
        y(i, j) = x;
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
