#include <emmy/evidence/cpu_options.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/prior/analytic.hpp>
#include <emmy/prior/cpu.hpp>
#include <emmy/program/op_text.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace emmy;

namespace {

const fork::cpu_target target = fork::make_cpu_target(64, 48 << 10, 2 << 20, 64 << 20, 4);

fork::cpu_schedules schedules_of(const char* op, const fork::cpu_target& on = target) {
    const auto graph = program::parse_op(op);
    BOOST_REQUIRE_MESSAGE(graph, op);
    auto kernel = loop::lower_single_op(*graph);
    BOOST_REQUIRE_MESSAGE(kernel, op);
    auto made = fork::cpu_schedules::make(kernel->kernel, on);
    BOOST_REQUIRE_MESSAGE(made, op);
    return std::move(*made);
}
fork::cpu_row row_of(const fork::cpu_schedules& s, std::vector<std::pair<std::string, std::string>> pairs) {
    auto row = s.row(pairs);
    BOOST_REQUIRE_MESSAGE(row, (row ? "" : row.error().line()));
    return *row;
}
double us(const fork::cpu_schedules& s, std::vector<std::pair<std::string, std::string>> pairs, int team = 1) {
    return prior::cpu_estimate(s, prior::make_cpu_machine(s.target(), team)).us(row_of(s, std::move(pairs)));
}
constexpr const char* ops[] = {"relu(x: f32[512,4096])", "relu(x: bf16[7,33])", "softmax(x: f32[512,2048], dim=-1)", "rms_norm(x: f16[512,4096], weight: f16[4096])", "sum(x: f32[512,4096], dim=0)",
    "sum(x: f32[64,4096], dim=-1)", "matmul(f32[512,512],f32[512,512])", "linear(x: f16[32,512], w: f16[256,512])", "relu(x: f32[rows=5,64])"};

}  // namespace

BOOST_AUTO_TEST_CASE(every_row_of_every_form_has_a_finite_time_above_the_launch) {
    for (const char* op : ops)
        for (const int vector_bytes : {16, 32, 64})
            for (const int team : {1, 4}) {
                const auto s = schedules_of(op, fork::make_cpu_target(vector_bytes, 32 << 10, 1 << 20, 32 << 20, 4));
                const prior::cpu_estimate estimate(s, prior::make_cpu_machine(s.target(), team));
                double least = 1e300;
                for (const fork::cpu_row& row : s.rows()) {
                    const double x = estimate.us(row);
                    BOOST_REQUIRE_MESSAGE(std::isfinite(x) && x > prior::cpu_terms().launch_us, op << " " << x);
                    least = std::min(least, x);
                }
                BOOST_TEST(estimate.least_us() == least);
            }
}

// What is known of each knob by itself, everything else equal.
BOOST_AUTO_TEST_CASE(terms_point_the_way_that_they_should) {
    const auto map = schedules_of("relu(x: f32[512,4096])");
    BOOST_TEST(us(map, {{"TILE", "f4"}}) < us(map, {}));
    const auto narrow = schedules_of("sum(x: f32[64,512,24], dim=1)");  // strips of 32 leave every column to the tail
    BOOST_TEST(us(narrow, {{"REDUCE", "coop-t"}, {"WORK", "t32"}}) < us(narrow, {{"REDUCE", "coop-t/v2"}, {"WORK", "t32"}}));
    const auto sums = schedules_of("sum(x: f32[512,4096], dim=-1)");
    BOOST_TEST(us(sums, {{"REDUCE", "coop/r4"}, {"WORK", "t16"}}) < us(sums, {{"REDUCE", "coop"}, {"WORK", "t16"}}));
    BOOST_TEST(us(sums, {{"REDUCE", "coop"}, {"WORK", "t16"}}) < us(sums, {{"REDUCE", "r4"}}));
    BOOST_TEST(us(sums, {{"REDUCE", "r4"}}) < us(sums, {}));
    const auto product = schedules_of("matmul(f32[512,512],f32[512,512])");
    const double good = us(product, {{"TILE", "f2x12"}, {"WORK", "t16x22"}, {"STAGE", "d2/smem-async"}});
    BOOST_TEST(good < us(product, {{"TILE", "f1x4"}, {"WORK", "t16x22"}, {"STAGE", "d2/smem-async"}}));
    const auto wide = schedules_of("matmul(f32[64,2048],f32[2048,2048])");  // every step of k on a page of its own
    BOOST_TEST(us(wide, {{"TILE", "f2x12"}, {"WORK", "t16x8"}, {"STAGE", "d2/smem-async"}}) < us(wide, {{"TILE", "f2x12"}, {"WORK", "t16x8"}}));
    BOOST_TEST(10 * good < us(product, {}));
    // 512 rows in one block cannot be shared by four.
    BOOST_TEST(us(product, {{"TILE", "f2x12"}, {"WORK", "t16x11"}, {"STAGE", "d2/smem-async"}}, 4) < us(product, {{"TILE", "f2x12"}, {"WORK", "t16x43"}, {"STAGE", "d2/smem-async"}}, 4));
}

