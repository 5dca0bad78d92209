// expect: identity is [0-9a-f]{32}, expected 51ef8168d0e55d609b99893b27b4a85f
#include <emmy/loop/typed/kernels.hpp>

#include <support/compiled_source.hpp>

using namespace emmy;
using namespace emmy::loop::typed;

constexpr auto norm = [] { return kernels::rms_norm(f32{}, 512, 2048); };
#ifdef GOOD
static_assert(is_kernel<norm, identity_of<norm>()>() && test::small_table.identity("k_first"));
#else
static_assert(is_kernel<norm, test::small_table.identity("k_first")>());
#endif
