// expect: divide: found an index, expected a value \(none is made of an index
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = x(i, j / 2);
#else
        y(i, j) = x(i, j) / j;
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
