// expect: VEC: found \[4\] twice, expected each value once
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = of_text<VEC, "4", "2">;
#else
constexpr auto it = of_text<VEC, "4", "2", "4">;
#endif