BOOST_AUTO_TEST_CASE(the_pick_is_the_least_row_whatever_the_order_of_the_options) {
    for (const char* op : ops) {
        const auto s = schedules_of(op);
        const prior::analytic prior(prior::make_cpu_machine(target));
        auto options = evidence::cpu_options::make(s);
        BOOST_REQUIRE(options);
        const evidence::schedule_fork fork{"k", loop::identity(s.kernel()), {}, "schedule", &*options};
        const auto picked = evidence::pick_schedule(nullptr, fork, evidence::strictness::off, &prior);
        BOOST_REQUIRE(picked);
        BOOST_CHECK(picked->decided == evidence::tier::prior);
        BOOST_TEST(picked->prior == "analytic/1");
        const prior::cpu_estimate estimate(s, prior.machine());
        store::knob_list least;
        for (const fork::cpu_row& row : s.rows())
            if (estimate.us(row) == picked->predicted_us)
                if (store::knob_list pairs = s.pairs(row); least.empty() || pairs < least) least = std::move(pairs);
        BOOST_TEST((least == picked->chosen), op);
        BOOST_TEST(estimate.least_us() == picked->predicted_us);
        BOOST_TEST(prior.kernel_us(s.kernel(), {}).value() == picked->predicted_us);
        BOOST_TEST(!evidence::pick_schedule(nullptr, fork, evidence::strictness::measured, &prior));
    }
}

BOOST_AUTO_TEST_CASE(a_pin_leaves_the_prior_less_to_choose_from) {
    const auto s = schedules_of("matmul(f32[512,512],f32[512,512])");
    const prior::analytic prior(prior::make_cpu_machine(target));
    auto options = evidence::cpu_options::make(s, {{"TILE", "f1x8"}});
    BOOST_REQUIRE(options);
    const auto picked = evidence::pick_schedule(nullptr, {"k", {}, {}, "schedule", &*options}, evidence::strictness::off, &prior);
    BOOST_REQUIRE(picked);
    BOOST_TEST(evidence::knobs_text(picked->chosen).find("TILE=f1x8") != std::string::npos);
}

// A size that is not the hint changes the time.
BOOST_AUTO_TEST_CASE(sizes_of_symbols_are_those_of_the_compile) {
    const auto s = schedules_of("softmax(x: f32[rows=512,2048])");
    const prior::cpu_machine m = prior::make_cpu_machine(target);
    BOOST_TEST(prior::cpu_estimate(s, m, {}, {{"rows", 4096}}).least_us() > 6 * prior::cpu_estimate(s, m, {}, {{"rows", 512}}).least_us());
    BOOST_TEST(prior::cpu_estimate(s, m, {}, {{"rows", 512}}).least_us() == prior::cpu_estimate(s, m).least_us());
}
