// expect: pin: found \[BLOCK\], expected one of BLK, VEC at offset 0
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> | "BLK=b8x8"_pin;
#else
constexpr auto it = all<BLK> * all<VEC> | "BLOCK=b8x8"_pin;
#endif
