// expect: rule R1: its test takes more than it was given, expected check<rules>\(row, target, kernel\), or holds<rules>\(target, kernel\)
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> % holds<R1>(my_card{});
#else
constexpr auto it = all<BLK> * all<VEC> % holds<R1>();
#endif
