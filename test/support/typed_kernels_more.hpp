#pragma once
// Further typed kernels beside stored ones: see typed_kernels.hpp.
#include <emmy/loop/typed/kernels.hpp>

namespace emmy::test::typed_kernels {

using namespace emmy::literals;
using namespace emmy::loop::typed;

inline constexpr auto matmul_1024_f16 = [] { return kernels::matmul(f16{}, 1024, 1024, 1024); };
inline constexpr digest128 matmul_1024_f16_id = "37af76d461b9de165db73c97e8ce6988"_id;
static_assert(is_kernel<matmul_1024_f16, matmul_1024_f16_id>());

inline constexpr auto softmax_rows_2048 = [] { return kernels::softmax(f32{}, symbol{"seq_len"}, 2048); };
inline constexpr digest128 softmax_rows_2048_id = "6cb300e8fd49b94edcef904e19f49c59"_id;
static_assert(is_kernel<softmax_rows_2048, softmax_rows_2048_id>());

}  // namespace emmy::test::typed_kernels
