// expect: choice 0: TILE: found a schedule family, expected structural families only in a routing row
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_CHOICE "TILE"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
