// expect: BLK: found \[b08x8\], expected a number from 1 up, no leading zero at offset 1
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = of_text<BLK, "b8x8">;
#else
constexpr auto it = of_text<BLK, "b8x8", "b08x8">;
#endif
