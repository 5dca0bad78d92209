// expect: route: found \[map\.0/inner\], expected a number from 1 up, no leading zero at offset 4
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("map.1/inner"_route.size() == 2);
#else
constexpr auto it = "map.0/inner"_route;
#endif
