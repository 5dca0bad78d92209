// expect: sum: rows over VEC after rows over BLK, expected the same families
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = all<BLK> + of<BLK>(blk{64, 8});
#else
constexpr auto it = all<BLK> + all<VEC>;
#endif
