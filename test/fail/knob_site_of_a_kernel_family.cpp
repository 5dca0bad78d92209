// expect: WORK: found \[map\], expected no address \(one choice a kernel\) at offset 0
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = row<at<"map", TILE>>{};
#else
constexpr auto it = row<at<"map", WORK>>{};
#endif
