// expect: key 5: FAST_MATH: found a regime family, expected schedule families only
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_KEY "FAST_MATH"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
