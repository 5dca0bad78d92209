// expect: atom: found \[mma_m16n8k16_f16_f64\], expected an atom
#include "fail/own_families.hpp"

#ifdef GOOD
constexpr auto it = "mma_m16n8k16_f16_f32"_atom;
#else
constexpr auto it = "mma_m16n8k16_f16_f64"_atom;
#endif
