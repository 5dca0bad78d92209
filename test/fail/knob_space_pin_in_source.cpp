// expect: pin_refused
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> | "VEC=4";
#else
constexpr auto it = all<BLK> * all<VEC> | "VEC=3";
#endif
