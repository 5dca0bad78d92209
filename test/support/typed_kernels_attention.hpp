#pragma once
// Attention beside the stored one: see typed_kernels.hpp. In a header of its own, so that no unit of the tests takes long to compile.
#include <emmy/loop/typed/kernels.hpp>

namespace emmy::test::typed_kernels {

using namespace emmy::literals;
using namespace emmy::loop::typed;

inline constexpr auto causal_sdpa_64 = [] { return kernels::causal_sdpa(f16{}, 8, 512, 64); };
inline constexpr digest128 causal_sdpa_64_id = "9fa1e69e76129c61e0ecd394bc9617d2"_id;
static_assert(is_kernel<causal_sdpa_64, causal_sdpa_64_id>());

}  // namespace emmy::test::typed_kernels
