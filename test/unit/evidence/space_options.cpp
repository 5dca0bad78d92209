#include <emmy/evidence/space_options.hpp>
#include <emmy/knob.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {
struct BLK : knob::choice<"BLK", 8, 16, 32> {};
struct SIDE : knob::choice<"SIDE", 0, 1> {};
constexpr auto space = knob::all<BLK> * knob::all<SIDE>;
}  // namespace

BOOST_AUTO_TEST_CASE(a_space_offers_its_rows_and_nothing_else) {
    const evidence::space_options options(space);
    BOOST_TEST(*options.size() == 6u);
    BOOST_TEST(!options.single());
    const auto first = options.first();
    BOOST_REQUIRE(first);
    BOOST_TEST((*first == store::knob_list{{"BLK", "8"}, {"SIDE", "0"}}));
    // Keys in any order, the answer in the row's.
    BOOST_TEST((*options.option_for({{"SIDE", "1"}, {"BLK", "16"}}) == store::knob_list{{"BLK", "16"}, {"SIDE", "1"}}));
    BOOST_TEST(!options.option_for({{"BLK", "16"}}));                                // a family missing
    BOOST_TEST(!options.option_for({{"BLK", "16"}, {"SIDE", "1"}, {"TEAM", "2"}}));  // a foreign one
    BOOST_TEST(!options.option_for({{"BLK", "64"}, {"SIDE", "1"}}));                 // not in the catalog
    BOOST_TEST(!options.option_for({{"BLK", "016"}, {"SIDE", "1"}}));                // not canonical
}

BOOST_AUTO_TEST_CASE(every_row_goes_to_texts_and_back) {
    space.each([](const auto& row) { BOOST_TEST((evidence::row_of_texts<knob::row<BLK, SIDE>>(evidence::texts_of(row)) == row)); });
}

BOOST_AUTO_TEST_CASE(pins_narrow_and_an_empty_space_has_no_first_row) {
    const auto one = space | knob::is<BLK>(16) | knob::is<SIDE>(1);
    const evidence::space_options pinned(one, true);
    BOOST_TEST(pinned.single());
    BOOST_TEST(pinned.pinned());
    BOOST_TEST((*pinned.first() == store::knob_list{{"BLK", "16"}, {"SIDE", "1"}}));
    const auto none = space | knob::is<BLK>(64);
    BOOST_TEST(evidence::space_options(none).first().error().line() == "found no row in the space, expected at least one (the pins leave none)");
}
