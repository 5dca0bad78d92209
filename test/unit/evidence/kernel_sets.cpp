// Prices of kernel sets and the forks that they decide: the worked example of the format's documentation, loops in a store, pins, refusals.
#include <emmy/core/json.hpp>
#include <emmy/evidence.hpp>

#include <boost/test/unit_test.hpp>

#include "support/kernel_sets.hpp"

#include <algorithm>
#include <random>

using namespace emmy;
using namespace emmy::evidence;

using namespace emmy::test::kernel_sets;

BOOST_AUTO_TEST_CASE(worked_example_the_cut_is_cheaper) {
    const auto db = example().store();
    resolve_options strict;
    strict.strict = strictness::own_only;
    const resolution r = must(compile(db, P, {n512, strict}));
    const record& place = fork_of(r);
    BOOST_TEST(name(place.decided) == name(tier::own_pieces));
    BOOST_TEST((place.chosen == cut));
    BOOST_REQUIRE(place.by_arm && place.runner_up);
    BOOST_TEST(place.by_arm->us == 30.5);
    BOOST_TEST(place.by_arm->parts.size() == 2u);
    BOOST_TEST(place.by_arm->parts[0].us == 9.5);
    BOOST_TEST(place.runner_up->us == 40.0);
    BOOST_TEST(std::abs(place.margin - (40 / 30.5 - 1)) < 1e-12);
    BOOST_REQUIRE(r.leaves.size() == 2);
    BOOST_TEST(work_of(r, 0) == "REDUCE=coop WORK=t256");
    BOOST_TEST(work_of(r, 1) == "STAGE=d3/smem-tma TILE=f4x4 WORK=t16x8");
    BOOST_TEST(r.expected_us(true).value() == 30.5);
    BOOST_TEST(r.decisions().size() == 3u);
    BOOST_TEST(r.unmeasured.empty());
    BOOST_TEST(line(place) == "k_p PLACE: own rows of the pieces 30.50 us (9.500 us + 21.00 us) PLACE@map.1/inner=cut, next 40.00 us (+31.1%)");
}

BOOST_AUTO_TEST_CASE(worked_example_a_refused_leaf_gives_the_next_row) {
    const auto db = example().store();
    struct no_t256 : lowering_check {
        std::string refuses(const subject& s, const store::knob_list& row) const override { return s.identity == A && row == coop("t256") ? "too many registers" : ""; }
    } device;
    resolve_options options;
    options.device = &device;
    const resolution r = must(compile(db, P, {n512, options}));
    BOOST_TEST(r.attempts == 2u);
    BOOST_TEST((fork_of(r).chosen == cut));
    BOOST_TEST(fork_of(r).by_arm->us == 30.5);  // the price is what was measured
    BOOST_TEST(work_of(r, 0) == "REDUCE=coop WORK=t128");
    BOOST_REQUIRE(r.notes.size() == 1);
    BOOST_TEST(r.notes[0] == "k_p.1: the device refuses REDUCE=coop WORK=t256 (too many registers): next row");
}

