// expect: row: PLACE is structural, TILE is schedule, expected schedule families only
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = row<TILE, RASTER>{};
#else
constexpr auto it = row<TILE, PLACE>{};
#endif
