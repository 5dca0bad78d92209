// expect: STAGE: found \[d2/reg\], expected reg only after d1 at offset 3
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("d1/reg"_stage.by == transport::registers);
#else
constexpr auto it = "d2/reg"_stage;
#endif
