// expect: left_shift: found f32 and f32, expected integers
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<i32, "x">(4, 8);
    [[maybe_unused]] auto w = b.input<f32, "w">(4, 8);
    [[maybe_unused]] auto z = b.output<i32, "z">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        z(i, j) = left_shift(x(i, j), x(i, j));
#else
        z(i, j) = left_shift(w(i, j), w(i, j));
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
