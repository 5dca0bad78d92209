#include <boost/test/unit_test.hpp>

#include <emmy/explore.hpp>

using namespace emmy;

namespace {
struct BLK : knob::choice<"BLK", 8, 16, 32, 64> {};
struct VEC : knob::choice<"VEC", 1, 2, 4, 8> {};
struct SIDE : knob::choice<"SIDE", 0, 1> {};
constexpr auto space = knob::all<BLK> * knob::all<VEC> * knob::all<SIDE>;

result<void> refuse_when(bool bad) {
    if (bad) return emmy::refuse(fault_kind::internal, "wrong answer");
    return {};
}
}  // namespace

BOOST_AUTO_TEST_CASE(every_row_is_tried_where_they_are_few) {
    std::uint64_t asked = 0;
    const auto done = knob::explore(space, [&](const auto&) { return ++asked, refuse_when(false); });
    BOOST_REQUIRE(done);
    BOOST_TEST(done->rows == 32u);
    BOOST_TEST(done->tried == 32u);
    BOOST_TEST(asked == 32u);
    BOOST_TEST(done->good());
}

BOOST_AUTO_TEST_CASE(a_sample_repeats_and_has_the_first_row) {
    std::vector<std::string> first, again;
    const auto note = [](std::vector<std::string>& to) {
        return [&to](const auto& row) { return to.emplace_back(knob::spell(row).view()), refuse_when(false); };
    };
    BOOST_TEST(knob::explore(space, note(first), {.sample = 5, .seed = 7})->tried == 5u);
    BOOST_TEST(knob::explore(space, note(again), {.sample = 5, .seed = 7})->tried == 5u);
    BOOST_TEST(first == again);
    BOOST_TEST(first[0] == "BLK=8,VEC=1,SIDE=0");
}

BOOST_AUTO_TEST_CASE(a_fault_of_one_family_is_pinned_by_it_alone) {
    const auto done = knob::explore(space, [](const auto& row) { return refuse_when(row.template get<VEC>() == 4); }, {.most_failures = 1});
    BOOST_REQUIRE_EQUAL(done->failures.size(), 1u);
    BOOST_TEST(done->failures[0].pin == "VEC=4");
    BOOST_TEST(done->failures[0].why == "wrong answer");
}

BOOST_AUTO_TEST_CASE(a_fault_of_two_families_is_pinned_by_both) {
    const auto done = knob::explore(space, [](const auto& row) { return refuse_when(row.template get<VEC>() == 4 && row.template get<BLK>() == 32); }, {.most_failures = 1});
    BOOST_REQUIRE_EQUAL(done->failures.size(), 1u);
    BOOST_TEST(done->failures[0].row == "BLK=32,VEC=4,SIDE=0");
    BOOST_TEST(done->failures[0].pin == "BLK=32,VEC=4");
}

BOOST_AUTO_TEST_CASE(the_first_row_needs_no_pin) {
    const auto done = knob::explore(space, [](const auto&) { return refuse_when(true); });
    BOOST_TEST(done->failures.size() == 3u);
    BOOST_TEST(done->failures[0].pin.empty());
}

BOOST_AUTO_TEST_CASE(pins_narrow_and_wrong_ones_are_said) {
    BOOST_TEST(knob::explore(space, [](const auto& row) { return refuse_when(row.template get<VEC>() != 2); }, {.pin = "VEC=2"})->tried == 8u);
    BOOST_TEST(!knob::explore(space, [](const auto&) { return refuse_when(false); }, {.pin = "VEC=3"}));
    BOOST_TEST(!knob::explore(space, [](const auto&) { return refuse_when(false); }, {.pin = "WIDTH=3"}));
    BOOST_TEST(explore_rows(space, [](const auto&) { return refuse_when(false); }, {.sample = 4}).tried == 4u);
}
