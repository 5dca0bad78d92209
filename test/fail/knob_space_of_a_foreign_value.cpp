// expect: a_value_does_not_read_back
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = of<VEC>(2, 4);
#else
constexpr auto it = of<VEC>(2, 3);
#endif
