#include <emmy/knob.hpp>
#include <emmy/knob/row_digest.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace emmy;
using namespace emmy::knob;

namespace {
std::string line(const schedule_row& row) { return row_text(row); }
template <class Row>
std::string why(std::vector<knob_pair> pairs) {
    const auto row = Row::parse(pairs);
    return row ? "accepted" : row.error().line();
}
std::string schedule_why(std::vector<knob_pair> pairs) { return why<schedule_row>(std::move(pairs)); }
std::string routing_why(std::vector<knob_pair> pairs) { return why<routing_row>(std::move(pairs)); }
}  // namespace

BOOST_AUTO_TEST_SUITE(knob_rows)

BOOST_AUTO_TEST_CASE(row_texts_and_digests_are_the_peers) {
    BOOST_TEST(row_digest(schedule_row{}) == "4720b3de75cf75f0ea119a52739d60a2a1f6baefce67757be048f525796f01cd");
    const routing_row split = arm<"REDUCE=g4k">, cut = arm<"PLACE@map.2/inner=cut">;
    BOOST_TEST(row_text(split) == R"({"REDUCE":"g4k"})");
    BOOST_TEST(row_digest(split) == "f9c12865915afa26674a560938c44d314cb4f105a51d9f8efebf9315296fd963");
    BOOST_TEST(row_text(cut) == R"({"PLACE@map.2/inner":"cut"})");
    BOOST_TEST(row_digest(cut) == "e3b1cfc252bc98c0fd879abc511590a80dda8b27f20cf557766867f4df072496");
    const schedule_row coop = lit<"WORK=t128", "REDUCE=coop", "RASTER=">;
    BOOST_TEST(row_text(coop) == R"({"RASTER":"","REDUCE":"coop","WORK":"t128"})");
    BOOST_TEST(row_digest(coop) == "9c1d5cf3f3a816c888052717beee566ab94b6f26a125b6260328c10dc015fb17");
    const schedule_row product = lit<"WORK=t16x8", "TILE=f4x4", "REDUCE=", "STAGE=d3/smem-tma", "RASTER=">;
    BOOST_TEST(row_text(product) == R"({"RASTER":"","REDUCE":"","STAGE":"d3/smem-tma","TILE":"f4x4","WORK":"t16x8"})");
    BOOST_TEST(row_digest(product) == "9a24e7764ca3bf798276b58be47b16d2d2e871517a758d324dfd51379b99a96d");
}

BOOST_AUTO_TEST_CASE(order_of_pairs_does_not_matter_and_texts_are_sorted) {
    std::vector<knob_pair> pairs{{"TILE@map.1/twist", ""}, {"WORK", "w4x1"}, {"TILE@map.1/twist.1/inner", "mma_m16n8k16_f16_f32/f1x8"}, {"STAGE@map.1/twist", ""}, {"RASTER", ""},
                                 {"LOOPIFY", "0"}, {"REDUCE", "r2"}, {"SHARED_CARRY", "1"}};
    std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.key < b.key; });
    const auto first = schedule_row::parse(pairs);
    BOOST_REQUIRE(first.has_value());
    do {
        std::vector<knob_pair> turned(pairs.rbegin(), pairs.rend());
        const auto row = schedule_row::parse(turned);
        BOOST_REQUIRE(row.has_value());
        BOOST_TEST((*row == *first));
    } while (std::next_permutation(pairs.begin(), pairs.begin() + 4, [](auto& a, auto& b) { return a.key < b.key; }));
    BOOST_TEST(line(*first) ==
               R"({"LOOPIFY":"0","RASTER":"","REDUCE":"r2","SHARED_CARRY":"1","STAGE@map.1/twist":"","TILE@map.1/twist":"","TILE@map.1/twist.1/inner":"mma_m16n8k16_f16_f32/f1x8","WORK":"w4x1"})");
    BOOST_TEST(first->size() == 8u);
    BOOST_TEST(first->sites() == 2u);
    BOOST_TEST(line(decisions(*first)) == R"({"REDUCE":"r2","SHARED_CARRY":"1","TILE@map.1/twist.1/inner":"mma_m16n8k16_f16_f32/f1x8","WORK":"w4x1"})");
    BOOST_TEST(same_choice(*first, decisions(*first)));
}

