// expect: TILE: found \[mma_m16n8k16_f16_f32/f1x1\], expected WORK w... for a warp tile
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = lit_of<row<WORK, TILE>, "WORK=w1x1", "TILE=mma_m16n8k16_f16_f32/f1x1">;
#else
constexpr auto it = lit_of<row<WORK, TILE>, "WORK=t32", "TILE=mma_m16n8k16_f16_f32/f1x1">;
#endif
