// expect: index_of: found f32, expected an integer value
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<i32, "x">(4, 8);
    [[maybe_unused]] auto w = b.input<f32, "w">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = w(i, index_of(x(i, j)) % 8);
#else
        y(i, j) = w(i, index_of(w(i, j)));
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
