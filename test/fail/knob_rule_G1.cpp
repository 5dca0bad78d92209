// expect: G1 STAGE: found \[d2/smem-tma\], expected a transport that this card has
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d2/smem-async">, target_of({8, 9})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d2/smem-tma">, target_of({8, 9})>);
#endif
