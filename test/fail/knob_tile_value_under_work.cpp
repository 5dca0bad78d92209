// expect: TILE: found \[f1\], expected WORK t\.\.\. of two threads or more for f1
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(value_of<TILE, "f1", "t32">().fn == 1);
#else
constexpr auto it = value_of<TILE, "f1", "w1x1">();
#endif
