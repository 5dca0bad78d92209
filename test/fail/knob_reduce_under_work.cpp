// expect: REDUCE@map\.1/reduce: found \[coop\], expected WORK t\.\.\. of width 2 or more for coop
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"REDUCE@map.1/reduce=coop", "WORK=t32">.row().sites() == 1);
#else
constexpr auto it = lit<"REDUCE@map.1/reduce=coop", "WORK=w1x1">;
#endif
