// expect: T3 WORK: warps along m under wgmma is 2, must be a multiple of 4
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=wgmma_m64n64k16_f16_f32/f1x8/k4", "STAGE=d2/smem-tma">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w2x1", "TILE=wgmma_m64n64k16_f16_f32/f1x8/k4", "STAGE=d2/smem-tma">, target_of({9, 0})>);
#endif
