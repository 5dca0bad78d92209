#include <emmy-bench/report.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <set>
#include <unistd.h>

using namespace emmy;

namespace {

struct serve {
    serve() {
        auto& suite = boost::unit_test::framework::master_test_suite();
        if (const int status = device::serve_if_worker(suite.argc, suite.argv); status >= 0) ::_exit(status);
        ::setenv("EMMY_GOLDEN_FILE", "", 1);
        ::unsetenv("EMMY_KNOBS");
        ::unsetenv("EMMY_FAST_MATH");
    }
};
BOOST_TEST_GLOBAL_FIXTURE(serve);

struct place {
    std::string path = "/tmp/emmy-test-tools-XXXXXX";
    place() { BOOST_REQUIRE(::mkdtemp(path.data())); }
    ~place() { BOOST_CHECK_EQUAL(std::system(("rm -rf '" + path + "'").c_str()), 0); }

    bench::settings settings(const std::string& op) const {
        bench::settings out;
        out.common.db = path + "/store";
        out.common.op = op;
        out.common.quiet = true;
        out.seconds = 0.01;
        out.prior.none = true;  // the first option is the same on every machine
        return out;
    }
    bench::session session(bench::settings asked) const {
        device::worker_options worker;
        worker.arguments = {"--", std::string(device::worker_argument)};
        worker.cache_directory = path + "/cache";
        auto s = bench::session::open(std::move(asked), std::move(worker));
        BOOST_REQUIRE_MESSAGE(s, (s ? "" : s.error().line()));
        return std::move(*s);
    }
    bench::bench_result run(bench::session& s, bool ab) const {
        auto subjects = tools::load_subjects(s.asked.common, s.card);
        BOOST_REQUIRE_MESSAGE(subjects, (subjects ? "" : subjects.error().line()));
        bench::runner runner(s);
        auto done = runner.run(std::move(subjects->front()), ab);
        BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().line()));
        return std::move(*done);
    }
};

constexpr const char* relu = "relu(x: f32[64,256])";

