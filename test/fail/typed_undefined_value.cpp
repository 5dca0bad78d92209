// expect: val<f32>: found no definition, expected the result of a load, an operator or a fold
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        val<f32> v = x(i, j);
        y(i, j) = v;
#else
        val<f32> v;
        y(i, j) = v;
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
