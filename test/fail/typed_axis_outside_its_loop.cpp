// expect: a2: found a use outside its loop, expected one inside it
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        auto k = b.axis(8);
        y(i, j) = b.sum(k, [&](axis) { return x(i, k); });
#else
        auto k = b.axis(8);
        y(i, j) = x(i, k);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
