#pragma once
// For tests written with Boost.Test: rows of a fork are enumerated, sampled, pinned and checked, and a failure prints the shortest pin that
// reproduces it. Include <boost/test/unit_test.hpp> first. EMMY_EXPLORE_PIN="BLK=b32x8" in the environment narrows every exploration.
// Rows of a space here, needing headers only; schedules of a kernel on this processor in emmy/explore_kernel.hpp.
#include <emmy/knob.hpp>
#include <emmy/knob/explore.hpp>

#include <cstdlib>

#ifndef BOOST_REQUIRE_MESSAGE
#error "include <boost/test/unit_test.hpp> before <emmy/explore.hpp>"
#endif

namespace emmy {

namespace detail {
inline void narrow_by_environment(knob::explore_options& how) {
    if (const char* pin = std::getenv("EMMY_EXPLORE_PIN"); pin != nullptr && *pin != '\0') how.pin += (how.pin.empty() ? "" : ",") + std::string(pin);
}
/// One error a failing row, one message with the counts.
inline void report(const std::string& what, const knob::exploration& done) {
    for (const knob::failed_row& f : done.failures)
        BOOST_ERROR(what << f.row << ": " << f.why << "; reproduce with " << (f.pin.empty() ? std::string("no pin (the first row fails)") : "EMMY_EXPLORE_PIN=" + f.pin));
    BOOST_TEST_MESSAGE(what << "explored " << done.tried << " of " << done.rows << " rows, " << done.failures.size() << " failed");
}
}  // namespace detail

/// Explores the rows of a space and reports. Gives the counts.
///   emmy::explore_rows(space, [&](const auto& row) { return compare(interpret(kernel), run(print(row))); }, {.sample = 64});
template <knob::row_space S, class Check>
knob::exploration explore_rows(const S& space, Check&& check, knob::explore_options how = {}) {
    detail::narrow_by_environment(how);
    const auto done = knob::explore(space, check, how);
    BOOST_REQUIRE_MESSAGE(done, (done ? std::string() : done.error().line()));
    detail::report("row ", *done);
    return *done;
}

}  // namespace emmy
