// expect: REDUCE: found a structural choice \(a cross-CTA split\), expected schedule families only in a schedule row
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(arm<"REDUCE=g4k">.size == 1);
#else
constexpr auto it = lit<"REDUCE=g4k">;
#endif
