// expect: a0: found a loop over it inside its own loop, expected an axis of its own
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = b.sum(8, [&](axis k) { return x(i, k); });
#else
        y(i, j) = b.sum(i, [&](axis k) { return x(k, j); });
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
