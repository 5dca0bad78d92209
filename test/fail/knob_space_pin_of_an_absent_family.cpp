// expect: space: the test reads VEC, the rows have BLK, expected all that it reads
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> | is<BLK>({16, 8});
#else
constexpr auto it = all<BLK> | is<VEC>(4);
#endif
