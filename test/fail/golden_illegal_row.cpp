// expect: row 0 \[scalar\]: K1 WORK: threads of a block is 2048, must be at most 1024
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_WORK "t64x32"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
