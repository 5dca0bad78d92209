// expect: WORK: found \[t32x1\], expected no x1 \(spell it without\) at offset 3
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("t32"_work.n == 32);
#else
constexpr auto it = "t32x1"_work;
#endif
