// expect: an identity has 32 lowercase hex digits
#include <emmy/core/digest.hpp>

using namespace emmy::literals;

#ifdef GOOD
static_assert("2a1f8ff533c92da3317b0b4ed435f3e9"_id != emmy::digest128{});
#else
static_assert("2A1f8ff533c92da3317b0b4ed435f3e9"_id != emmy::digest128{});
#endif
