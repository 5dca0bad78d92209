// expect: multiply: found f8e4m3 and f8e4m3, expected values \(from_f8e4m3 and its like give the value of a code\)
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f8e4m3, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = from_f8e4m3(x(i, j)) * from_f8e4m3(x(i, j));
#else
        y(i, j) = rounded(x(i, j) * x(i, j));
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
