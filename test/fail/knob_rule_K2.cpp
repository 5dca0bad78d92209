// expect: K2 WORK: producer warps is 2, must be at most 1
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w1x2+p2", "STAGE=d2/smem-tma", "TILE=mma_m16n8k16_f16_f32/f4x8/k2">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w1x1+p2", "STAGE=d2/smem-tma", "TILE=mma_m16n8k16_f16_f32/f4x8/k2">, target_of({9, 0})>);
#endif
