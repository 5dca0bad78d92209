// expect: row 1 \[warps\]: TILE: found the key twice, expected it once
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_LAST_KEY 3
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
