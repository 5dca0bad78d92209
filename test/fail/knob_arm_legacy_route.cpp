// expect: PLACE@n0: found \[n0\], expected a node kind: map, reduce, inner, twist or scan at offset 0
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(arm<"PLACE@map.1/reduce=cut">.size == 1);
#else
constexpr auto it = arm<"PLACE@n0=cut">;
#endif
