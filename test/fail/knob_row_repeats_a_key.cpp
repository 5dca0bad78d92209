// expect: TILE: found the key twice, expected it once
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"TILE@map=f2", "TILE@reduce=f4">.size == 2);
#else
constexpr auto it = lit<"TILE=f2", "TILE=f4">;
#endif
