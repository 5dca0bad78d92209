// expect: TILE: found \[mma_m16n8k16_f16_f32/f4x8\], expected WORK w\.\.\. for a warp tile
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"WORK=w1x1", "TILE=mma_m16n8k16_f16_f32/f4x8">.value<WORK>().threads() == 32);
#else
constexpr auto it = lit<"WORK=t32", "TILE=mma_m16n8k16_f16_f32/f4x8">;
#endif
