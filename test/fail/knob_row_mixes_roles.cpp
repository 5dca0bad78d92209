// expect: PLACE@map\.1/inner: found a structural family, expected schedule families only in a schedule row
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(arm<"PLACE@map.1/inner=cut">.size == 1 && lit<"WORK=w4x1">.size == 1);
#else
constexpr auto it = lit<"WORK=w4x1", "PLACE@map.1/inner=cut">;
#endif
