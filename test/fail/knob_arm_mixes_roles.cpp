// expect: TILE: found a schedule family, expected structural families only in a routing row
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(arm<"PLACE@map.1/inner=cut", "LAYOUT@w=source">.size == 2);
#else
constexpr auto it = arm<"PLACE@map.1/inner=cut", "TILE=f4">;
#endif
