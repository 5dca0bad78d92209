// expect: VEC: found no value, expected every family of the row
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = lit_of<row<BLK, VEC>, "BLK=b8x8", "VEC=4">;
#else
constexpr auto it = lit_of<row<BLK, VEC>, "BLK=b8x8">;
#endif
