// expect: rule S1: found no means, expected a sentence for people
#include "fail/own_families.hpp"

struct SILENT {
    static constexpr std::string_view id = "S1";
    using reads = row<VEC>;
    static constexpr finding test(const auto&) { return fine; }
};

#ifdef GOOD
constexpr auto it = rules<R1>::size;
#else
constexpr auto it = rules<SILENT>::size;
#endif
