// The laws of spaces over every built-in family and two of a user, as constant expressions. test/law/knob asks the same functions about
// random spaces at run time.
#include "support/knob_laws.hpp"

using namespace emmy::knob;
using namespace emmy::test;

namespace {

/// What is small enough for a constant expression: a long catalog is thinned.
template <class F>
constexpr auto literal_space() {
    return all<F>;
}
template <>
constexpr auto literal_space<TILE>() { return of_text<TILE, "", "f1", "f4x8", "mma_m16n8k16_f16_f32/f4x8/k2", "mma_m8n8k4_f16_f32/f2x2/k8", "wgmma_m64n64k16_f16_f32/f1x8/k4">; }
template <>
constexpr auto literal_space<WORK>() { return catalog::packings + of_text<WORK, "", "t128", "w1x4+p2">; }
template <>
constexpr auto literal_space<REDUCE>() { return of_text<REDUCE, "", "r2", "coop", "coop/r2", "coop-t/v2", "coop-t/n8/v4">; }
template <>
constexpr auto literal_space<STAGE>() {
    return of_text<STAGE, ""> + shown_as(of<catalog::TRANSPORT>(transport::smem, transport::tma) * of<catalog::DEPTH>(2) * all<catalog::PIPELINE>, catalog::as_stage{});
}

/// One constant expression a law: a compiler limits each.
template <class F, int Law>
constexpr const char* broken = laws::broken<Law + 1, F>(literal_space<F>());
template <class F>
constexpr bool every_law() {
    return []<int... Law>(std::integer_sequence<int, Law...>) { return ((broken<F, Law> == nullptr) && ...); }(std::make_integer_sequence<int, laws::count>{});
}

static_assert(every_law<WORK>());
static_assert(every_law<TILE>());
static_assert(every_law<REDUCE>());
static_assert(every_law<STAGE>());
static_assert(every_law<RASTER>());
static_assert(every_law<LOOPIFY>());
static_assert(every_law<SHARED_CARRY>());
static_assert(every_law<PLACE>());
static_assert(every_law<LAYOUT>());
static_assert(every_law<TEAM>());
static_assert(every_law<UNROLL>());
static_assert(every_law<FAST_MATH>());
static_assert(every_law<FAST_EXP>());
static_assert(every_law<F16_MMA_F32_ACC>());
static_assert(every_law<FP8_MMA>());
static_assert(every_law<COLD_CACHE>());
static_assert(every_law<VECTORIZE_LOADS>());
static_assert(every_law<VECTORIZE_STORES>());
static_assert(every_law<INTERLEAVE_LOADS>());
static_assert(every_law<GUARD_REDUCTIONS>());
static_assert(every_law<PAIR_LDMATRIX>());
static_assert(every_law<laws::VEC>());
static_assert(every_law<laws::BLK>());
static_assert(built_in::size == 21);  // a new family gets a line above

// L10, L13: frozen literals; the digest that test/law/knob computes from vectors.
constexpr auto blocks = all<laws::BLK> * all<laws::VEC> % where<laws::BLK, laws::VEC>([](const laws::block_size& b, int v) { return b.n % v == 0 && b.m * v <= 64; });
static_assert(laws::frozen_is(blocks, frozen_at_compile_time<blocks>));
static_assert(frozen_at_compile_time<blocks>.rank(lit_of<row<laws::BLK, laws::VEC>, "BLK=b32x8/k4", "VEC=2">) == 10);
static_assert(frozen_at_compile_time<blocks>.sample(seed{7}) == frozen_at_compile_time<blocks>.sample(seed{7}));
static_assert(laws::digest(blocks) == 0xea1fda2a5e1a6c65u);

}  // namespace
