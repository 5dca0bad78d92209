// expect: rule B1: its test returns bool, expected a finding \(at_most, need, ...\)
#include "fail/own_families.hpp"

struct B1 {
    static constexpr std::string_view id = "B1", means = "Says it with a bool.";
    using reads = row<BLK, VEC>;
    static constexpr bool test(const auto& r, const my_card& card) { return r.template get<VEC>() < card.smem; }
};

#ifdef GOOD
constexpr auto it = all<BLK> * all<VEC> % holds<R1>(my_card{});
#else
constexpr auto it = all<BLK> * all<VEC> % holds<B1>(my_card{});
#endif
