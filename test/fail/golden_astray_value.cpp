// expect: row 1 \[warps\]: found WORK 40, expected one below 4
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_WARPS 40
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