BOOST_AUTO_TEST_CASE(a_schedule_row_says_why_it_is_refused) {
    BOOST_TEST(schedule_why({{"WORK", "t32"}, {"PLACE@map.1/inner", "cut"}}) == "PLACE@map.1/inner: found a structural family, expected schedule families only in a schedule row");
    BOOST_TEST(schedule_why({{"LAYOUT@w", "source"}}) == "LAYOUT@w: found a structural family, expected schedule families only in a schedule row");
    BOOST_TEST(schedule_why({{"REDUCE", "g2k"}}) == "REDUCE: found a structural choice (a cross-CTA split), expected schedule families only in a schedule row");
    BOOST_TEST(schedule_why({{"WORK", "t32"}, {"WORK", "t32"}}) == "WORK: found the key twice, expected it once");
    BOOST_TEST(schedule_why({{"TILE@map", "f2"}, {"TILE@map", "f4"}}) == "TILE@map: found the key twice, expected it once");
    BOOST_TEST(schedule_why({{"WORK", "t32"}, {"TILE", "mma_m16n8k16_f16_f32/f1x1"}}) == "TILE: found [mma_m16n8k16_f16_f32/f1x1], expected WORK w... for a warp tile");
    BOOST_TEST(schedule_why({{"REDUCE@map.1/reduce", "coop"}}) == "REDUCE@map.1/reduce: found [coop], expected WORK t... of width 2 or more for coop");
    BOOST_TEST(schedule_why({{"WORK", "t36"}, {"REDUCE", "coop-t/n8"}}) == "REDUCE: found [coop-t/n8], expected a WORK width that is a multiple of 8 for n8");
    BOOST_TEST(schedule_why({{"TILE", "f1"}}) == "TILE: found [f1], expected WORK t... of two threads or more for f1 (else spell no text)");
    BOOST_TEST(schedule_why({{"STAGE@", "d2/smem"}}) == "STAGE@: found [], expected a node kind: map, reduce, inner, twist or scan at offset 0");
    BOOST_TEST(schedule_why({{"tile", "f4"}}) == "row: found [tile], expected one of WORK, RASTER, TILE, REDUCE, STAGE, LOOPIFY, SHARED_CARRY at offset 0");
    const std::string long_key(300, 'K'), nasty("w4\0x1", 5);
    BOOST_TEST(schedule_why({{long_key, ""}}).size() < 200u);
    BOOST_TEST(schedule_why({{"WORK", nasty}}) == "WORK: found [w4?x1], expected x and the second dimension at offset 2");
    // The loader checks values alone: what only the row's own WORK refuses passes there.
    const std::vector<knob_pair> stale{{"WORK", ""}, {"REDUCE", "coop"}, {"TILE", "mma_m16n8k16_f16_f32/f1x1"}};
    BOOST_TEST(schedule_row::parse(stale, row_check::values_alone).has_value());
    BOOST_TEST(!schedule_row::parse(stale).has_value());
    const schedule_row lone = lit<"STAGE=d2/smem", "WORK=", "RASTER=">;
    BOOST_TEST(lone.is_complete().error().line() == "row: found STAGE alone, expected a TILE or REDUCE beside it");
    BOOST_TEST(schedule_row{}.is_complete().error().line() == "row: found no WORK, expected WORK and RASTER in every complete row");
    BOOST_TEST(schedule_row(lit<"WORK=t32", "RASTER=">).is_complete().has_value());
}

