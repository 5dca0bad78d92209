// expect: f\(row\) is no space, expected a space of one type for every row
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> >> [](const auto&) { return all<VEC>; };
#else
constexpr auto it = all<BLK> >> [](const auto&) { return 4; };
#endif
