// expect: maximum: found a C\+\+ number, expected a value \(b\.let<f32>\(2\) makes one\)
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = maximum(x(i, j), b.let<f32>(0));
#else
        y(i, j) = maximum(x(i, j), 0.0f);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
