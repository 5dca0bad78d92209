// expect: TILE: found \[mma_m16n8k16_f16_f32/f4x8/k1\], expected no /k1 \(spell it without\) at offset 25
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8">.value<TILE>().k == 1);
#else
constexpr auto it = lit<"WORK=w4x1", "TILE=mma_m16n8k16_f16_f32/f4x8/k1">;
#endif
