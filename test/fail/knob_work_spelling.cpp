// expect: WORK: found \[w4y1\], expected x and the second dimension at offset 2
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("w4x1"_work.m == 4);
#else
constexpr auto it = "w4y1"_work;
#endif
