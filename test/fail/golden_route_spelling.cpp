// expect: key 5: TILE@map\.0/inner: .*expected a number from 1 up, no leading zero at offset 4
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_KEY "TILE@map.0/inner"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
