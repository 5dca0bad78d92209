// expect: input x: found an index below 0 of dimension 1, expected 0 or more
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = x(i, choose(j < 1, 0, j - 1));
#else
        y(i, j) = x(i, j - 1);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
