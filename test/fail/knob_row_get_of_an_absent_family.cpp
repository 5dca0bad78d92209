// expect: row: found no VEC, expected one of BLK
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = row<BLK, VEC>{}.get<VEC>();
#else
constexpr auto it = row<BLK>{}.get<VEC>();
#endif