BOOST_AUTO_TEST_CASE(a_routing_row_says_why_it_is_refused) {
    BOOST_TEST(routing_why({}) == "arm: found no choice, expected one or more structural choices");
    BOOST_TEST(routing_why({{"PLACE@map.1/inner", "cut"}, {"WORK", "t32"}}) == "WORK: found a schedule family, expected structural families only in a routing row");
    BOOST_TEST(routing_why({{"FAST_MATH", "true"}}) == "FAST_MATH: found a regime family, expected structural families only in a routing row");
    BOOST_TEST(routing_why({{"REDUCE", "coop"}}) == "REDUCE: found a schedule choice, expected structural families only in a routing row");
    BOOST_TEST(routing_why({{"REDUCE", ""}}) == "REDUCE: found a schedule choice, expected structural families only in a routing row");
    BOOST_TEST(routing_why({{"PLACE@map.1/inner", "split"}}) == "PLACE@map.1/inner: found [split], expected fuse or cut at offset 0");
    BOOST_TEST(routing_why({{"LAYOUT@a b", "source"}}) == "LAYOUT@a b: found [a b], expected the name of a constant buffer at offset 0");
    BOOST_TEST(routing_why({{"LAYOUT@w\"", "source"}}).find("expected the name of a constant buffer") != std::string::npos);
    BOOST_TEST(routing_why({{"PLACE@map", "cut"}, {"PLACE@map", "cut"}}) == "PLACE@map: found the key twice, expected it once");
    BOOST_TEST(routing_why({{"NOPE", "cut"}}) == "arm: found [NOPE], expected one of PLACE, REDUCE, LAYOUT at offset 0");
    BOOST_TEST(routing_why({{"PLACE@in0", "cut"}}) == "PLACE@in0: found [in0], expected a node kind: map, reduce, inner, twist or scan at offset 0");
    const routing_row both = arm<"PLACE@map.2/inner=cut", "LAYOUT@linear_wt=source">;
    BOOST_TEST(both.size() == 2u);
    BOOST_TEST(both.get("LAYOUT@linear_wt") == "source");
    BOOST_TEST(both.get("PLACE@map") == "");
    BOOST_TEST(both[1].address() == "map.2/inner");
}

BOOST_AUTO_TEST_CASE(ties_are_broken_by_content_in_the_stated_order) {
    const schedule_row row = lit<"WORK=t64", "TILE=f4", "RASTER=gm8", "LOOPIFY=0", "STAGE@map.1/inner=d2/smem", "REDUCE@reduce=r2", "TILE@map.2/inner=f2", "TILE@map.1/inner=f4">;
    const std::string nul(1, '\0');
    std::string expected;
    for (const char* part : {"TILE@map.1/inner", "f4", "TILE@map.2/inner", "f2", "REDUCE@reduce", "r2", "STAGE@map.1/inner", "d2/smem", "WORK", "t64", "TILE", "f4", "LOOPIFY", "0", "RASTER", "gm8"})
        expected += part + nul;
    BOOST_TEST(canonical_key(row) == expected);
    const routing_row arm_row = arm<"REDUCE=g4k", "LAYOUT@a=source", "PLACE@reduce=cut", "PLACE@inner=cut">;
    expected.clear();
    for (const char* part : {"PLACE@inner", "cut", "PLACE@reduce", "cut", "LAYOUT@a", "source", "REDUCE", "g4k"}) expected += part + nul;
    BOOST_TEST(canonical_key(arm_row) == expected);
    // (Parenthesised: Boost.Test reads < on strings as every element below the other's.)
    // < on keys is < on lists of pairs: a name that is a prefix of another comes first, a list that is a prefix comes first.
    BOOST_TEST((canonical_key(schedule_row(lit<"TILE@map=f4">)) < canonical_key(schedule_row(lit<"TILE@map.1/map=f4">))));
    BOOST_TEST((canonical_key(schedule_row(lit<"WORK=t64">)) < canonical_key(schedule_row(lit<"WORK=t64", "TILE=f4">))));
    BOOST_TEST((canonical_key(schedule_row(lit<"WORK=t128">)) < canonical_key(schedule_row(lit<"WORK=t64">))));
}

BOOST_AUTO_TEST_CASE(rows_are_small) {
    BOOST_TEST(sizeof(schedule_row) <= 80u);
    std::vector<schedule_row> many(100000, schedule_row(lit<"WORK=t16x8", "TILE=f4x4", "REDUCE=", "STAGE=d3/smem-tma", "RASTER=">));
    BOOST_TEST(many.back().size() == 5u);  // bare rows allocate nothing: 8 MB for 10^5
}

BOOST_AUTO_TEST_SUITE_END()
