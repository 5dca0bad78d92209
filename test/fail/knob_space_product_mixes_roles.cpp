// expect: row: PLACE is structural, VEC is schedule, expected schedule families only
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<VEC> * all<RASTER>;
#else
constexpr auto it = all<VEC> * all<PLACE>;
#endif
