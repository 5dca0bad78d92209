// expect: FREE: found no catalog, expected a member catalog or of<>
#include "fail/own_families.hpp"

struct FREE : grammar<"FREE", blk, word<"b">, num<&blk::m>> {};

#ifdef GOOD
constexpr auto it = of<FREE>(blk{8});
#else
constexpr auto it = all<FREE>;
#endif
