// expect: K3 WORK: found \[t8x8\], expected 128 threads where outputs are packed, at most 32 a coop
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=t8x16", "REDUCE=coop">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=t8x8", "REDUCE=coop">, target_of({9, 0})>);
#endif
