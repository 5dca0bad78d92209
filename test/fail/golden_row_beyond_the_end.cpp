// expect: found a row beyond the end of the table, expected a place below its size
#include <emmy/golden/compiled.hpp>

#include <support/compiled_source.hpp>

using namespace emmy;

#ifdef GOOD
static_assert(golden::compiled::golden_row<test::small_table, 1>::value<knob::WORK>().threads() == 128);
#else
static_assert(golden::compiled::golden_row<test::small_table, 4>::value<knob::WORK>().threads() == 128);
#endif
