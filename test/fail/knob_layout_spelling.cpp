// expect: LAYOUT: found \[fold\], expected folded or source at offset 0
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("source"_layout == layout::source);
#else
constexpr auto it = "fold"_layout;
#endif
