// expect: VEC: found \[3\], expected one of 1, 2, 4, 8 at offset 0
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = lit_of<row<VEC>, "VEC=4">;
#else
constexpr auto it = lit_of<row<VEC>, "VEC=3">;
#endif
