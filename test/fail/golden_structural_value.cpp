// expect: REDUCE value 1: found \[g4k\], a structural choice \(a cross-CTA split\), expected schedule families only in a schedule row
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_REDUCE "g4k"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
