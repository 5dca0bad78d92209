// expect: identity is [0-9a-f]{32}, expected 0000000000000000000000000000beef
#include <emmy/loop/typed/kernels.hpp>

using namespace emmy;
using namespace emmy::literals;
using namespace emmy::loop::typed;

constexpr auto built = [] { return kernels::softmax(f32{}, 512, 2048); };
#ifdef GOOD
static_assert(is_kernel<built, identity_of<built>()>());
#else
static_assert(is_kernel<built, "0000000000000000000000000000beef"_id>());
#endif
