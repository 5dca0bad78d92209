#include "common.hpp"

using namespace emmy;

namespace {
std::string pins_of(const store::knob_list& row) {
    std::string out;
    for (const auto& [key, value] : row) out += (out.empty() ? "" : ",") + key + "=" + value;
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(hanging_crashing_and_lying_kernels_cost_one_row_each) {
    test::no_goldens();
    const test::folder at;
    auto asked = test::settings_of(at.path);
    auto options = test::worker_of(at.path);
    options.run_seconds = 1;

    // Four rows of the kernel's own space, by hand.
    const auto found = tools::load_subjects(asked.common, {device::cpu::identify_host().card, 0, 0});
    BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.error().line()));
    auto s = bench::session::open(asked, options);
    BOOST_REQUIRE_MESSAGE(s, (s ? "" : s.error().line()));
    const auto schedules = fork::cpu_schedules::make(found->front().kernel, s->target);
    BOOST_REQUIRE_MESSAGE(schedules, (schedules ? "" : schedules.error().line()));
    BOOST_REQUIRE_GE(schedules->rows().size(), 5u);
    const auto rows = schedules->rows();
    for (int i = 1; i <= 4; ++i) s->asked.ab.push_back(pins_of(schedules->pairs(rows[i])));
    s->asked.ab.push_back("WORK=t7777");  // no such row
    s->text = [&](const fork::cpu_schedules&, const fork::cpu_row& row) -> result<kernel::cpu_text> {
        if (row == rows[1]) return test::matmul_text("for (volatile int forever = 1; forever;) {}", "s");
        if (row == rows[2]) return test::matmul_text("*(volatile int*)16 = 1;", "s");
        if (row == rows[3]) return test::matmul_text("", "i == 31 && j == 31 ? s + 1e-3f : s");  // one cell of 1024
        return test::matmul_text("", "s");
    };
    bench::runner runner(*s);
    const auto done = runner.run(found->front(), true);
    BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().line()));
    BOOST_REQUIRE_EQUAL(done->rows.size(), 6u);
    const auto check = [&](std::size_t i, bench::status wanted, const char* word) {
        const bench::bench_row& row = done->rows[i];
        BOOST_CHECK_MESSAGE(row.status == wanted, row.label << " is " << name(row.status) << ": " << row.reason);
        BOOST_CHECK_MESSAGE(row.reason.find(word) != std::string::npos, row.reason);
    };
    check(0, bench::status::ok, "");
    check(1, bench::status::bench_fail, "killed");
    check(2, bench::status::bench_fail, "SIGSEGV");
    check(3, bench::status::flagged, "1 of 1024 cells are wrong, the worst at 1023");
    check(4, bench::status::ok, "");
    check(5, bench::status::pin_unmatched, "t7777");
    BOOST_CHECK(done->finding());
    BOOST_CHECK_EQUAL(s->worker.started(), 3);

    // Recorded: the clean rows and the failures of their own making; neither the lie nor what was never benched.
    const auto txn = s->db->read();
    BOOST_REQUIRE(txn);
    const auto stored = [&](const store::knob_list& row) {
        const auto known = evidence::find_local(*txn, s->base.context, done->what.identity, done->what.bindings, row, bench::producer());
        return known && *known ? (*known)->ok() ? "ok" : "failed" : "absent";
    };
    BOOST_CHECK_EQUAL(stored(done->rows[0].record_knobs), "ok");
    BOOST_CHECK_EQUAL(stored(done->rows[1].record_knobs), "failed");
    BOOST_CHECK_EQUAL(stored(done->rows[2].record_knobs), "failed");
    BOOST_CHECK_EQUAL(stored(done->rows[3].record_knobs), "absent");
    BOOST_CHECK_EQUAL(stored(done->rows[4].record_knobs), "ok");
    BOOST_REQUIRE(done->second);
    BOOST_CHECK(done->second->decided == evidence::tier::own_row);
}

BOOST_AUTO_TEST_CASE(impossible_speed_is_flagged) {
    // What the second gate is for: a kernel whose answer is right but whose time cannot be.
    test::no_goldens();
    device::ceilings most;
    most.flops_f32 = 1e11;
    most.bandwidth = {{1 << 14, 2e11}, {1 << 26, 1e10}};
    device::work least;
    least.flops = 2.0 * 512 * 512 * 512, least.bytes = 3u << 20;
    BOOST_CHECK(device::implausible(3000, least, most).empty());
    BOOST_CHECK(device::implausible(1000, least, most).find("GFLOP/s") != std::string::npos);
    least.flops = 0;
    BOOST_CHECK(device::implausible(20, least, most).empty());
    BOOST_CHECK(device::implausible(9, least, most).find("GB/s") != std::string::npos);
    BOOST_CHECK(!device::implausible(0, least, most).empty());
    BOOST_CHECK(device::implausible(1, least, {}).empty());  // unknown device: no judgement
}
