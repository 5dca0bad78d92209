// expect: rule
#include "fail/own_families.hpp"

struct SILENT {
    static constexpr std::string_view id = "S1";
    using reads = row<VEC>;
    static constexpr finding test(const auto&) { return fine; }
};

#ifdef GOOD
using it = rules<R1>;
#else
using it = rules<SILENT>;
#endif
