// expect: row 1 \[warps\]: G1 STAGE: found \[d2/smem-tma\], expected a transport that this card has
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_GENERATION 8
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
