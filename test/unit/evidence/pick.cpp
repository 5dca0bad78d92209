// evidence/pick.hpp: the tiers in order, what the report says, strictness, determinism.
#include <emmy/core/json.hpp>
#include <emmy/evidence.hpp>

#include <boost/test/unit_test.hpp>

#include "support/store.hpp"

#include <algorithm>
#include <random>

using namespace emmy;
using namespace emmy::evidence;

namespace {
const std::string own = "emmy-cpp/1", old = "emmy-cpp/0", golden_label_ = "golden:0123456789ab";
store::knob_list work(const std::string& w, const std::string& reduce = "coop") { return {{"RASTER", ""}, {"REDUCE", reduce}, {"WORK", w}}; }
const std::vector<store::knob_list> options{work("t32"), work("t64"), work("t128"), work("t256")};

struct asked {
    store::binding_list sizes = {};
    strictness strict = strictness::off;
    std::vector<std::string> labels = {golden_label_};
    store::context live = test::a_context();
    const std::vector<store::knob_list>* space = &options;
    bool pinned = false;
};
result<record> pick(const store::environment& db, const asked& a = {}) {
    const auto evidence = snapshot::open(db, a.live, a.labels, own);
    BOOST_REQUIRE_MESSAGE(evidence, test::why(evidence));
    const listed_options space(*a.space, a.pinned);
    return pick_schedule(&*evidence, {"k_one", test::one_kernel, a.sizes, "schedule", &space}, a.strict);
}
record must(result<record> r) {
    BOOST_REQUIRE_MESSAGE(r, test::why(r));
    return *r;
}
void is(const record& r, tier decided, const std::string& w, int tried = -1) {
    BOOST_TEST(name(r.decided) == name(decided));
    BOOST_TEST(knobs_text(r.chosen).find("WORK=" + w + "") != std::string::npos);
    if (tried >= 0) BOOST_TEST(r.rows_tried == static_cast<unsigned>(tried));
}
}  // namespace

BOOST_AUTO_TEST_CASE(nothing_measured_falls_to_the_first_option) {
    const auto db = test::store_with_one_kernel();
    is(must(pick(db)), tier::first_option, "t32", 0);
    const listed_options space(options);
    is(must(pick_schedule(nullptr, {"k_one", test::one_kernel, {}, "schedule", &space})), tier::first_option, "t32");
    const auto strict = pick(db, {.strict = strictness::measured});
    BOOST_REQUIRE(!strict);
    BOOST_TEST((strict.error().kind() == fault_kind::user));
    BOOST_TEST(strict.error().line() == "k_one schedule: decided by first option, expected a measured row or a pin (--strict-evidence)");
}

BOOST_AUTO_TEST_CASE(a_fork_without_options_is_refused) {
    const auto none = pick_schedule(nullptr, {.kernel = "k_one", .identity = test::one_kernel});
    BOOST_REQUIRE(!none);
    BOOST_TEST((none.error().kind() == fault_kind::internal));
    BOOST_TEST(none.error().line() == "k_one schedule: found no option space, expected schedule_fork::options to be set");
}

BOOST_AUTO_TEST_CASE(the_fastest_offered_row_wins_and_the_next_one_is_named) {
    const auto db = test::store_with_one_kernel();
    test::add(db, work("t1024"), test::time(1), "measured:h:" + own);  // not offered
    test::add(db, work("t128"), test::time(12), "measured:h:" + own);
    test::add(db, work("t256"), test::time(9.5), "measured:h:" + own);
    const record r = must(pick(db, {.strict = strictness::own_only}));
    is(r, tier::own_row, "t256", 2);
    BOOST_REQUIRE(r.by && r.runner_up);
    BOOST_TEST(r.by->us == 9.5);
    BOOST_TEST(r.by->source == "measured:h:" + own);
    BOOST_TEST(r.runner_up->us == 12.0);
    BOOST_TEST(std::abs(r.margin - (12 / 9.5 - 1)) < 1e-12);
    BOOST_TEST(r.rows_seen == 3u);
    BOOST_TEST(line(r) == "k_one schedule: own row 9.500 us (measured:h:emmy-cpp/1) REDUCE=coop WORK=t256, next 12.00 us (+26.3%)");
}

