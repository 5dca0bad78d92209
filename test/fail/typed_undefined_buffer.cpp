// expect: input w: found no declaration, expected builder::input<f32, name>\(sizes\)
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
        buffer<direction::input, f32, 2, "w"> w;
        y(i, j) = w(i, j);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
