// expect: REDUCE: found \[r2/coop\], expected the end or the next of g, coop, n, v, r in this order at offset 2
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

#ifdef GOOD
static_assert("coop/r2"_reduce.accumulators == 2);
#else
constexpr auto it = "r2/coop"_reduce;
#endif
