// expect: a value: found a handle of another builder, expected one of the same builder
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
        builder other;
        auto z = other.input<f32, "z">(4, 8);
        y(i, j) = z(0, 0);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
