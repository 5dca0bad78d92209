// expect: FAST_MATH: found a regime family, expected schedule families only in a schedule row
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(value_of<FAST_MATH, "true">());
#else
constexpr auto it = lit<"WORK=w4x1", "FAST_MATH=true">;
#endif
