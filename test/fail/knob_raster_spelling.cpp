// expect: RASTER: found \[gm1\], expected a number of tiles from 2 up at offset 2
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("gm8"_raster.group == 8);
#else
constexpr auto it = "gm1"_raster;
#endif
