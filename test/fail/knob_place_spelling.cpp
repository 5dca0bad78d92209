// expect: PLACE: found \[split\], expected fuse or cut at offset 0
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("cut"_place == place::cut);
#else
constexpr auto it = "split"_place;
#endif