BOOST_AUTO_TEST_CASE(other_producers_are_a_lower_tier_and_never_compared_in_time) {
    const auto db = test::store_with_one_kernel();
    test::add(db, work("t64"), test::time(1), golden_label_);                                                            // the peer's, faster
    test::add(db, work("t128"), test::time(0.5), "measured:h:" + old, "", {}, test::a_context(), test::one_kernel, old);  // an older generator's
    test::add(db, work("t256"), test::time(90), "measured:h:" + own);
    is(must(pick(db)), tier::own_row, "t256", 1);
    BOOST_TEST(!must(pick(db)).runner_up.has_value());
    const std::vector<store::knob_list> without{work("t64"), work("t128")};
    const record r = must(pick(db, {.strict = strictness::measured, .space = &without}));
    is(r, tier::other_row, "t128", 2);  // the own row is not offered here
    BOOST_TEST(r.by->producer == old);
    const auto strict = pick(db, {.strict = strictness::own_only, .space = &without});
    BOOST_REQUIRE(!strict);
    BOOST_TEST(strict.error().line().find("decided by a row of emmy-cpp/0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sources_of_one_row_are_merged_by_the_reader) {
    const auto db = test::store_with_one_kernel();
    // ok beats failure; captured beats wall; then the lower median; then the label.
    test::add(db, work("t64"), test::time(store::failed_us, store::outcome::failed), "measured:a:" + own);
    test::add(db, work("t64"), test::time(8), "measured:b:" + own);
    test::add(db, work("t128"), test::time(3, store::outcome::wall), "measured:a:" + own);
    test::add(db, work("t128"), test::time(9), "measured:b:" + own);
    test::add(db, work("t256"), test::time(7.5), "measured:c:" + own);
    test::add(db, work("t256"), test::time(7.5), "measured:b:" + own);
    test::add(db, work("t256"), test::time(7.6), "measured:a:" + own);
    const record r = must(pick(db));
    is(r, tier::own_row, "t256", 1);
    BOOST_TEST(r.by->source == "measured:b:" + own);
    BOOST_TEST(r.runner_up->us == 8.0);  // t128 counts as its captured 9, not as the 3 of wall time
    BOOST_TEST(r.rows_seen == 3u);
    const auto evidence = snapshot::open(db, test::a_context(), {}, own);
    BOOST_TEST(evidence->leaf_price(test::one_kernel, {}).value().value() == 7.5);
    BOOST_TEST(evidence->rows_at(test::one_kernel, 0)->failed == 0u);
}

BOOST_AUTO_TEST_CASE(goldens_count_only_in_scope) {
    const auto db = test::store_with_one_kernel();
    test::add(db, work("t64"), test::time(1), golden_label_);
    is(must(pick(db, {.labels = {}})), tier::first_option, "t32");
    is(must(pick(db, {.labels = {"golden:ffffffffffff"}})), tier::first_option, "t32");
    is(must(pick(db)), tier::other_row, "t64");
}

BOOST_AUTO_TEST_CASE(exact_sizes_first_then_the_nearest) {
    const auto db = test::store_with_one_kernel();
    const auto at = [&](std::int64_t n, const std::string& w, double us) { test::add(db, work(w), test::time(us), "measured:h:" + own, "", {{"n", n}}); };
    at(1, "t32", 0.5);
    at(256, "t64", 5);
    at(1024, "t128", 50);
    at(2048, "t256", 1);
    is(must(pick(db, {.sizes = {{"n", 256}}})), tier::own_row, "t64");
    const record tie = must(pick(db, {.sizes = {{"n", 512}}}));  // both one doubling away: the larger wins
    is(tie, tier::nearest_own, "t128");
    BOOST_TEST((tie.by->bindings == store::binding_list{{"n", 1024}}));
    is(must(pick(db, {.sizes = {{"n", 300}}})), tier::nearest_own, "t64");
    is(must(pick(db, {.sizes = {{"n", 128}}})), tier::nearest_own, "t64");
    is(must(pick(db, {.sizes = {{"n", 100}}})), tier::first_option, "t32");   // more than a factor of two
    is(must(pick(db, {.sizes = {{"n", 2}}})), tier::nearest_own, "t32");      // decode
    const std::vector<store::knob_list> without{work("t32"), work("t256")};
    is(must(pick(db, {.sizes = {{"n", 1500}}, .space = &without})), tier::nearest_own, "t256");  // 2048 is nearer, and the only one offered
    BOOST_TEST(!must(pick(db, {.sizes = {{"n", 100}}})).by.has_value());
}

BOOST_AUTO_TEST_CASE(distance_of_sizes) {
    BOOST_TEST(size_distance({{"n", 512}}, {{"n", 1024}}).value() == 1.0);
    BOOST_TEST(!size_distance({{"n", 512}}, {{"n", 1025}}));
    BOOST_TEST(!size_distance({{"n", 16}}, {{"n", 17}}));  // decode and prefill
    BOOST_TEST(size_distance({{"n", 16}}, {{"n", 8}}).has_value());
    BOOST_TEST(!size_distance({{"n", 512}}, {{"m", 512}}));
    BOOST_TEST(!size_distance({{"n", 512}}, {{"n", 512}, {"m", 4}}));
    BOOST_TEST(size_distance({{"n", 512}, {"m", 64}}, {{"m", 32}, {"n", 256}}).value() == 2.0);
}

BOOST_AUTO_TEST_CASE(lanes_never_mix_and_the_silence_is_explained) {
    const auto db = test::store_with_one_kernel();
    store::context fast = test::a_context();
    fast.flags = "--use_fast_math";
    test::add(db, work("t64"), test::time(1), "measured:h:" + own, "", {}, fast);
    store::context other_card = fast;
    other_card.card = "NVIDIA H200";
    test::add(db, work("t64"), test::time(1), "measured:h:" + own, "", {}, other_card);
    const record r = must(pick(db));
    is(r, tier::first_option, "t32");
    BOOST_REQUIRE(r.notes.size() == 1u);
    BOOST_TEST(r.notes[0] == "1 measured rows in the fast-math lane, none in the standard lane");
    BOOST_TEST(pick(db, {.strict = strictness::measured}).error().line().find("fast-math lane") != std::string::npos);
    is(must(pick(db, {.live = fast})), tier::own_row, "t64");
}

BOOST_AUTO_TEST_CASE(pins_narrow_before_rows_speak) {
    const auto db = test::store_with_one_kernel();
    test::add(db, work("t64"), test::time(1), "measured:h:" + own);
    test::add(db, work("t128"), test::time(2), "measured:h:" + own);
    const std::vector<store::knob_list> one{work("t128")}, two{work("t128"), work("t256")}, none;
    is(must(pick(db, {.strict = strictness::own_only, .space = &one, .pinned = true})), tier::pin, "t128", 0);
    is(must(pick(db, {.space = &one})), tier::only_option, "t128");
    is(must(pick(db, {.space = &two, .pinned = true})), tier::own_row, "t128", 2);
    BOOST_TEST(pick(db, {.space = &none, .pinned = true}).error().line().starts_with("k_one schedule: found no option"));
}

BOOST_AUTO_TEST_CASE(a_row_vouches_over_decided_knobs) {
    const auto db = test::store_with_one_kernel();
    test::add(db, {{"LOOPIFY", "0"}, {"REDUCE", "coop"}, {"TILE", "f4x4"}, {"WORK", "t64"}}, test::time(1), "measured:h:" + own);  // no RASTER: free; TILE: not asked here
    is(must(pick(db)), tier::own_row, "t64", 1);
    const record none = must(pick(test::store_with_one_kernel()));
    BOOST_TEST(none.notes.empty());
}

BOOST_AUTO_TEST_CASE(the_pick_does_not_depend_on_the_order_of_writing) {
    std::vector<std::pair<std::string, double>> rows{{"t32", 4}, {"t64", 4}, {"t128", 4}, {"t256", 4}, {"t512", 4}};
    std::mt19937 shuffle(7);
    std::string first;
    for (int i = 0; i < 20; ++i) {
        std::shuffle(rows.begin(), rows.end(), shuffle);
        const auto db = test::store_with_one_kernel();
        for (const auto& [w, us] : rows) test::add(db, work(w), test::time(us), (i % 2 ? "measured:a:" : "measured:b:") + own);
        record r = must(pick(db));
        r.by->source.clear(), r.runner_up->source.clear();
        std::string text;
        json::writer out(text);
        write_json(out, r);
        if (first.empty()) first = text;
        BOOST_TEST(text == first);
    }
    BOOST_TEST(first.find("t128") != std::string::npos);  // smallest canonical key among equal times
}

// The schedule part of the worked example: kernel A symbolic in n, kernel B static.
BOOST_AUTO_TEST_CASE(worked_example) {
    const auto db = test::store_with_one_kernel();
    const digest128 a{10, 1}, b{10, 2};
    EMMY_REQUIRE_OK(db.write([&](store::write_transaction& txn) -> result<void> {
        EMMY_CHECK_OK(store::put_kernel(txn, test::a_kernel(a, "k_a")));
        return store::put_kernel(txn, test::a_kernel(b, "k_b"));
    }));
    store::context c{"cuda", "NVIDIA H100 80GB", 90, 3, false, "--use_fast_math"};
    const std::string here = "measured:h:" + own;
    const store::knob_list r2 = work("t128"), r3 = work("t256"), r4{{"RASTER", ""}, {"REDUCE", ""}, {"STAGE", "d3/smem-tma"}, {"TILE", "f4x4"}, {"WORK", "t16x8"}};
    test::add(db, r2, test::time(12.0), here, "", {{"n", 512}}, c, a);
    test::add(db, r3, test::time(9.5), here, "", {{"n", 512}}, c, a);
    test::add(db, r4, test::time(21.0), here, "", {}, c, b);
    const auto fork_of = [&](const digest128& k, const store::binding_list& sizes, const std::vector<store::knob_list>& space, strictness strict = strictness::measured) {
        const auto evidence = snapshot::open(db, c, {golden_label_}, own);
        const listed_options left(space);
        return pick_schedule(&*evidence, {"k", k, sizes, "schedule", &left}, strict);
    };
    const std::vector<store::knob_list> space_a{work("t32"), r2, r3}, space_b{work("t32", ""), r4};
    is(must(fork_of(a, {{"n", 512}}, space_a)), tier::own_row, "t256");
    is(must(fork_of(b, {}, space_b)), tier::own_row, "t16x8");
    const auto evidence = snapshot::open(db, c, {}, own);
    BOOST_TEST(evidence->leaf_price(a, {{"n", 512}}).value().value() + evidence->leaf_price(b, {}).value().value() == 30.5);
    // t256 refused at lowering: it is no option any more; the next row decides.
    const std::vector<store::knob_list> blocked{work("t32"), r2};
    is(must(fork_of(a, {{"n", 512}}, blocked)), tier::own_row, "t128");
    // n = 64: no price, and three doublings away: no row of another size speaks either.
    BOOST_TEST(!evidence->leaf_price(a, {{"n", 64}}).value().has_value());
    is(must(fork_of(a, {{"n", 64}}, space_a, strictness::off)), tier::first_option, "t32");
    // A failed B has no price and decides nothing.
    const auto failed = test::store_with_one_kernel();
    test::add(failed, r4, test::time(store::failed_us, store::outcome::failed), here, "hang", {}, c);
    const auto after = snapshot::open(failed, c, {}, own);
    BOOST_TEST(!after->leaf_price(test::one_kernel, {}).value().has_value());
    BOOST_TEST(after->rows_at(test::one_kernel, 0)->failed == 1u);
    // A golden with A/t256 at 8.0: both times stay; the own producer's decides.
    test::add(db, r3, test::time(8.0), golden_label_, "", {{"n", 512}}, c, a);
    const record r = must(fork_of(a, {{"n", 512}}, space_a));
    BOOST_TEST(r.by->us == 9.5);
    BOOST_TEST(test::measurements(db).size() == 4u);
    test::require_clean(db);
}
