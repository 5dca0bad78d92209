// expect: K6 STAGE: found \[d2/smem\], expected smem-tma beside producer warps
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1+p1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d2/smem-tma">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1+p1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d2/smem">, target_of({9, 0})>);
#endif
