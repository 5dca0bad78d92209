// expect: rule R1: its test takes more than it was given, expected check<rules>
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = check<rules<R1>>(row<BLK, VEC>{}, my_card{});
#else
constexpr auto it = check<rules<R1>>(row<BLK, VEC>{});
#endif
