// expect: TILE value 0: found \[f4y4\], expected .* at offset 2
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_TILE "f4y4"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
