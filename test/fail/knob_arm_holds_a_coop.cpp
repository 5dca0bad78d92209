// expect: REDUCE: found a schedule choice, expected structural families only in a routing row
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(arm<"REDUCE@inner=g4a">.size == 1);
#else
constexpr auto it = arm<"REDUCE=coop">;
#endif
