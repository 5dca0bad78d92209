// expect: G3 STAGE: found \[d2/smem/p2\], expected a warp tile for /p
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d2/smem/p2">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=t128", "TILE=f4", "STAGE=d2/smem/p2">, target_of({9, 0})>);
#endif
