// expect: row: found BLK twice, expected each family once
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> >> [](const auto&) { return all<VEC>; };
#else
constexpr auto it = all<BLK> >> [](const auto&) { return all<BLK>; };
#endif
