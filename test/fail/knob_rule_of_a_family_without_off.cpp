// expect: row: found no BLK, which has no OFF value, expected one because a rule reads it
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = check<rules<R1>>(row<BLK, VEC>{}, my_card{});
#else
constexpr auto it = check<rules<R1>>(row<VEC>{}, my_card{});
#endif
