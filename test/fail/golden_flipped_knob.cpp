// expect: row 1 \[warps\]: found seal [0-9a-f]{16}, expected [0-9a-f]{16}: its kernel, sizes, regime, knobs or time were changed by hand
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_WARPS 2
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
