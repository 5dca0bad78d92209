// expect: a_value_is_listed_twice
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = of<VEC>(4, 2);
#else
constexpr auto it = of<VEC>(4, 4);
#endif
