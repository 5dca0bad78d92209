// expect: an accumulator: found an update in the body that declares it, expected one in a loop directly inside the body that declares it
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        auto a = b.accumulate<op::add>();
        b.loop(8, [&](axis k) { a.fold(x(i, k)); });
        y(i, j) = a;
#else
        auto a = b.accumulate<op::add>();
        a.fold(x(i, j));
        y(i, j) = a;
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
