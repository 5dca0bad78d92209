// expect: kernel 0 \[k_first\]: identity of its text is [0-9a-f]{32}, expected 51ef8168d0e55d609b99893b27b4a85f
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_TEXT "canonical bytes of another"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
