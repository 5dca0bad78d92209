// expect: regime 1: FAST_MATH: found \[yes\], expected 
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_REGIME "FAST_MATH=yes"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
