// expect: row: FAST_MATH is regime, WORK is schedule, expected schedule families only
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = row<WORK, RASTER>{};
#else
constexpr auto it = row<WORK, FAST_MATH>{};
#endif
