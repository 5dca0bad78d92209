// expect: pin: found \[VEC\], expected KEY=VALUE at offset 3
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> | "VEC=4"_pin;
#else
constexpr auto it = all<BLK> * all<VEC> | "VEC"_pin;
#endif
