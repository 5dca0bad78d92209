// evidence/cpu_options.hpp: how pins narrow the schedule fork of the CPU device.
#include <emmy/evidence.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/program/op_text.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {
fork::cpu_schedules schedules_of(const std::string& op) {
    const auto graph = program::parse_op(op);
    BOOST_REQUIRE(graph);
    const auto made = loop::lower_single_op(*graph);
    BOOST_REQUIRE(made);
    const auto out = fork::cpu_schedules::make(made->kernel, {});
    BOOST_REQUIRE(out);
    return *out;
}
std::string refusal(const fork::cpu_schedules& s, const store::knob_list& pins) {
    const auto made = evidence::cpu_options::make(s, pins);
    return made ? std::to_string(made->rows().size()) : made.error().line();
}
}  // namespace

BOOST_AUTO_TEST_CASE(pins_leave_the_rows_that_have_them) {
    const auto mm = schedules_of("matmul(f32[256,256],f32[256,256])");
    const auto some = evidence::cpu_options::make(mm, {{"TILE", "f2x12"}});
    BOOST_REQUIRE(some);
    BOOST_TEST(some->rows().size() > 1u);
    for (const fork::cpu_row& row : some->rows()) BOOST_CHECK(row.tile == some->rows().front().tile);
    const auto sm = schedules_of("softmax(x: f32[512,2048], dim=-1)");
    BOOST_TEST(evidence::cpu_options::make(sm, {{"TILE", ""}})->rows().size() == sm.rows().size());
}

BOOST_AUTO_TEST_CASE(refusals_are_the_forks_own) {
    const auto mm = schedules_of("matmul(f32[256,256],f32[256,256])");
    BOOST_TEST(refusal(mm, {{"TILE", "f4x8"}}) == "TILE: found 'f4x8', expected fn * fm + fn + 1 <= 32 vector registers");
    BOOST_TEST(refusal(mm, {{"TILES", "f2x12"}}) == "TILES: found key 'TILES', expected one of the kernel's families");
    BOOST_TEST(refusal(mm, {{"WORK", "t4x4"}, {"WORK", "t8x8"}}) == "WORK: found the key twice ('t4x4' and 't8x8'), expected it once");
    const auto sm = schedules_of("softmax(x: f32[512,2048], dim=-1)");
    BOOST_TEST(refusal(sm, {{"TILE", "f4"}}) == "TILE: found 'f4', expected no text: the kernel has no output tile");
}

BOOST_AUTO_TEST_CASE(a_whole_row_leaves_itself_and_a_value_out_of_bounds_is_named) {
    const auto mm = schedules_of("matmul(f32[256,256],f32[256,256])");
    for (const fork::cpu_row& row : {mm.rows().front(), mm.rows()[mm.rows().size() / 2], mm.rows().back()}) {
        const auto made = evidence::cpu_options::make(mm, mm.pairs(row));
        BOOST_REQUIRE(made);
        BOOST_REQUIRE(made->rows().size() == 1u);
        BOOST_CHECK(made->rows().front() == row);
    }
    BOOST_TEST(refusal(mm, {{"TILE", "f2x3"}}) == "TILE: found 'f2x3', expected fn of 1 to 4, fm of 1, 2, 4, 6, 8, 10, 12, 14");
    BOOST_TEST(refusal(mm, {{"TILE", "f2x12"}, {"WORK", "t5x7"}}).starts_with("WORK: found 't5x7', expected t<n>x<m> with n of 4, 8, 16, 32"));
}
