// expect: K1 WORK: threads of a block is 2048, must be at most 1024
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=w8x4", "TILE=mma_m16n8k16_f16_f32/f4x8/k2">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=w8x8", "TILE=mma_m16n8k16_f16_f32/f4x8/k2">, target_of({9, 0})>);
#endif
