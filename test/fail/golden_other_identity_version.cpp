// expect: small\.json: found identity version 0, expected \d+: make the header again
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_VERSION 0
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
