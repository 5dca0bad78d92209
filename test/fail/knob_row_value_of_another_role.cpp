// expect: REDUCE: found \[g4k\], expected a value that this row.{1,2}s role takes
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = lit_of<row<REDUCE>, "REDUCE=coop">;
#else
constexpr auto it = lit_of<row<REDUCE>, "REDUCE=g4k">;
#endif
