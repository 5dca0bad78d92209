// expect: R1 BLK: bytes of a tile is 512, must be at most 256
#include "fail/own_families.hpp"

#ifdef GOOD
static_assert(legal<rules<R1>, lit_of<row<BLK, VEC>, "BLK=b8x8", "VEC=4">, my_card{}>);
#else
static_assert(legal<rules<R1>, lit_of<row<BLK, VEC>, "BLK=b8x8", "VEC=8">, my_card{}>);
#endif
