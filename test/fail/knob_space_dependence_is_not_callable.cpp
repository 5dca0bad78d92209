// expect: f is not callable with a row of the space
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> >> [](const row<BLK>&) { return all<VEC>; };
#else
constexpr auto it = all<BLK> >> [](int, int) { return all<VEC>; };
#endif
