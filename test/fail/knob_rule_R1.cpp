// expect: R1 REDUCE: found \[r2\], expected no text at a tiled site
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "REDUCE=">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "REDUCE=r2">, target_of({9, 0})>);
#endif
