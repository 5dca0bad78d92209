// expect: SIZE: found a catalog value that is spelled \[s8\], the spelling of another value, expected each value to read back
#include "fail/own_families.hpp"

struct size {
    int m = 1, n = 1;
    bool operator==(const size&) const = default;
};

#ifdef GOOD
struct SIZE : grammar<"SIZE", size, word<"s">, num<&size::m>, word<"x">, num<&size::n>> {};
#else
struct SIZE : grammar<"SIZE", size, word<"s">, num<&size::m>> {};
#endif
template <>
struct emmy::knob::catalog_of<SIZE> {
    static constexpr auto space() { return listed<SIZE, 2>({size{8, 1}, size{8, 2}}); }
};
constexpr auto it = all<SIZE>;
