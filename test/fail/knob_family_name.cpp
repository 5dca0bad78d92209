// expect: family: found the name \[low er,=\], expected upper-case letters, digits and _
#include "fail/own_families.hpp"

#ifdef GOOD
struct OWN : choice<"OWN", 1, 2> {};
constexpr auto it = OWN::off;
#else
struct OWN : choice<"low er,=", 1, 2> {};
constexpr auto it = OWN::off;
#endif
