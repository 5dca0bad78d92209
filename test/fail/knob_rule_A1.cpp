// expect: A1 TILE: found \[mma_m16n8k64_e2m1_f32/f1x1\], expected an atom that this card has
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k64_e2m1_f32/f1x1">, target_of({9, 0})>);
#endif
