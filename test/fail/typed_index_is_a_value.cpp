// expect: input x: found a value as index 1, expected axes and integers \(index_of reads an integer value\)
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
        z(i, j) = x(i, index_of(x(i, j)) % 8);
#else
        z(i, j) = x(i, x(i, j));
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
