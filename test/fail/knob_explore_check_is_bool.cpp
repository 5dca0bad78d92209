// expect: explore: found a check that returns bool, expected result<void>
#include "fail/own_families.hpp"
#include <emmy/knob/explore.hpp>

#ifdef GOOD
const auto it = explore(all<VEC>, [](const auto&) { return emmy::result<void>(); });
#else
const auto it = explore(all<VEC>, [](const auto&) { return true; });
#endif
