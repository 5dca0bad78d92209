// expect: in0: found a read outside the loop that defines it, expected one inside it
#include <emmy/loop/typed.hpp>

#include <vector>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr builder built() {
    builder b;
    [[maybe_unused]] auto x = b.input<f32, "x">(4, 8);
    [[maybe_unused]] auto y = b.output<f32, "y">(4, 8);
    b.loop(4, 8, [&](axis i, axis j) {
#ifdef GOOD
        std::vector<val<f32>> kept;
        kept.push_back(x(i, j));
        y(i, j) = kept[0];
#else
        std::vector<val<f32>> kept;
        b.loop(8, [&](axis k) { kept.push_back(x(i, k)); });
        y(i, j) = kept[0];
#endif
    });
    return b;
}
static_assert(identity_of<[] { return built(); }>() != digest128{});
