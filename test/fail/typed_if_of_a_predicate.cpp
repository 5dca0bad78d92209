// expect: a predicate: found a bool of C\+\+ asked for, expected b\.select\(p, a, b\) of values or choose\(p, a, b\) of indices
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = x(i, choose(j < 4, j, 7 - j));
#else
        if (j < 4) y(i, j) = x(i, j);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
