// expect: T3r TILE: registers of a thread is 186, must be at most 128
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w8x1", "TILE=wgmma_m64n64k16_f16_f32/f1x32/k4", "STAGE=d2/smem-tma">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w16x1", "TILE=wgmma_m64n64k16_f16_f32/f1x32/k4", "STAGE=d2/smem-tma">, target_of({9, 0})>);
#endif