BOOST_AUTO_TEST_CASE(a_piece_without_a_row_that_runs_takes_its_cut_back) {
    const auto db = example().store();
    struct not_a : lowering_check {
        std::string refuses(const subject& s, const store::knob_list&) const override { return s.identity == A ? "no such instruction" : ""; }
    } device;
    resolve_options options;
    options.device = &device;
    const resolution r = must(compile(db, P, {n512, options}));
    BOOST_TEST(fork_of(r).chosen.empty());
    BOOST_TEST(work_of(r, 0) == "REDUCE=coop WORK=t256");
    BOOST_TEST(r.attempts <= 8u);
    BOOST_TEST(std::count_if(r.notes.begin(), r.notes.end(), [](const auto& n) { return n.find("is given up") != n.npos; }) == 1);
    struct nothing : lowering_check {
        std::string refuses(const subject&, const store::knob_list&) const override { return "no device"; }
    } none;
    options.device = &none;
    const auto failed = compile(db, P, {n512, options});
    BOOST_REQUIRE(!failed);
    BOOST_TEST((failed.error().kind() == fault_kind::device_limit));
    BOOST_TEST(failed.error().line().find("k_p schedule: ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(worked_example_a_failed_piece_has_no_price) {
    example without{.r4 = false};
    const auto db = without.store();
    measured(db, B, {}, tiled, store::failed_us, here, own_producer, store::outcome::failed);
    const resolution r = must(compile(db, P));
    BOOST_TEST(fork_of(r).chosen.empty());
    BOOST_TEST(name(fork_of(r).decided) == name(tier::own_row));
    BOOST_TEST(fork_of(r).by->us == 40.0);
    BOOST_TEST(r.expected_us(true).value() == 40.0);
    // Nothing whole either: the arm that leaves a failing kernel is off the ballot.
    const auto bare = example{.r1 = false, .r4 = false}.store();
    measured(bare, B, {}, tiled, store::failed_us, here, own_producer, store::outcome::failed);
    const resolution s = must(compile(bare, P));
    BOOST_TEST(fork_of(s).chosen.empty());
    BOOST_TEST(name(fork_of(s).decided) == name(tier::first_option));
    BOOST_REQUIRE(!fork_of(s).notes.empty());
    BOOST_TEST(fork_of(s).notes[0] == "1 stored decisions, none with all its pieces measured at these sizes by one producer");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_only_ever_failed_is_not_left_whole) {
    const auto db = example{.r1 = false, .r2 = false, .r3 = false, .r4 = false}.store();
    measured(db, P, n512, coop("t256"), store::failed_us, here, own_producer, store::outcome::failed);
    const resolution r = must(compile(db, P));
    BOOST_TEST((fork_of(r).chosen == cut));
    BOOST_TEST(name(fork_of(r).decided) == name(tier::first_option));
}

BOOST_AUTO_TEST_CASE(worked_example_another_size_has_no_price) {
    const auto db = example().store();
    const resolution far = must(compile(db, P, {{{"n", 64}}}));  // no size of it within a factor of two: neither fork is measured
    BOOST_TEST(name(fork_of(far).decided) == name(tier::first_option));
    BOOST_TEST(fork_of(far).chosen.empty());
    BOOST_TEST(name(far.kernels[0].schedule->decided) == name(tier::first_option));
    BOOST_TEST(!price_of(db, P, {{"n", 64}}));
    const resolution near = must(compile(db, P, {{{"n", 400}}}));  // the nearest size answers the schedule, never the price
    BOOST_TEST(name(fork_of(near).decided) == name(tier::first_option));
    BOOST_TEST(name(near.kernels[0].schedule->decided) == name(tier::nearest_own));
    resolve_options strict;
    strict.strict = strictness::measured;
    const auto refused = compile(db, P, {{{"n", 400}}, strict});
    BOOST_REQUIRE(!refused);
    BOOST_TEST(refused.error().line().starts_with("k_p PLACE: decided by first option, expected a measured row or a pin (--strict-evidence)"));
}

BOOST_AUTO_TEST_CASE(worked_example_a_golden_does_not_hide_what_was_measured_here) {
    const auto db = example().store();
    measured(db, A, n512, coop("t256"), 8, golden_label_, "peer");
    const resolution r = must(compile(db, P, {n512, {}, {golden_label_}}));
    BOOST_TEST(fork_of(r).by_arm->us == 30.5);  // own 9.5 + 21: another producer's 8 is never in one sum with them
    BOOST_TEST(r.kernels[r.leaves[0]].schedule->by->us == 9.5);
    // A faster golden of the same producer is another source of the same row: the lower median counts.
    const auto same = example().store();
    EMMY_REQUIRE_OK(same.write([&](store::write_transaction& txn) -> result<void> {
        EMMY_TRY(ctx, store::put_context(txn, card()));
        EMMY_TRY(row, store::put_row(txn, store::row_kind::schedule, coop("t256")));
        EMMY_TRY(src, store::put_source(txn, {golden_label_, own_producer, "", 0, 0, 0, 0, 0}));
        EMMY_TRY(bind, store::put_bindings(txn, n512));
        EMMY_TRY(done, store::put_measurement(txn, ctx, A, bind, row, src, test::time(8)));
        BOOST_TEST(done);
        return {};
    }));
    BOOST_TEST(price_of(same, P, n512, producer_rank::own, {golden_label_}).value() == 29.0);
}

BOOST_AUTO_TEST_CASE(a_fast_foreign_row_does_not_beat_a_slower_own_one) {
    const auto db = example{.r2 = false, .r3 = false, .r4 = false}.store();  // own: whole, 40
    measured(db, A, n512, coop("t256"), 1, golden_label_, "peer");
    measured(db, B, {}, tiled, 1, golden_label_, "peer");
    measured(db, P, n512, coop("t128"), 0.5, golden_label_, "peer");
    const resolution r = must(compile(db, P, {n512, {}, {golden_label_}}));
    BOOST_TEST(name(fork_of(r).decided) == name(tier::own_row));
    BOOST_TEST(fork_of(r).chosen.empty());
    BOOST_TEST(fork_of(r).by->us == 40.0);
    BOOST_TEST(!fork_of(r).runner_up);  // nothing else of this producer
    // Without own rows the others decide, and say so; own-only refuses them.
    const auto peer = example{.r1 = false, .r2 = false, .r3 = false, .r4 = false}.store();
    measured(peer, A, n512, coop("t256"), 10, golden_label_, "peer");
    measured(peer, B, {}, tiled, 21, golden_label_, "peer");
    measured(peer, P, n512, coop("t128"), 60, golden_label_, "peer");
    const resolution s = must(compile(peer, P, {n512, {}, {golden_label_}}));
    BOOST_TEST(name(fork_of(s).decided) == name(tier::other_pieces));
    BOOST_TEST((fork_of(s).chosen == cut));
    resolve_options strict;
    strict.strict = strictness::own_only;
    const auto refused = compile(peer, P, {n512, strict, {golden_label_}});
    BOOST_REQUIRE(!refused);
    BOOST_TEST(refused.error().line() == "k_p PLACE: decided by other producer's rows of the pieces, expected rows of this producer or a pin (--own-only); and 2 more forks");
    strict.strict_fails = false;
    BOOST_TEST(must(compile(peer, P, {n512, strict, {golden_label_}})).unmeasured.size() == 3u);
    // Pieces of two producers have no sum.
    const auto mixed = example{.r1 = false, .r4 = false}.store();
    measured(mixed, B, {}, tiled, 1, golden_label_, "peer");
    BOOST_TEST(!price_of(mixed, P, n512, producer_rank::own, {golden_label_}));
    BOOST_TEST(!price_of(mixed, P, n512, producer_rank::other, {golden_label_}));
}

BOOST_AUTO_TEST_CASE(loops_in_a_store_end) {
    const digest128 X = id(11), Y = id(12), Z = id(13);
    const store::knob_list first{{"PLACE@map.1/reduce", "cut"}}, second{{"PLACE@map.2/reduce", "cut"}};
    for (const bool measured_leaf : {false, true}) {
        auto db = store::environment::temporary(store::store_kind::tuning);
        kernels(*db, {X, Y, Z});
        route(*db, X, first, {Y, Z});
        route(*db, Y, second, {X});      // two routes that lead into each other
        route(*db, Y, first, {Y, Z});    // and one into itself
        measured(*db, Z, {}, coop("t32"), 2);
        if (measured_leaf) measured(*db, Y, {}, coop("t32"), 5);
        BOOST_TEST(price_of(*db, Y).value_or(-1) == (measured_leaf ? 5.0 : -1.0));
        BOOST_TEST(price_of(*db, X).value_or(-1) == (measured_leaf ? 7.0 : -1.0));
        const resolution r = must(compile(*db, X, {{}}));
        BOOST_TEST(r.leaves.size() == (measured_leaf ? 2u : 1u));
        if (measured_leaf) BOOST_TEST(r.kernels[r.leaves[0]].what.identity.high == Y.high);
    }
    // Equal prices around a loop: the kernel that stays whole, whichever is asked first.
    auto db = store::environment::temporary(store::store_kind::tuning);
    kernels(*db, {X, Y});
    route(*db, X, first, {Y});
    route(*db, Y, first, {X});
    measured(*db, X, {}, coop("t32"), 3);
    BOOST_TEST(price_of(*db, X).value() == 3.0);
    BOOST_TEST(price_of(*db, Y).value() == 3.0);
    BOOST_TEST(must(compile(*db, Y, {{}})).leaves.size() == 1u);
    BOOST_TEST(must(compile(*db, X, {{}})).kernels.size() == 1u);
}

BOOST_AUTO_TEST_CASE(prices_go_through_pieces_and_count_repeats) {
    const digest128 Q = id(21), R = id(22);
    auto db = store::environment::temporary(store::store_kind::tuning);
    kernels(*db, {P, A, B, Q, R});
    route(*db, P, cut, {A, B, A});                                  // a piece twice
    route(*db, B, {{"REDUCE", "g4k"}}, {Q, R});                     // a piece that is split again
    measured(*db, A, n512, coop("t32"), 3);
    measured(*db, Q, n512, coop("t32"), 4);
    measured(*db, R, {}, coop("t32"), 0.5);
    measured(*db, B, {{"n", 256}}, coop("t32"), 0.1);               // another size
    BOOST_TEST(price_of(*db, P, {{"n", 512}, {"m", 7}}).value() == 10.5);
    const resolution r = must(compile(*db, P));
    BOOST_TEST(r.leaves.size() == 4u);
    BOOST_TEST(r.expected_us(true).value() == 10.5);
    BOOST_TEST(r.kernels[r.leaves[3]].what.identity.high == A.high);
    // Equal arms: the canonical one, whatever the store's order.
    const store::knob_list other{{"PLACE@map.1/reduce", "cut"}};
    for (const bool swap : {false, true}) {
        auto tie = store::environment::temporary(store::store_kind::tuning);
        kernels(*tie, {P, A, B});
        for (const bool one : {swap, !swap}) route(*tie, P, one ? cut : other, {one ? A : B});
        measured(*tie, A, n512, coop("t32"), 3);
        measured(*tie, B, n512, coop("t32"), 3);
        BOOST_TEST((fork_of(must(compile(*tie, P))).chosen == cut));
    }
}

BOOST_AUTO_TEST_CASE(pins_narrow_kernel_set_forks) {
    const auto db = example().store();
    const auto pinned = [&](const char* text) {
        static knob::pin_list pins;
        pins = knob::pin_list::parse(text).value();
        resolve_options options;
        options.pins = &pins;
        return compile(db, P, {n512, options});
    };
    const resolution fused = must(pinned("PLACE=fuse"));
    BOOST_TEST(name(fork_of(fused).decided) == name(tier::pin));
    BOOST_TEST(fused.leaves.size() == 1u);
    BOOST_TEST(must(pinned("PLACE@map.1/inner=cut")).leaves.size() == 2u);
    BOOST_TEST(must(pinned("PLACE@map.1/inner=fuse")).leaves.size() == 1u);
    BOOST_TEST(must(pinned("PLACE=cut")).leaves.size() == 2u);
    BOOST_TEST(must(pinned("PLACE@map.7/inner=cut")).leaves.size() == 2u);  // names nothing here: evidence decides
}

BOOST_AUTO_TEST_CASE(what_a_row_spells) {
    kernel_set_fork place;
    place.places = {{"PLACE@map.1/inner", {"PLACE@map.2/inner"}}, {"PLACE@map.3/reduce", {}}};
    const store::knob_list one{{"PLACE@map.1/inner", "cut"}}, two{{"PLACE@map.3/reduce", "cut"}}, both{{"PLACE@map.1/inner", "cut"}, {"PLACE@map.3/reduce", "cut"}};
    place.arms = {{}, one, two};
    BOOST_TEST(spelled_arm(place, coop("t32")).value() == 0u);
    BOOST_TEST(spelled_arm(place, one).value() == 1u);
    BOOST_TEST(spelled_arm(place, {{"PLACE@map.2/inner", "cut"}}).value() == 1u);  // an alias
    BOOST_TEST(spelled_arm(place, both).value() == 1u);                            // not offered together: the first with one of them
    BOOST_TEST(spelled_arm(place, {{"PLACE", "cut"}}).value() == 1u);
    BOOST_TEST(!spelled_arm(place, {{"PLACE@map.9/inner", "cut"}}));
    place.arms.push_back(both);
    BOOST_TEST(spelled_arm(place, both).value() == 3u);
    kernel_set_fork reduce;
    reduce.family = structural_family::reduce;
    reduce.arms = {{}, {{"REDUCE@inner", "g2k"}}, {{"REDUCE@inner", "g2a"}}, {{"REDUCE@inner", "g4k"}}};
    BOOST_TEST(spelled_arm(reduce, coop("t32")).value() == 0u);
    BOOST_TEST(spelled_arm(reduce, {{"REDUCE", "g4k"}}).value() == 3u);
    BOOST_TEST(spelled_arm(reduce, {{"REDUCE", "g2a/coop"}}).value() == 2u);
    BOOST_TEST(!spelled_arm(reduce, {{"REDUCE", "g8k"}}));
    BOOST_TEST(!spelled_arm(reduce, {{"REDUCE", "grid"}}));
    kernel_set_fork layout;
    layout.family = structural_family::layout;
    layout.arms = {{}, {{"LAYOUT@w", "source"}}};
    layout.places = {{"LAYOUT@w", {}}};
    BOOST_TEST(spelled_arm(layout, {{"LAYOUT@w", "source"}}).value() == 1u);
    BOOST_TEST(spelled_arm(layout, coop("t32")).value() == 0u);
    BOOST_TEST(!spelled_arm(layout, {{"LAYOUT@v", "source"}}));
}

BOOST_AUTO_TEST_CASE(equal_kernels_repeat_the_first_decision) {
    const auto db = example().store();
    const auto evidence = snapshot::open(db, card(), {}, own_producer);
    small_forks forks(*evidence);
    const std::vector<subject> targets{{"k_p", P, n512}, {"k_q", P, n512}};
    const auto r = resolve(targets, &*evidence, forks);
    BOOST_REQUIRE_MESSAGE(r, test::why(r));
    BOOST_TEST(r->leaves.size() == 4u);
    BOOST_TEST(r->roots.size() == 2u);
    const record& again = r->kernels[r->roots[1]].forks[0];
    BOOST_TEST(again.kernel == "k_q");
    BOOST_TEST((again.chosen == cut));
    BOOST_TEST(again.notes.back() == "decided as for the equal kernel k_p");
}
