// expect: rule R1: reads no family of the space, expected one of those that it reads
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> % holds<R1>(my_card{});
#else
constexpr auto it = all<RASTER> % holds<R1>(my_card{});
#endif
