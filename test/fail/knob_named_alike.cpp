// expect: spells two enumerators alike
#include "fail/own_families.hpp"

enum class order { row, column };
template <emmy::fixed_string... Texts>
using ORDER = named<"ORDER", order, Texts...>;

#ifdef GOOD
constexpr auto it = ORDER<"row", "column">::off;
#else
constexpr auto it = ORDER<"row", "row">::off;
#endif
