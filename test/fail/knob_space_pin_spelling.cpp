// expect: BLK: found \[b8y8\], expected x at offset 2
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> | "BLK=b8x8"_pin;
#else
constexpr auto it = all<BLK> * all<VEC> | "BLK=b8y8"_pin;
#endif
