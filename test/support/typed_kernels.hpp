#pragma once
// Kernels of the typed Loop IR beside stored ones: the compiler checks each digest here, test/interop/loop/typed.cpp compares it with the
// run time's digest of the stored JSON. When the identity function changes: test/static/redigest.py rewrites the literals.
#include <emmy/loop/typed/kernels.hpp>

namespace emmy::test::typed_kernels {

using namespace emmy::literals;
using namespace emmy::loop::typed;

inline constexpr auto matmul_512 = [] { return kernels::matmul(f32{}, 512, 512, 512); };
inline constexpr digest128 matmul_512_id = "882f82e9dac32af0b2700fb00c7aeebe"_id;
static_assert(is_kernel<matmul_512, matmul_512_id>());

inline constexpr auto linear_qkv = [] { return kernels::linear(f32{}, 512, 12288, 4096); };
inline constexpr digest128 linear_qkv_id = "c0d1facb47dfc59278537b87be3b9345"_id;
static_assert(is_kernel<linear_qkv, linear_qkv_id>());

inline constexpr auto softmax_2048 = [] { return kernels::softmax(f32{}, 512, 2048); };
inline constexpr digest128 softmax_2048_id = "4c5f73f2388bb87756c5db73816ead78"_id;
static_assert(is_kernel<softmax_2048, softmax_2048_id>());

inline constexpr auto rms_norm_2048 = [] { return kernels::rms_norm(f32{}, 512, 2048); };
inline constexpr digest128 rms_norm_2048_id = "9d0e1769f45454d8b1cafdd804279356"_id;
static_assert(is_kernel<rms_norm_2048, rms_norm_2048_id>());

}  // namespace emmy::test::typed_kernels
