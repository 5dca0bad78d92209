// expect: TILE: found \[map.0/inner\], expected a number from 1 up, no leading zero at offset 4
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = row<at<"map.1/inner", TILE>>{};
#else
constexpr auto it = row<at<"map.0/inner", TILE>>{};
#endif
