// expect: row: found \[TILES\], expected one of WORK, RASTER, TILE, REDUCE, STAGE, LOOPIFY, SHARED_CARRY at offset 0
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"WORK=t32", "TILE=f2">.size == 2);
#else
constexpr auto it = lit<"WORK=w4x1", "TILES=f2">;
#endif
