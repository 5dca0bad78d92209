// expect: W1 row: found \[no RASTER\], expected WORK and RASTER in every complete row
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<form_rules, lit<"WORK=t128", "RASTER=">, target_of({9, 0})>);
#else
static_assert(legal<form_rules, lit<"WORK=t128">, target_of({9, 0})>);
#endif
