// expect: row: found \[WORK\], expected KEY=VALUE at offset 4
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert(lit<"WORK=">.size == 1);
#else
constexpr auto it = lit<"WORK">;
#endif
