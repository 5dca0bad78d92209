// expect: TILE: found \[mma_m16n8k8_f16_f32/f1x1\], expected an atom \(mma_\.\.\., wgmma_\.\.\.\), f or no text at offset 0
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("mma_m16n8k16_f16_f32/f1x1"_tile.fn == 1);
#else
constexpr auto it = "mma_m16n8k8_f16_f32/f1x1"_tile;
#endif
