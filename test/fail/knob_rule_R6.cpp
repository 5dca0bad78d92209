// expect: R6 REDUCE: found \[coop-t/n8\], expected 32 output lanes on this card
#include <emmy/knob.hpp>

using namespace emmy::knob;

#ifdef GOOD
static_assert(legal<gpu::row_rules, lit<"WORK=t64", "REDUCE=coop-t">, target_of({9, 0})>);
#else
static_assert(legal<gpu::row_rules, lit<"WORK=t64", "REDUCE=coop-t/n8">, target_of({9, 0})>);
#endif
