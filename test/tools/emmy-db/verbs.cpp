// emmy-db as its users run it.
#include <emmy/core/json.hpp>
#include <emmy/evidence.hpp>

#include <support/store.hpp>
#include <support/tool.hpp>

using namespace emmy;
using test::run_tool;

namespace {
std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

/// A tuning store with three rows of one kernel, one of them failed.
void make_store(const std::string& path) {
    const auto db = evidence::open_store(path, store::access::write, store::store_kind::tuning);
    BOOST_REQUIRE_MESSAGE(db, test::why(db));
    EMMY_REQUIRE_OK(db->write([](store::write_transaction& txn) { return store::put_kernel(txn, test::a_kernel()); }));
    test::add(*db, {{"WORK", "t128"}, {"RASTER", ""}}, test::time(12), "golden:0123456789ab", "", {{"n", 512}});
    test::add(*db, {{"WORK", "t256"}, {"RASTER", ""}}, test::time(9.5), "measured:host:emmy-cpp/1", "", {{"n", 512}});
    test::add(*db, {{"WORK", "t64"}, {"RASTER", ""}}, test::time(store::failed_us, store::outcome::failed), "measured:host:emmy-cpp/1", "hung", {{"n", 512}});
}
}  // namespace

BOOST_AUTO_TEST_CASE(help) {
    test::approve("emmy-db", run_tool("emmy-db", "--help").out);
    for (const char* verb : {"check", "stat", "rows"}) test::approve(std::string("emmy-db-") + verb, run_tool("emmy-db", std::string(verb) + " --help").out);
}

BOOST_AUTO_TEST_CASE(tables_of_a_small_store) {
    const test::scratch_folder dir;
    make_store(dir / "db");
    const auto check = run_tool("emmy-db", "check --db " + dir / "db");
    BOOST_TEST(check.code == 0, check.err);
    test::approve("emmy-db-check-table", check.out);
    test::approve("emmy-db-stat-table", run_tool("emmy-db", "stat --db " + dir / "db").out);
    test::approve("emmy-db-rows-table", run_tool("emmy-db", "rows --db " + dir / "db").out);
    test::approve("emmy-db-rows-json", run_tool("emmy-db", "rows --json - --db " + dir / "db").out);
    BOOST_TEST(lines(run_tool("emmy-db", "rows --format csv --source measured --db " + dir / "db").out) == 3u);
    BOOST_TEST(lines(run_tool("emmy-db", "rows --format csv --limit 1 --db " + dir / "db").out) == 2u);
    BOOST_TEST(lines(run_tool("emmy-db", "rows --format csv --kernel none --db " + dir / "db").out) == 1u);
    BOOST_TEST(run_tool("emmy-db", "stat", "EMMY_DB=" + dir / "db").code == 0);
}

BOOST_AUTO_TEST_CASE(a_flipped_knob_is_a_finding) {
    const test::scratch_folder dir;
    make_store(dir / "db");
    {
        const auto db = evidence::open_store(dir / "db", store::access::write);
        EMMY_REQUIRE_OK(db->write([](store::write_transaction& txn) {
            return txn.put(store::layout::table::str, store::layout::key().u8(static_cast<std::uint8_t>(store::layout::str_tag::knob_value)).u16(1), "t512");
        }));
    }
    const auto check = run_tool("emmy-db", "check --db " + dir / "db");
    BOOST_TEST(check.code == 1, check.out);
    BOOST_TEST(check.out.find("its digest names another row") != std::string::npos, check.out);
}

BOOST_AUTO_TEST_CASE(bad_stores) {
    const test::scratch_folder dir;
    std::filesystem::create_directories(dir / "empty");
    std::filesystem::create_directories(dir / "garbage");
    std::ofstream(dir / "garbage/data.mdb") << std::string(20000, 'x');
    std::ofstream(dir / "file") << "x";
    for (const char* name : {"absent", "empty", "garbage", "file"}) {
        const auto run = run_tool("emmy-db", std::string("check --db ") + (dir / name));
        BOOST_TEST(run.code == 5, run.err);
        BOOST_TEST(run.out.empty());
        BOOST_TEST(lines(run.err) == 1u, run.err);
        BOOST_TEST(run.err.find(dir / name) != std::string::npos, run.err);
    }
    BOOST_TEST(!std::filesystem::exists(dir / "absent"));
    for (const char* words : {"", "export", "rows --limit many"}) BOOST_TEST(run_tool("emmy-db", words).code == 2);
}
