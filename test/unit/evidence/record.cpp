// evidence/record.hpp: what a bench writes is found again; evidence/import.hpp and scope.hpp on own documents.
#include <emmy/evidence.hpp>
#include <emmy/golden/scope.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <fstream>

using namespace emmy;
using namespace emmy::evidence;

namespace {
local_measurement measured(double us, store::outcome how = store::outcome::captured) {
    return {test::a_context(), test::a_kernel(), {{"n", 512}}, {{"RASTER", ""}, {"WORK", "t128"}}, test::time(us, how), how == store::outcome::failed ? "hung" : ""};
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_recorded_row_is_cached) {
    const auto db = temporary_store();
    BOOST_REQUIRE(db);
    const local_measurement one = measured(5);
    BOOST_TEST(record_measurements(*db, {&one, 1}, "emmy-cpp/1").value() == 1u);
    const local_measurement slower = measured(6), failed = measured(1, store::outcome::failed);
    BOOST_TEST(record_measurements(*db, {&slower, 1}, "emmy-cpp/1").value() == 0u);
    BOOST_TEST(record_measurements(*db, {&failed, 1}, "emmy-cpp/1").value() == 0u);
    auto txn = db->read();
    const auto found = find_local(*txn, one.context, test::one_kernel, one.bindings, one.row, "emmy-cpp/1");
    BOOST_REQUIRE(found.has_value());
    BOOST_REQUIRE(found->has_value());
    BOOST_TEST((*found)->median == 5.0);
    BOOST_TEST((*found)->samples == 20u);
    BOOST_TEST(!find_local(*txn, one.context, test::one_kernel, one.bindings, one.row, "emmy-cpp/2")->has_value());
    BOOST_TEST(!find_local(*txn, one.context, test::one_kernel, {}, one.row, "emmy-cpp/1")->has_value());
    BOOST_TEST(tried_schedules(*txn, one.context, test::one_kernel, one.bindings).value() == 1u);
    test::require_clean(*db);
}

BOOST_AUTO_TEST_CASE(a_failure_is_kept_with_the_placeholder) {
    const auto db = temporary_store();
    const local_measurement failed = measured(1, store::outcome::failed);
    BOOST_TEST(record_measurements(*db, {&failed, 1}, "emmy-cpp/1").value() == 1u);
    auto rows = test::measurements(*db);
    BOOST_REQUIRE(rows.size() == 1u);
    BOOST_TEST(rows[0].time.median == store::failed_us);
    BOOST_TEST(rows[0].time.samples == 0u);
    BOOST_TEST(store::read_failure(*db->read(), rows[0].key).value() == "hung");
    const local_measurement better = measured(5);
    BOOST_TEST(record_measurements(*db, {&better, 1}, "emmy-cpp/1").value() == 1u);
    rows = test::measurements(*db);
    BOOST_REQUIRE(rows.size() == 1u);
    BOOST_TEST(store::read_failure(*db->read(), rows[0].key).value() == "");
    test::require_clean(*db);
}

BOOST_AUTO_TEST_CASE(a_dataset_store_takes_no_bench) {
    const auto db = temporary_store(store::store_kind::dataset);
    const local_measurement one = measured(5);
    const auto done = record_measurements(*db, {&one, 1}, "emmy-cpp/1");
    BOOST_REQUIRE(!done);
    BOOST_TEST((done.error().kind() == fault_kind::user));
    BOOST_TEST(!prepare_scope(*db, "", {"NVIDIA H100 80GB", 9, 0}).has_value());
}

BOOST_AUTO_TEST_CASE(own_documents_are_imported_once) {
    const std::string file = std::string(EMMY_TEST_DATA) + "/golden_every_construct.json";
    const auto db = temporary_store(store::store_kind::dataset);
    const auto dry = import_file(*db, file, "golden", true);
    BOOST_REQUIRE_MESSAGE(dry, test::why(dry));
    BOOST_TEST(!dry->skipped);
    BOOST_TEST(test::measurements(*db).empty());
    const auto first = import_file(*db, file);
    BOOST_REQUIRE_MESSAGE(first, test::why(first));
    BOOST_TEST(first->label == golden_label(file).value());
    BOOST_TEST(first->kernels > 0u);
    BOOST_TEST(first->offered == dry->offered);
    BOOST_TEST(first->stored <= first->offered);
    BOOST_TEST(test::measurements(*db).size() == first->stored);
    const auto second = import_file(*db, file);
    BOOST_TEST(second->skipped);
    BOOST_TEST(db->epoch().value() == 1u);
    test::require_clean(*db);
}

BOOST_AUTO_TEST_CASE(scope_of_a_named_file) {
    const std::string file = std::string(EMMY_TEST_DATA) + "/golden_every_construct.json";
    const auto document = golden::document::load(file);
    BOOST_REQUIRE(document.has_value());
    const golden::header& head = document->head();
    const golden::card_id card{std::string(head.gpu_name.value_or("")), head.compute_major, head.compute_minor};
    const auto db = temporary_store();
    const auto first = prepare_scope(*db, file, card);
    BOOST_REQUIRE_MESSAGE(first, test::why(first));
    BOOST_TEST(first->imported == 1u);
    BOOST_TEST((first->labels == std::vector<std::string>{golden_label(file).value()}));
    const auto again = prepare_scope(*db, file, card);
    BOOST_TEST(again->imported == 0u);
    BOOST_TEST((again->labels == first->labels));
    BOOST_TEST(db->epoch().value() == 1u);
    const auto other = prepare_scope(*db, file, {"cpu: another one", 0, 0});
    BOOST_REQUIRE_MESSAGE(other, test::why(other));
    BOOST_TEST(other->labels.empty());
    BOOST_REQUIRE(other->refused.size() == 1u);
    BOOST_TEST(other->refused[0].find("measured rows are no evidence here") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bad_files_store_nothing) {
    const test::scratch dir;
    const auto db = temporary_store(store::store_kind::dataset);
    const auto refused = [&](std::string_view text) {
        std::ofstream(dir / "f.json") << text;
        const auto done = import_file(*db, dir / "f.json");
        BOOST_REQUIRE(!done);
        BOOST_TEST((done.error().kind() == fault_kind::input));
        BOOST_TEST(done.error().file() == dir / "f.json");
        return done.error().line();
    };
    BOOST_TEST(refused("version https://git-lfs.github.com/spec/v1\n").find("Git LFS pointer") != std::string::npos);
    refused("{\"gpu_name\": \"x\", \"compute_cap\": [9, 0], \"rows\": [");
    refused("{\"compute_cap\": [9, 0], \"other\": 1}");
    BOOST_TEST(db->epoch().value() == 0u);
    BOOST_TEST(import_file(*db, dir / "absent.json").error().line().find("cannot open") != std::string::npos);
}
