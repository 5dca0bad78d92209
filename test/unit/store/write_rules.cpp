// store/write_rules.hpp: the peer's seven steps, one by one, and inside one source of a store.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

using namespace emmy;
using namespace emmy::store;

namespace {
constexpr write_claim file_row(double us, outcome how = outcome::captured) { return {false, how, us}; }
constexpr write_claim here(double us, outcome how = outcome::captured) { return {true, how, us}; }
constexpr bool is(write_verdict v, int step, bool stored) { return v.step == step && (v.decision == write_decision::store_offered) == stored; }

static_assert(is(decide_write(here(5), file_row(1)), 2, false));
static_assert(is(decide_write(here(failed_us, outcome::failed), file_row(1)), 2, false));
static_assert(is(decide_write(file_row(5), here(failed_us, outcome::failed)), 3, false));
static_assert(is(decide_write(file_row(9), here(1, outcome::wall)), 4, false));
static_assert(is(decide_write(file_row(1, outcome::wall), here(9)), 5, true));
static_assert(is(decide_write(file_row(5), here(5)), 6, false));
static_assert(is(decide_write(file_row(5, outcome::wall), here(6, outcome::wall)), 6, false));
static_assert(is(decide_write(file_row(5), here(4)), 7, true));
static_assert(is(decide_write(file_row(failed_us, outcome::failed), file_row(4)), 7, true));
static_assert(is(decide_write(here(failed_us, outcome::failed), here(failed_us, outcome::failed)), 7, true));
}  // namespace

BOOST_AUTO_TEST_CASE(each_step_through_a_store) {
    struct step { int number; timing stored, offered; bool replaces; };
    const auto at = [](double us, outcome how = outcome::captured) { return test::time(us, how); };
    const step steps[] = {
        {3, at(5), at(failed_us, outcome::failed), false}, {4, at(9), at(1, outcome::wall), false}, {5, at(1, outcome::wall), at(9), true},
        {6, at(5), at(5), false}, {6, at(5), at(6), false}, {7, at(5), at(4), true}, {7, at(failed_us, outcome::failed), at(4), true},
    };
    for (const step& s : steps) {
        BOOST_TEST_CONTEXT("step " << s.number) {
            const auto db = test::store_with_one_kernel();
            test::add(db, {{"WORK", "t128"}, {"RASTER", ""}}, s.stored, "measured:a:emmy-cpp/1");
            const bool replaced = test::add(db, {{"WORK", "t128"}, {"RASTER", ""}}, s.offered, "measured:a:emmy-cpp/1");
            BOOST_TEST(replaced == s.replaces);
            const auto rows = test::measurements(db);
            BOOST_REQUIRE(rows.size() == 1u);
            BOOST_TEST(rows[0].time.median == (s.replaces ? s.offered : s.stored).median);
            BOOST_TEST(static_cast<int>(rows[0].time.how) == static_cast<int>((s.replaces ? s.offered : s.stored).how));
            test::require_clean(db);
        }
    }
}

BOOST_AUTO_TEST_CASE(two_sources_lose_nothing) {
    const auto db = test::store_with_one_kernel();
    test::add(db, {{"WORK", "t128"}}, test::time(7), "measured:a:emmy-cpp/1");
    test::add(db, {{"WORK", "t128"}}, test::time(3), "golden:0123456789ab");
    test::add(db, {{"WORK", "t128"}}, test::time(failed_us, outcome::failed), "golden:ba9876543210", "ran\n out  of registers ");
    const auto rows = test::measurements(db);
    BOOST_REQUIRE(rows.size() == 3u);
    BOOST_TEST(rows[0].time.median == 3.0);
    BOOST_TEST(rows[1].time.median == 7.0);
    BOOST_TEST(!rows[2].time.ok());
    auto txn = db.read();
    BOOST_REQUIRE(txn.has_value());
    BOOST_TEST(read_failure(*txn, rows[2].key).value() == "ran out of registers");
    test::require_clean(db);
}

BOOST_AUTO_TEST_CASE(order_of_writing_does_not_matter_for_two_captured_rows) {
    for (const bool swapped : {false, true}) {
        const auto db = test::store_with_one_kernel();
        test::add(db, {{"WORK", "t128"}}, test::time(swapped ? 4 : 9), "golden:0123456789ab");
        test::add(db, {{"WORK", "t128"}}, test::time(swapped ? 9 : 4), "golden:0123456789ab");
        const auto rows = test::measurements(db);
        BOOST_REQUIRE(rows.size() == 1u);
        BOOST_TEST(rows[0].time.median == 4.0);
    }
}
