// expect: row 1 \[warps\]: found kernel 7, expected one below 2
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_KERNEL 7
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
