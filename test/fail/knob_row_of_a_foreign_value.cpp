// expect: a_value_does_not_read_back
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr row<VEC> it(4);
#else
constexpr row<VEC> it(3);
#endif
