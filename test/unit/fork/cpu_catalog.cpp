#include <boost/test/unit_test.hpp>

#include <emmy/core/file.hpp>
#include <emmy/fork/cpu_knobs.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/program/op_text.hpp>

#include <set>

using namespace emmy;

namespace {

fork::cpu_schedules schedules_of(const std::string& op, const fork::cpu_target& target = {}) {
    auto graph = program::parse_op(op);
    BOOST_REQUIRE_MESSAGE(graph, op);
    auto made = loop::lower_single_op(*graph);
    BOOST_REQUIRE_MESSAGE(made, op);
    auto out = fork::cpu_schedules::make(made->kernel, target);
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    return *out;
}
std::string refusal(const fork::cpu_schedules& s, const fork::knob_pairs& pairs) {
    auto row = s.row(pairs);
    return row ? "" : row.error().line();
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_kernel_has_enough_rows_on_every_vector_width) {
    struct { const char* op; fork::cpu_form form; std::size_t least; } cases[] = {
        {"matmul(f32[256,256],f32[256,256])", fork::cpu_form::contraction, 200},
        {"linear(input: f16[512,1024], weight: f16[4096,1024], bias: f16[4096])", fork::cpu_form::contraction, 200},
        {"softmax(x: f32[512,2048], dim=-1)", fork::cpu_form::rows, 20},
        {"rms_norm(x: f32[seq_len,4096], weight: f32[4096])", fork::cpu_form::rows, 20},
        {"sum(x: f32[512,2048], dim=-1)", fork::cpu_form::rows, 20},
        {"sum(x: f32[512,2048], dim=0)", fork::cpu_form::columns, 20},
        {"relu(x: f32[512,4096])", fork::cpu_form::map, 8},
    };
    for (const auto& c : cases)
        for (int bytes : {16, 32, 64}) {
            const auto s = schedules_of(c.op, fork::make_cpu_target(bytes, 0, 0, 0, 2));
            BOOST_CHECK_MESSAGE(s.facts().form == c.form, c.op);
            BOOST_CHECK_MESSAGE(s.rows().size() >= c.least, c.op << ": " << s.rows().size() << " rows with vectors of " << bytes << " bytes");
        }
}

BOOST_AUTO_TEST_CASE(rows_are_legal_distinct_and_read_back) {
    for (const char* op : {"matmul(f32[256,256],f32[256,256])", "softmax(x: f32[512,2048], dim=-1)", "sum(x: f32[64,32], dim=0)", "relu(x: f32[512,4096])"}) {
        const auto s = schedules_of(op);
        std::set<fork::knob_pairs> seen;
        for (const fork::cpu_row& row : s.rows()) {
            BOOST_CHECK(s.check(row));
            const auto pairs = s.pairs(row);
            BOOST_CHECK(seen.insert(pairs).second);
            const auto again = s.row(pairs);
            BOOST_REQUIRE_MESSAGE(again, (again ? "" : again.error().line()));
            BOOST_CHECK(*again == row);
        }
    }
}

BOOST_AUTO_TEST_CASE(refusals_name_knob_value_and_bound) {
    const auto mm = schedules_of("matmul(f32[256,256],f32[256,256])");
    BOOST_CHECK_EQUAL(refusal(mm, {{"WORK", "w2x2"}}), "WORK: found 'w2x2', expected t<n>x<m> or no text: a CPU has no warps");
    BOOST_CHECK_EQUAL(refusal(mm, {{"WORK", "t4x4"}, {"TILE", "f4x14"}}), "TILE: found 'f4x14', expected fn * fm + fn + 1 <= 32 vector registers");
    BOOST_CHECK_EQUAL(refusal(mm, {{"WORK", "t4x4"}, {"TILE", "f2x12"}, {"STAGE", "d8/smem"}}), "STAGE: found 'd8/smem', expected a smaller depth: the reduced extent is 256");
    BOOST_CHECK_EQUAL(refusal(mm, {{"TILE", "f2x12"}, {"STAGE", "d1/smem"}}), "WORK: found '', expected t<n>x<m>: packed panels serve a macro tile");
    BOOST_CHECK_EQUAL(refusal(mm, {{"TILE", "f3x8"}}), "STAGE: found '', expected packed panels: the inner extent is no multiple of 48");
    BOOST_CHECK_EQUAL(refusal(mm, {{"TILE", "f2x1"}}), "TILE: found [f2x1], expected no x1 (spell it without) at offset 2");
    BOOST_CHECK_EQUAL(refusal(mm, {{"PLACE@map.1/inner", "cut"}}), "PLACE@map.1/inner: found key 'PLACE@map.1/inner', expected one of the kernel's families");
    BOOST_CHECK_EQUAL(refusal(mm, {{"WORK", "t4x4"}, {"WORK", "t8x8"}}), "WORK: found the key twice ('t4x4' and 't8x8'), expected it once");
    const auto sm = schedules_of("softmax(x: f32[512,2048], dim=-1)");
    BOOST_CHECK_EQUAL(refusal(sm, {{"WORK", "t32"}, {"REDUCE", "coop"}}), "WORK: found 't32', expected t4, t8 or t16 lanes, at most 16");
    BOOST_CHECK_EQUAL(refusal(sm, {{"REDUCE", "coop"}}), "REDUCE: found 'coop', expected WORK t... of width 2 or more for coop");
    BOOST_CHECK_EQUAL(refusal(sm, {{"TILE", "f4"}}), "TILE: found 'f4', expected no text: the kernel has no output tile");
    const auto map = schedules_of("relu(x: f32[512,4096])");
    BOOST_CHECK_EQUAL(refusal(map, {{"REDUCE", "r2"}}), "REDUCE: found key 'REDUCE', expected one of the kernel's families");
}

BOOST_AUTO_TEST_CASE(an_invalid_body_is_refused_before_it_is_lifted) {
    auto graph = program::parse_op("matmul(f32[256,256],f32[256,256])");
    BOOST_REQUIRE(graph);
    auto made = loop::lower_single_op(*graph);
    BOOST_REQUIRE(made);
    loop::kernel wrong = made->kernel;
    for (loop::stmt& s : wrong.body.stmts)
        if (s.kind == loop::stmt_kind::load && s.index.count == 2) {
            s.index.count = 1;
            break;
        }
    const auto refused = fork::cpu_schedules::make(wrong, {});
    BOOST_REQUIRE(!refused);
    BOOST_CHECK(refused.error().kind() == fault_kind::input);
    BOOST_CHECK_MESSAGE(refused.error().line().find(".attrs.body[0]") != std::string::npos, refused.error().line());
}

BOOST_AUTO_TEST_CASE(the_page_is_the_table) {
    const auto page = read_file(EMMY_SOURCE_DIR "/doc/cpu-knobs.md");
    BOOST_REQUIRE(page);
    std::size_t rows = 0;
    for (std::size_t at = page->find("| forms | field"); (at = page->find("\n| ", at)) != std::string::npos; ++at) ++rows;
    BOOST_CHECK_EQUAL(rows - 1, std::size(fork::cpu_knob_table));  // the rule under the head is one
    for (const fork::cpu_knob_meaning& m : fork::cpu_knob_table) {
        const std::string line = "| " + std::string(m.form) + " | `" + std::string(m.field) + "` | " + std::string(m.meaning) + " |\n";
        BOOST_CHECK_MESSAGE(page->find(line) != std::string::npos, line);
    }
}
