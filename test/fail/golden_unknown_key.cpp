// expect: key 5: found \[TILES\], expected one of WORK, RASTER, TILE, REDUCE, STAGE, LOOPIFY, SHARED_CARRY
#include <emmy/golden/compiled.hpp>

#ifndef GOOD
#define SOURCE_KEY "TILES"
#endif
#include <support/compiled_source.hpp>

static_assert(emmy::golden::compiled::is_sound<emmy::test::compiled_data::source>());
