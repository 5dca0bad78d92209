// store/tables.hpp: text forms, refusals, and what is written is what is read.
#include <emmy/store.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <algorithm>

using namespace emmy;
using namespace emmy::store;

BOOST_AUTO_TEST_CASE(row_digests_of_the_peer) {
    const std::pair<knob_list, std::string> known[] = {
        {{}, "4720b3de75cf75f0ea119a52739d60a2a1f6baefce67757be048f525796f01cd"},
        {{{"REDUCE", "g4k"}}, "f9c12865915afa26674a560938c44d314cb4f105a51d9f8efebf9315296fd963"},
        {{{"PLACE@map.2/inner", "cut"}}, "e3b1cfc252bc98c0fd879abc511590a80dda8b27f20cf557766867f4df072496"},
        {{{"WORK", "t128"}, {"RASTER", ""}, {"REDUCE", "coop"}}, "9c1d5cf3f3a816c888052717beee566ab94b6f26a125b6260328c10dc015fb17"},
        {{{"WORK", "t16x8"}, {"TILE", "f4x4"}, {"STAGE", "d3/smem-tma"}, {"REDUCE", ""}, {"RASTER", ""}}, "9a24e7764ca3bf798276b58be47b16d2d2e871517a758d324dfd51379b99a96d"},
    };
    for (const auto& [row, digest] : known) BOOST_TEST(row_digest(row) == digest);
    BOOST_TEST(row_text(known[3].first) == R"({"RASTER":"","REDUCE":"coop","WORK":"t128"})");
    BOOST_TEST(bind_text({{"seq_len", 512}, {"n", 4}}) == R"({"n":4,"seq_len":512})");
    BOOST_TEST(bind_text({}) == "{}");
    BOOST_TEST(bind_key({}) == 0u);
}

BOOST_AUTO_TEST_CASE(vocabularies_are_refused_by_name) {
    const auto db = test::store_with_one_kernel();
    const auto refused = [&](row_kind kind, const knob_list& row) {
        const auto done = db.write([&](write_transaction& txn) -> result<void> {
            EMMY_TRY(id, put_row(txn, kind, row));
            (void)id;
            return {};
        });
        return done ? std::string("stored") : done.error().line();
    };
    BOOST_TEST(refused(row_kind::schedule, {{"WORK", "t128"}, {"PLACE@map.1/inner", "cut"}}).starts_with("PLACE@map.1/inner: found \"cut\""));
    BOOST_TEST(refused(row_kind::schedule, {{"REDUCE", "g4k"}}).starts_with("REDUCE: found \"g4k\""));
    BOOST_TEST(refused(row_kind::schedule, {{"LAYOUT@w", "source"}}).starts_with("LAYOUT@w: "));
    BOOST_TEST(refused(row_kind::placement, {{"PLACE@map.1/inner", "cut"}, {"WORK", "t128"}}).starts_with("WORK: found \"t128\""));
    BOOST_TEST(refused(row_kind::placement, {{"REDUCE", "coop"}}).starts_with("REDUCE: found \"coop\""));
    BOOST_TEST(refused(row_kind::placement, {}).starts_with("found an empty arm"));
    BOOST_TEST(refused(row_kind::schedule, {{"WORK", "t1\"28"}}).starts_with("row: "));
    BOOST_TEST(refused(row_kind::schedule, {{"TILE", "f4x1"}}) == "TILE: found \"f4x1\", expected a value of TILE");
    BOOST_TEST(refused(row_kind::schedule, {{"WORK", "t128"}, {"WORK", "t64"}}).starts_with("WORK: found the knob twice"));
    auto txn = db.read();
    BOOST_TEST(txn->count(layout::table::row).value() == 0u);
}

BOOST_AUTO_TEST_CASE(everything_written_is_read_back) {
    const auto db = test::store_with_one_kernel();
    const context hot = test::a_context(), cold{"cpu", "cpu: x f6m1 avx2 2c 1/2", 0, 3, true, "--use_fast_math team=2"};
    const digest128 piece{3, 4};
    EMMY_REQUIRE_OK(db.write([&](write_transaction& txn) -> result<void> {
        EMMY_CHECK_OK(put_kernel(txn, test::a_kernel(piece, "k_piece")));
        EMMY_TRY(first, put_context(txn, hot));
        EMMY_TRY(second, put_context(txn, cold));
        EMMY_TRY(again, put_context(txn, hot));
        BOOST_TEST(first == again);
        BOOST_TEST(first != second);
        EMMY_TRY(arm, put_row(txn, row_kind::placement, {{"PLACE@map.1/inner", "cut"}}));
        const digest128 pieces[] = {piece, piece, test::one_kernel};
        EMMY_CHECK_OK(put_route(txn, test::one_kernel, arm, pieces));
        EMMY_CHECK_OK(put_route(txn, test::one_kernel, arm, std::span(pieces, 2)));
        EMMY_TRY(src, put_source(txn, {"golden:0123456789ab", "peer", std::string(64, 'a'), 5, 1, 2, 3, 4}));
        EMMY_TRY(bind, put_bindings(txn, {{"seq_len", 512}}));
        EMMY_CHECK_OK(put_taken(txn, first, test::one_kernel, bind, arm, src));
        EMMY_CHECK_OK(put_identity(txn, {7, 8}, piece));
        return put_fact(txn, "ceilings", "1 2 3");
    }));
    auto txn = db.read();
    BOOST_TEST((read_context(*txn, find_context(*txn, cold)->value()).value() == cold));
    BOOST_TEST(all_contexts(*txn)->size() == 2u);
    const auto kernel = read_kernel(*txn, piece);
    BOOST_TEST(kernel->name == "k_piece");
    BOOST_TEST(kernel->body == test::a_kernel().body);
    const auto routes = routes_of(*txn, test::one_kernel);
    BOOST_REQUIRE(routes->size() == 1u);
    BOOST_TEST((routes->at(0).children == std::vector<digest128>{piece, piece}));
    BOOST_TEST((read_row(*txn, routes->at(0).arm).value() == knob_list{{"PLACE@map.1/inner", "cut"}}));
    const auto source = find_source(*txn, "golden:0123456789ab");
    BOOST_TEST((read_source(*txn, source->value()).value() == source_record{"golden:0123456789ab", "peer", std::string(64, 'a'), 5, 1, 2, 3, 4}));
    BOOST_TEST((find_identity(*txn, {7, 8})->value() == piece));
    BOOST_TEST((read_bindings(*txn, bind_key({{"seq_len", 512}})).value() == binding_list{{"seq_len", 512}}));
    BOOST_TEST(find_fact(*txn, "ceilings")->value() == "1 2 3");
    BOOST_TEST(!find_fact(*txn, "other")->has_value());
    test::require_clean(db);
}

