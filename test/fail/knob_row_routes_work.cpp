// expect: WORK: found \[WORK@map\], expected the bare key, one choice a kernel at offset 4
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"WORK=t32">.size == 1);
#else
constexpr auto it = lit<"WORK@map=t32">;
#endif
