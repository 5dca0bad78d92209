// expect: row 1 \[warps\]: found seal [0-9a-f]{16}, expected [0-9a-f]{16}: its kernel, sizes
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_US 2.5
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
