#pragma once
// Kernels of the typed Loop IR beside stored ones: the compiler checks each digest here, test/interop/loop/typed.cpp compares it with the
// run time's digest of the stored JSON. When the identity function changes: test/static/redigest.py rewrites the literals.
#include <emmy/loop/typed/kernels.hpp>

namespace emmy::test::typed_kernels {

using namespace emmy::literals;
using namespace emmy::loop::typed;

inline constexpr auto matmul_512 = [] { return kernels::matmul(f32{}, 512, 512, 512); };
inline constexpr digest128 matmul_512_id = "7dfafbac8aa7a268093bbfa8075dbe0c"_id;
static_assert(is_kernel<matmul_512, matmul_512_id>());

inline constexpr auto matmul_1024_f16 = [] { return kernels::matmul(f16{}, 1024, 1024, 1024); };
inline constexpr digest128 matmul_1024_f16_id = "928b40271aa6b049c25b798a196f4afb"_id;
static_assert(is_kernel<matmul_1024_f16, matmul_1024_f16_id>());

inline constexpr auto linear_qkv = [] { return kernels::linear(f32{}, 512, 12288, 4096); };
inline constexpr digest128 linear_qkv_id = "894497f09299ff8f0b37b3616fb43052"_id;
static_assert(is_kernel<linear_qkv, linear_qkv_id>());

inline constexpr auto softmax_2048 = [] { return kernels::softmax(f32{}, 512, 2048); };
inline constexpr digest128 softmax_2048_id = "2b0316da2a5e555265ae7a25819c839d"_id;
static_assert(is_kernel<softmax_2048, softmax_2048_id>());

inline constexpr auto softmax_rows_2048 = [] { return kernels::softmax(f32{}, symbol{"seq_len"}, 2048); };
inline constexpr digest128 softmax_rows_2048_id = "cfbe49380dbacc8a8367dbc0089cd77c"_id;
static_assert(is_kernel<softmax_rows_2048, softmax_rows_2048_id>());

inline constexpr auto rms_norm_2048 = [] { return kernels::rms_norm(f32{}, 512, 2048); };
inline constexpr digest128 rms_norm_2048_id = "487cef5c612a5878a990a91be9ff6fc7"_id;
static_assert(is_kernel<rms_norm_2048, rms_norm_2048_id>());

inline constexpr auto causal_sdpa_64 = [] { return kernels::causal_sdpa(f16{}, 8, 512, 64); };
inline constexpr digest128 causal_sdpa_64_id = "687ad85be99fe613509a58b5e6245b86"_id;
static_assert(is_kernel<causal_sdpa_64, causal_sdpa_64_id>());

}  // namespace emmy::test::typed_kernels
