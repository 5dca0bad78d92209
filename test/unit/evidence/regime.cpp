// evidence/regime.hpp: what belongs to the setting, and how it is spelled.
#include <emmy/core/json.hpp>
#include <emmy/evidence.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

using namespace emmy;
using namespace emmy::evidence;

namespace {
std::string flags_of(const regime_request& asked) {
    const auto r = make_regime(asked);
    if (!r) return r.error().line();
    const auto c = make_context("NVIDIA H100 80GB HBM3", 9, 0, *r);
    return "O" + std::to_string(c.opt) + (c.cold ? " cold" : "") + " [" + c.flags + "]";
}
regime of_pins(std::string_view text) {
    const auto doc = json::document::parse(text);
    BOOST_REQUIRE(doc.has_value());
    const auto r = regime_of_pins(doc->root().members());
    BOOST_REQUIRE_MESSAGE(r, test::why(r));
    return *r;
}
}  // namespace

BOOST_AUTO_TEST_CASE(the_default_is_o3_without_fast_math) {
    BOOST_TEST(flags_of({}) == "O3 []");
    BOOST_TEST(flags_of({.compiler_flags = "  -Xcicc   -O3 "}) == "O3 []");
    BOOST_TEST((make_context("NVIDIA H100 80GB HBM3", 9, 0, {}) == test::a_context()));
    BOOST_TEST(make_context("cpu: x", 0, 0, {}).backend == "cpu");
}

BOOST_AUTO_TEST_CASE(flags_are_split_and_normalised) {
    BOOST_TEST(flags_of({.fast_math = true, .compiler_flags = "-lineinfo  -Xcicc -O1\t--maxrregcount 64"}) == "O1 [--use_fast_math -lineinfo --maxrregcount 64]");
    BOOST_TEST(flags_of({.compiler_flags = "--use_fast_math"}) == "O3 [--use_fast_math]");
    BOOST_TEST(flags_of({.compiler_flags = "-Xptxas -O1"}) == "O3 [-Xptxas -O1]");  // the assembler's level, not the compiler's
    BOOST_TEST(flags_of({.opt = 2, .compiler_flags = "-O2"}) == "O2 []");
    BOOST_TEST(flags_of({.opt = 2, .compiler_flags = "-O1"}).starts_with("--opt: found -O2 and -O1"));
    BOOST_TEST(flags_of({.opt = 4}).starts_with("--opt: found 4"));
    BOOST_TEST(flags_of({.cold = true}) == "O3 cold []");
}

BOOST_AUTO_TEST_CASE(pins_that_follow_fast_math_count_only_when_they_differ) {
    BOOST_TEST(flags_of({.pins = {{"FAST_MATH", "1"}}}) == "O3 [--use_fast_math]");
    BOOST_TEST(flags_of({.pins = {{"FAST_EXP", "0"}}}) == "O3 []");
    BOOST_TEST(flags_of({.pins = {{"FAST_EXP", "1"}}}) == "O3 [fast_exp=true]");
    BOOST_TEST(flags_of({.pins = {{"FAST_EXP", "1"}, {"FAST_MATH", "true"}}}) == "O3 [--use_fast_math]");
    BOOST_TEST(flags_of({.fast_math = true, .pins = {{"FP8_MMA", "off"}, {"FAST_EXP", "no"}}}) == "O3 [--use_fast_math fast_exp=false fp8_mma=false]");
    BOOST_TEST(flags_of({.pins = {{"COLD_CACHE", "yes"}}}) == "O3 cold []");
    BOOST_TEST(flags_of({.pins = {{"TEAM", "2"}}}) == "O3 [team=2]");
    BOOST_TEST(flags_of({.pins = {{"TEAM", "1"}}}) == "O3 []");
    BOOST_TEST(flags_of({.pins = {{"TEAM", "none"}}}).starts_with("TEAM: "));
    BOOST_TEST(flags_of({.pins = {{"WORK", "t32"}}}).starts_with("WORK: "));
}

BOOST_AUTO_TEST_CASE(a_row_keeps_the_setting_of_its_pins) {
    BOOST_TEST((of_pins("{}") == regime{}));
    BOOST_TEST((of_pins(R"({"FAST_MATH":false})") == regime{}));
    BOOST_TEST(of_pins(R"({"FAST_MATH":true})").fast_math);
    BOOST_TEST(of_pins(R"({"FAST_MATH":true,"COLD_CACHE":true})").cold);
    const regime r = of_pins(R"({"TEAM":2,"FAST_MATH":true,"FAST_EXP":false})");
    BOOST_TEST((r.words == store::knob_list{{"FAST_EXP", "false"}, {"TEAM", "2"}}));
    BOOST_TEST((pins_of(r) == store::knob_list{{"FAST_MATH", "true"}, {"FAST_EXP", "false"}, {"TEAM", "2"}}));
    BOOST_TEST(lane_text(r) == "fast-math fast_exp=false team=2");
    BOOST_TEST(lane_text(regime{}) == "standard");
}
