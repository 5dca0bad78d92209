// expect: key 5: WORK@map: found an address, expected the bare key
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_KEY "WORK@map"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
