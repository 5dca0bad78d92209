// expect: key 5: PLACE@map\.1/inner: found a structural family, expected schedule families only in a schedule row
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_KEY "PLACE@map.1/inner"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
