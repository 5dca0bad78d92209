#pragma once
// What a header made by emmy_golden_header() or emmy-import --emit-header includes: a golden file as checked constants. Headers only.
#include <emmy/golden/compiled/check.hpp>
#include <emmy/golden/compiled/source.hpp>
#include <emmy/golden/compiled/table.hpp>
