// expect: BLK: found \[b8x8/k1\], expected no explicit default \(spell it without\) at offset 4
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = of_text<BLK, "b8x8/k2">;
#else
constexpr auto it = of_text<BLK, "b8x8/k1">;
#endif
