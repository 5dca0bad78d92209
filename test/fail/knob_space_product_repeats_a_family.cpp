// expect: row: found VEC twice, expected each family once
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC>;
#else
constexpr auto it = all<VEC> * all<VEC>;
#endif
