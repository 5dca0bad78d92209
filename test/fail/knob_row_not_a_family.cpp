// expect: family
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = row<VEC>{};
#else
constexpr auto it = row<int>{};
#endif
