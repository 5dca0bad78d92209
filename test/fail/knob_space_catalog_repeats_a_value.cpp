// expect: a catalog lists a value twice, expected each once
#include "fail/own_families.hpp"

struct ONCE : grammar<"ONCE", blk, word<"b">, num<&blk::m>> {
    static constexpr blk catalog[] = {{8}, {16}};
};
struct TWICE : grammar<"TWICE", blk, word<"b">, num<&blk::m>> {
    static constexpr blk catalog[] = {{8}, {8}};
};

#ifdef GOOD
constexpr auto it = all<ONCE>;
#else
constexpr auto it = all<TWICE>;
#endif
