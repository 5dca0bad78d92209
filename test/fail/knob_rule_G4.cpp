// expect: G4 STAGE: found \[d8/smem-tma\], expected at most 4 slots without wgmma
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d4/smem-tma">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d8/smem-tma">, target_of({9, 0})>);
#endif
