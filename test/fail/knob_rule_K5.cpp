// expect: K5 RASTER: found \[gm8\], expected a tiled contraction
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "RASTER=gm8">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=t128", "REDUCE=coop", "RASTER=gm8">, target_of({9, 0})>);
#endif