const json::value& at(const json::value& v, std::string_view key) {
    const json::value* found = v.find(key);
    BOOST_REQUIRE_MESSAGE(found, "no \"" << key << "\"");
    return *found;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(first_bench_measures_second_picks_the_fastest, place) {
    auto asked = settings(relu);
    asked.sample = 4, asked.common.seed = 7;
    bench::session s = session(asked);
    const bench::bench_result first = run(s, false);
    BOOST_REQUIRE(first.first);
    BOOST_REQUIRE(first.second);
    BOOST_CHECK(first.first->decided == evidence::tier::first_option);
    BOOST_CHECK(first.second->decided == evidence::tier::own_row);
    BOOST_REQUIRE_EQUAL(first.rows.size(), 4u);
    const bench::bench_row* fastest = &first.rows[0];
    for (const bench::bench_row& r : first.rows) {
        BOOST_CHECK_MESSAGE(r.status == bench::status::ok, r.reason);
        if (r.time.median < fastest->time.median) fastest = &r;
    }
    BOOST_CHECK(first.second->chosen == fastest->record_knobs);
    BOOST_CHECK(!first.finding());
    BOOST_REQUIRE(first.reference);
    BOOST_CHECK_EQUAL(first.reference->name, "copy 1t");

    bench::session t = session(asked);
    const bench::bench_result second = run(t, false);
    BOOST_CHECK(second.first->decided == evidence::tier::own_row);
    BOOST_CHECK(second.first->chosen == fastest->record_knobs);
    std::set<std::string> before, after;
    for (const auto& r : first.rows) before.insert(evidence::knobs_text(r.record_knobs));
    for (const auto& r : second.rows) {
        after.insert(evidence::knobs_text(r.record_knobs));
        BOOST_CHECK(r.status == bench::status::cached);
    }
    BOOST_CHECK(before == after);

    asked.again = true;
    bench::session u = session(asked);
    for (const auto& r : run(u, false).rows) BOOST_CHECK(r.status == bench::status::ok);
}

BOOST_FIXTURE_TEST_CASE(machine_format_has_the_fields_of_the_schema, place) {
    auto asked = settings(relu);
    bench::session s = session(asked);
    s.asked.ab = {"FAST_MATH=true", "WORK=t7777"};
    const bench::bench_result done = run(s, true);
    BOOST_CHECK(done.finding());
    const std::string text = bench::machines(s, {done}, {});
    const auto doc = json::document::parse(text);
    BOOST_REQUIRE_MESSAGE(doc, (doc ? "" : doc.error().line()));
    const json::value& root = doc->root();
    BOOST_CHECK_EQUAL(at(root, "schema").text(), "emmy.bench/1");
    BOOST_CHECK_EQUAL(at(root, "card").text(), device::cpu::identify_host().card);
    const json::value& greedy = at(root, "greedy");
    BOOST_CHECK_EQUAL(at(greedy, "lane").text(), "std");
    BOOST_CHECK_EQUAL(at(greedy, "status").text(), "ok");
    BOOST_CHECK(at(greedy, "us").is(json::kind::real));
    // Every family of the kernel is written out, OFF ones too.
    const json::value& knobs = at(greedy, "record_knobs");
    for (const char* family : {"WORK", "TILE", "RASTER"}) BOOST_CHECK_MESSAGE(knobs.find(family), family);
    const auto pinned = at(root, "pinned").items();
    BOOST_REQUIRE_EQUAL(pinned.size(), 2u);
    BOOST_CHECK_EQUAL(at(pinned[0], "lane").text(), "fm");
    BOOST_CHECK_EQUAL(at(pinned[0], "status").text(), "ok");
    BOOST_CHECK_EQUAL(at(pinned[1], "status").text(), "pin_unmatched");
    BOOST_CHECK(at(pinned[1], "us").is(json::kind::null));
    BOOST_CHECK(at(pinned[1], "error").text().find("unreproducible pin WORK=t7777") != std::string_view::npos);
    at(at(root, "reference"), "ratio");
    BOOST_CHECK_EQUAL(at(at(root, "first_pick"), "tier").text(), "first option");
    // The fast-math row is no evidence for the standard lane.
    BOOST_CHECK_EQUAL(at(at(root, "second_pick"), "rows_seen").text(), "1");
    BOOST_CHECK(bench::people(s, done, tools::format::table).find("NOT benched") != std::string::npos);
    BOOST_CHECK(bench::lines({done}).find("pin_unmatched") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(pick_is_measured_again_beside_fresh_pinned_rows, place) {
    bench::session s = session(settings(relu));
    BOOST_CHECK(run(s, false).rows.front().status == bench::status::ok);
    BOOST_CHECK(run(s, false).rows.front().status == bench::status::cached);
    const auto schedules = fork::cpu_schedules::make(tools::load_subjects(s.asked.common, s.card)->front().kernel, s.target);
    BOOST_REQUIRE(schedules);
    std::string other;
    for (const auto& [key, value] : schedules->pairs(schedules->rows()[1])) other += (other.empty() ? "" : ",") + key + "=" + value;
    s.asked.ab = {other};
    const bench::bench_result fresh = run(s, true);
    BOOST_CHECK(fresh.rows[0].status == bench::status::ok);
    BOOST_CHECK(fresh.rows[1].status == bench::status::ok);
    BOOST_CHECK(!fresh.confirmation.empty());
    BOOST_CHECK(run(s, true).rows[1].status == bench::status::cached);
}

// A compiler that is not there, a cache that cannot be written: nothing about the row, so nothing of it is kept.
BOOST_FIXTURE_TEST_CASE(what_the_machine_lacks_is_no_finding_about_a_row, place) {
    auto asked = settings(relu);
    for (const char* variable : {"EMMY_CXX", "EMMY_CACHE_DIR"}) {
        const bool cache = variable == std::string("EMMY_CACHE_DIR");
        const char* before = std::getenv(variable);
        const std::string kept = before ? before : "";
        ::setenv(variable, cache ? "/proc/none" : "/nowhere/g++", 1);
        device::worker_options worker;
        worker.arguments = {"--", std::string(device::worker_argument)};
        if (!cache) worker.cache_directory = path + "/cache";
        auto s = bench::session::open(asked, std::move(worker));
        BOOST_REQUIRE(s);
        auto subjects = tools::load_subjects(s->asked.common, s->card);
        BOOST_REQUIRE(subjects);
        bench::runner runner(*s);
        const auto done = runner.run(std::move(subjects->front()), false);
        before ? ::setenv(variable, kept.c_str(), 1) : ::unsetenv(variable);
        BOOST_REQUIRE(!done);
        BOOST_CHECK_EQUAL(exit_code(done.error().kind()), 4);
    }
    bench::session s = session(asked);
    const bench::bench_result done = run(s, false);
    BOOST_CHECK(done.first->decided == evidence::tier::first_option);
    BOOST_CHECK(done.rows.front().status == bench::status::ok);
}

BOOST_FIXTURE_TEST_CASE(what_the_kernel_does_is_recorded_and_not_tried_again, place) {
    for (const char* line : {"*(volatile int*)8 = 1;", "nonsense("}) {
        auto asked = settings(relu);
        asked.common.db += std::to_string(line[0]);
        bench::session s = session(asked);
        s.text = [&](const fork::cpu_schedules& schedules, const fork::cpu_row& row) {
            auto text = kernel::lower_cpu(schedules, row);
            const auto at = text->source.rfind(text->entry);
            text->source.insert(text->source.find('{', at) + 1, line);
            return text;
        };
        const bench::bench_result done = run(s, false);
        BOOST_CHECK_MESSAGE(done.rows.front().status == bench::status::bench_fail, done.rows.front().reason);
        BOOST_CHECK(!done.reference);  // the pick that failed is not run again beside it
        bench::session again = session(asked);
        BOOST_CHECK(run(again, false).rows.front().status != bench::status::cached);
    }
}

BOOST_AUTO_TEST_CASE(one_rule_of_quality) {
    const bench::quality asked{20, 0.3};
    BOOST_CHECK(asked.enough(20, 1));
    BOOST_CHECK(!asked.enough(19, 1));
    BOOST_CHECK(asked.enough(3, 100'000));
    BOOST_CHECK(!asked.enough(2, 100'000));
    BOOST_CHECK(asked.enough(4, 100'000, 2));
    BOOST_CHECK(!asked.enough(4, 100'000, 3));
}

BOOST_FIXTURE_TEST_CASE(pinned_texts_are_checked_before_anything_runs, place) {
    bench::session s = session(settings(relu));
    s.asked.ab = {"WORK=t4", "WROK=t4"};
    BOOST_REQUIRE(!s.ab_rows());
    BOOST_CHECK_MESSAGE(s.ab_rows().error().line().starts_with("--ab 2: "), s.ab_rows().error().line());
    s.asked.ab = {"WORK=t4", " WORK=t4"};
    BOOST_CHECK(!s.ab_rows());
    s.asked.ab = {"WORK=t4", "WORK=t8"};
    BOOST_CHECK(s.ab_rows());
}

// Ceilings that a bench measured stay in the store, where the prior of the next command reads them.
BOOST_FIXTURE_TEST_CASE(the_prior_answers_and_learns_the_ceilings_of_the_machine, place) {
    auto asked = settings(relu);
    asked.prior.none = false;
    bench::session s = session(asked);
    BOOST_REQUIRE(s.prior.hook());
    BOOST_CHECK(!s.prior.model->machine().measured);
    const bench::bench_result done = run(s, false);
    BOOST_CHECK(done.first->decided == evidence::tier::prior);
    BOOST_CHECK(done.first->prior.starts_with("analytic/"));
    BOOST_CHECK_GT(done.first->predicted_us, 0);
    BOOST_CHECK(done.second->decided == evidence::tier::own_row);
    BOOST_CHECK(session(asked).prior.model->machine().measured);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_recorded_when_asked_not_to, place) {
    auto asked = settings(relu);
    asked.record = false;
    bench::session s = session(asked);
    const bench::bench_result done = run(s, false);
    BOOST_CHECK(done.rows.front().status == bench::status::ok);
    BOOST_CHECK(done.second->decided == evidence::tier::first_option);
    BOOST_CHECK_NE(::access(asked.common.db.c_str(), F_OK), 0);
}

BOOST_FIXTURE_TEST_CASE(dump_holds_program_body_text_and_report, place) {
    auto asked = settings("softmax(x: f32[8,64], dim=-1)");
    asked.common.dump = path + "/dump";
    bench::session s = session(asked);
    const bench::bench_result done = run(s, false);
    const auto dumped = bench::dump(s, done);
    BOOST_REQUIRE_MESSAGE(dumped, (dumped ? "" : dumped.error().line()));
    for (const char* name : {"program.json", "body.json", "row0.cpp", "report.json"}) BOOST_CHECK_MESSAGE(read_file(path + "/dump/" + done.what.kernel.name + "/" + name), name);
}

BOOST_FIXTURE_TEST_CASE(wrong_requests_are_refused, place) {
    auto asked = settings(relu);
    asked.common.device = "cuda";
    const auto device = bench::session::open(asked);
    BOOST_REQUIRE(!device);
    BOOST_CHECK_EQUAL(exit_code(device.error().kind()), 4);
    asked = settings(relu), asked.common.pin = {"TEAM=0"};
    BOOST_CHECK(!bench::session::open(asked));
    asked = settings(relu), asked.common.pin = {"NOSUCH=1"};
    BOOST_CHECK(!bench::session::open(asked));
    tools::common_options options;
    options.op = relu, options.realization = "x";
    BOOST_CHECK(!tools::load_subjects(options, {}));
    options.realization.clear(), options.dynamic = {"nosuch=4"};
    BOOST_CHECK(!tools::load_subjects(options, {}));
}

BOOST_AUTO_TEST_CASE(samples_are_the_same_for_one_seed_and_start_with_the_default) {
    const auto a = bench::sample_options(200, 42, 5);
    BOOST_CHECK(a == bench::sample_options(200, 42, 5));
    BOOST_CHECK(a != bench::sample_options(200, 42, 6));
    BOOST_CHECK_EQUAL(a.size(), 42u);
    BOOST_CHECK_EQUAL(a.front(), 0u);
    BOOST_CHECK_EQUAL((std::set<std::size_t>(a.begin(), a.end()).size()), 42u);
    BOOST_CHECK_EQUAL(bench::sample_options(3, 42, 5).size(), 3u);
    BOOST_CHECK(bench::sample_options(0, 42, 5).empty());
    BOOST_CHECK(bench::sample_options(3, 0, 5).empty());
    // A longer sample extends a shorter one.
    const auto longer = bench::sample_options(200, 60, 5);
    BOOST_CHECK(std::equal(a.begin(), a.end(), longer.begin()));
}