BOOST_AUTO_TEST_CASE(a_clash_of_identities_is_an_error) {
    const auto db = test::store_with_one_kernel();
    auto other = test::a_kernel();
    other.check = {9, 9};
    const auto done = db.write([&](write_transaction& txn) { return put_kernel(txn, other); });
    BOOST_REQUIRE(!done);
    BOOST_TEST((done.error().kind() == fault_kind::store));
    BOOST_TEST(done.error().line().find("two different kernels") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_fastest_row_comes_first) {
    const auto db = test::store_with_one_kernel();
    int row = 0;
    for (const double us : {40.0, 9.5, 12.0, 0.25, 1e6}) test::add(db, {{"WORK", std::string("t").append(std::to_string(32 * ++row))}}, test::time(us), "golden:0123456789ab");
    test::add(db, {{"WORK", "t1024"}}, test::time(0.1, outcome::wall), "golden:0123456789ab");
    std::vector<double> order;
    for (const auto& m : test::measurements(db)) order.push_back(m.time.median);
    BOOST_TEST((order == std::vector<double>{0.25, 9.5, 12.0, 40.0, 1e6, 0.1}));
}

BOOST_AUTO_TEST_CASE(times_and_kernels_are_checked_before_they_are_stored) {
    const auto db = test::store_with_one_kernel();
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        const auto done = db.write([&](write_transaction& txn) -> result<void> {
            EMMY_TRY(ctx, put_context(txn, test::a_context()));
            EMMY_TRY(row, put_row(txn, row_kind::schedule, {{"WORK", "t128"}}));
            EMMY_TRY(src, put_source(txn, {"golden:0123456789ab", "peer", "", 0, 0, 0, 0, 0}));
            EMMY_TRY(stored, put_measurement(txn, ctx, test::one_kernel, 0, row, src, test::time(bad)));
            (void)stored;
            return {};
        });
        BOOST_TEST(!done.has_value());
    }
    BOOST_TEST(test::measurements(db).empty());
    auto txn = db.read();
    BOOST_TEST(txn->count(layout::table::ctx).value() == 0u);  // nothing of a refused transaction stays
}

BOOST_AUTO_TEST_CASE(check_finds_what_was_broken) {
    using layout::table;
    const auto failing = [](auto&& spoil) {
        const auto db = test::store_with_one_kernel();
        test::add(db, {{"WORK", "t128"}}, test::time(4), "golden:0123456789ab");
        EMMY_REQUIRE_OK(db.write([&](write_transaction& txn) { return spoil(txn); }));
        auto txn = db.read();
        std::string names;
        const auto lines = check(*txn);
        for (const auto& l : *lines)
            if (l.failed > 0) names += (names.empty() ? "" : ",") + l.name;
        return names;
    };
    const auto row1 = layout::key().u32(1);
    BOOST_TEST(failing([](write_transaction&) -> result<void> { return {}; }) == "");
    // A knob value changed under a row: its digest no longer names it.
    BOOST_TEST(failing([&](write_transaction& txn) { return txn.put(table::str, layout::key().u8(2).u16(0), "t256"); }) == "digests,references");
    BOOST_TEST(failing([&](write_transaction& txn) { return txn.erase(table::row, row1); }) == "digests,references");
    BOOST_TEST(failing([&](write_transaction& txn) { return txn.erase(table::kernel, layout::key().digest(test::one_kernel)); }) == "references");
    BOOST_TEST(failing([&](write_transaction& txn) { return txn.put(table::row, row1, std::string("\1\1\0\0\0\0\0", 7)); }) == "references,vocabularies");
    BOOST_TEST(failing([&](write_transaction& txn) -> result<void> {
        EMMY_TRY(id, put_context(txn, {"cuda", "Card X", 90, 3, false, ""}));
        (void)id;
        return {};
    }) == "cards");
    BOOST_TEST(failing([&](write_transaction& txn) -> result<void> {
        EMMY_TRY(at, txn.open_cursor(table::perf_by));
        EMMY_TRY(any, at.first());
        BOOST_TEST(any);
        return txn.erase(table::perf_by, std::string(at.key()));
    }) == "references");
}
