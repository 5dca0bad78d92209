// expect: input w: found a C\+\+ type, expected a type of the typed Loop IR \(f32, f16, bf16, i32 and so on\)
#include <emmy/loop/typed.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        y(i, j) = b.input<f32, "w">(4, 8)(i, j);
#else
        (void)b.input<float, "w">(4, 8);
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
