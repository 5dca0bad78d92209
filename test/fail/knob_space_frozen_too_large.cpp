// expect: space: raw points is 16384, must be at most 10000 at compile time
#include "fail/own_families.hpp"

template <int N>
struct N_OF : VEC {
    static constexpr std::string_view name = std::string_view("ABCDEFG").substr(N, 1);
};
constexpr auto small = all<N_OF<0>> * all<N_OF<1>> * all<N_OF<2>>;
constexpr auto large = small * all<N_OF<3>> * all<N_OF<4>> * all<N_OF<5>> * all<N_OF<6>>;

#ifdef GOOD
constexpr auto& it = frozen_at_compile_time<small>;
#else
constexpr auto& it = frozen_at_compile_time<large>;
#endif
