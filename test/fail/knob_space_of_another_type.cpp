// expect: no matching function for call to .of
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = of<BLK>(blk{8, 8});
#else
constexpr auto it = of<BLK>("b8x8");
#endif
