// expect: row: found \[VECTOR\], expected one of BLK, VEC at offset 0
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = lit_of<row<BLK, VEC>, "BLK=b8x8", "VEC=4">;
#else
constexpr auto it = lit_of<row<BLK, VEC>, "BLK=b8x8", "VECTOR=4">;
#endif
