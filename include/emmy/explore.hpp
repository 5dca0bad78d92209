#pragma once
// For tests written with Boost.Test: rows of a fork are enumerated, sampled, pinned and checked, and a failure prints the shortest pin that
// reproduces it. Include <boost/test/unit_test.hpp> first. EMMY_EXPLORE_PIN="BLK=b32x8" in the environment narrows every exploration.
#include <emmy/knob.hpp>
#include <emmy/knob/explore.hpp>

#include <cstdlib>

#ifndef BOOST_REQUIRE_MESSAGE
#error "include <boost/test/unit_test.hpp> before <emmy/explore.hpp>"
#endif

namespace emmy {

/// Explores and reports: one error a failing row, one message with the counts. Gives the counts.
///   emmy::explore_rows(space, [&](const auto& row) { return compare(interpret(kernel), run(print(row))); }, {.sample = 64});
template <knob::row_space S, class Check>
knob::exploration explore_rows(const S& space, Check&& check, knob::explore_options how = {}) {
    if (const char* pin = std::getenv("EMMY_EXPLORE_PIN"); pin != nullptr && *pin != '\0') how.pin += (how.pin.empty() ? "" : ",") + std::string(pin);
    const auto done = knob::explore(space, check, how);
    BOOST_REQUIRE_MESSAGE(done, (done ? std::string() : done.error().line()));
    for (const knob::failed_row& f : done->failures)
        BOOST_ERROR("row " << f.row << ": " << f.why << "; reproduce with " << (f.pin.empty() ? std::string("no pin (the first row fails)") : "EMMY_EXPLORE_PIN=" + f.pin));
    BOOST_TEST_MESSAGE("explored " << done->tried << " of " << done->rows << " rows, " << done->failures.size() << " failed");
    return *done;
}

}  // namespace emmy
