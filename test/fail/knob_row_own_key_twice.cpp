// expect: VEC: found the key twice, expected it once
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = lit_of<row<BLK, VEC>, "BLK=b8x8,VEC=4">;
#else
constexpr auto it = lit_of<row<BLK, VEC>, "VEC=2", "BLK=b8x8,VEC=4">;
#endif
