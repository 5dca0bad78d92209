// expect: space: the test reads VEC, the rows have BLK, expected all that it reads
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> % where<VEC>([](int v) { return v > 1; });
#else
constexpr auto it = all<BLK> % where<VEC>([](int v) { return v > 1; });
#endif
