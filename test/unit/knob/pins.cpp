#include <emmy/knob.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using namespace emmy::knob;

namespace {
std::string keys(std::string_view text) {
    const auto pins = pin_list::parse(text);
    if (!pins) return pins.error().line() + " (" + std::to_string(exit_code(pins.error().kind())) + ")";
    std::string out;
    for (const pin& p : *pins) out += p.key() + "=" + p.value + ";";
    return out;
}
std::string schedule(std::string_view text, std::string_view kernel, std::string_view node = {}) { return row_text(pin_list::parse(text)->schedule_for(kernel, node)); }
std::string missed(const schedule_row& row, const schedule_row& pinned) {
    std::string out;
    for (const auto& key : unrealised(row, pinned)) out += key + ";";
    return out;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(knob_pins)

BOOST_AUTO_TEST_CASE(lists_are_read_as_the_grammar_says) {
    BOOST_TEST(keys("") == "");
    BOOST_TEST(keys("   ") == "");
    BOOST_TEST(keys("TILE=f4x8") == "TILE=f4x8;");
    BOOST_TEST(keys(" tile=f4x8 , work=t16x8,RASTER=") == "TILE=f4x8;WORK=t16x8;RASTER=;");
    BOOST_TEST(keys("Tile@MAP.1/Inner=f4") == "TILE@map.1/inner=f4;");
    BOOST_TEST(keys("FAST_MATH=Yes,fp8_mma=off,TEAM=2,UNROLL=8") == "FAST_MATH=true;FP8_MMA=false;TEAM=2;UNROLL=8;");
    BOOST_TEST(keys("WORK=t32,WORK=t32") == "WORK=t32;");
    BOOST_TEST(keys("PLACE=fuse,PLACE@map.1/inner=cut,LAYOUT@linear_wt=source,REDUCE=g4k") == "PLACE=fuse;PLACE@map.1/inner=cut;LAYOUT@linear_wt=source;REDUCE=g4k;");
    BOOST_TEST(keys("layout@Linear_W=source,LAYOUT@linear_w=folded,LAYOUT@place_0=source,LAYOUT@node_W=source") ==
               "LAYOUT@Linear_W=source;LAYOUT@linear_w=folded;LAYOUT@place_0=source;LAYOUT@node_W=source;");
    BOOST_TEST(((*pin_list::parse("LAYOUT@place_0=source")->begin()).where == reach::all));
    BOOST_TEST(keys("LAYOUT@=source").find("expected the name of a constant buffer") != std::string::npos);
    BOOST_TEST(keys("WORK@place_bd5a3b04ff=t32,TILE@node_linear_3=f4") == "WORK@place_bd5a3b04ff=t32;TILE@node_linear_3=f4;");
    BOOST_TEST(keys("PLACE@step.2=cut,PLACE@step.1/map.1/inner=cut") == "PLACE@step.2=cut;PLACE@step.1/map.1/inner=cut;");
    BOOST_TEST(keys("PLACE@place_bd5a3b04ff/map.1/inner=cut") == "PLACE@place_bd5a3b04ff/map.1/inner=cut;");
}

BOOST_AUTO_TEST_CASE(refusals_are_the_users_and_name_the_pin) {
    BOOST_TEST(keys("TILES=f2").starts_with("pins: found [TILES], expected one of WORK, TILE, REDUCE, STAGE, RASTER"));
    BOOST_TEST(keys("TILES=f2").ends_with("GUARD_REDUCTIONS, PAIR_LDMATRIX, UNROLL (2)"));
    BOOST_TEST(keys("TILE@ma\np=f2").starts_with("TILE@ma?p: found [ma?p], expected "));
    BOOST_TEST(keys("TILE").starts_with("pins: found [TILE], expected KEY=VALUE at offset 4 (2)"));
    BOOST_TEST(keys("TILE=f4,,WORK=t32").starts_with("pins: found [], expected KEY=VALUE at offset 0"));
    BOOST_TEST(keys("TILE=f4,").starts_with("pins: found [], expected KEY=VALUE at offset 0"));
    BOOST_TEST(keys("=f4").starts_with("pins: found [=f4], expected KEY=VALUE"));
    BOOST_TEST(keys("TILE=f4x1") == "TILE: found [f4x1], expected no x1 (spell it without) at offset 2 (2)");
    BOOST_TEST(keys("WORK=t32,work=t64") == "WORK: found [t64], expected one value (it is pinned to t32 before) (2)");
    BOOST_TEST(keys("WORK@map=t32").find("expected the bare key, place_<token> or node_<id>") != std::string::npos);
    BOOST_TEST(keys("TILE@n0=f4").find("expected a node kind") != std::string::npos);
    BOOST_TEST(keys("TILE@=f4").find("expected a route, place_<token> or node_<id> after @") != std::string::npos);
    BOOST_TEST(keys("TILE@place_=f4").find("expected place_ and the token of a cut piece") != std::string::npos);
    BOOST_TEST(keys("TILE@place_ab/map=f4").find("PLACE alone takes one") != std::string::npos);
    BOOST_TEST(keys("PLACE@place_ab/=cut").find("a route after /") != std::string::npos);
    BOOST_TEST(keys("PLACE@step.0=cut").find("expected step. and a number from 1 up") != std::string::npos);
    BOOST_TEST(keys("TILE@step.1=f4").find("expected a node kind") != std::string::npos);
    BOOST_TEST(keys("FAST_MATH=maybe").find("expected 1, true, yes, on or 0, false, no, off") != std::string::npos);
    BOOST_TEST(keys("TEAM=0").find("expected a number of threads from 1 up") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(scoped_pins_reach_their_kernel_and_shadow_the_bare_one) {
    const std::string_view text = "WORK=t32,WORK@place_bd5a3b04ff=t64,TILE@node_linear_3=f4,REDUCE=g4k/coop,RASTER=";
    BOOST_TEST(schedule(text, "k_sum") == R"({"RASTER":"","REDUCE":"coop","WORK":"t32"})");
    BOOST_TEST(schedule(text, "k_sum__place_bd5a3b04ff") == R"({"RASTER":"","REDUCE":"coop","WORK":"t64"})");
    BOOST_TEST(schedule(text, "k_sum__place_bd5a3b04ff_1") == R"({"RASTER":"","REDUCE":"coop","WORK":"t64"})");
    BOOST_TEST(schedule(text, "k_sum__place_bd5a3b04ffab") == R"({"RASTER":"","REDUCE":"coop","WORK":"t32"})");
    BOOST_TEST(schedule(text, "k", "Linear_3") == R"({"RASTER":"","REDUCE":"coop","TILE":"f4","WORK":"t32"})");
    BOOST_TEST(schedule("REDUCE=g4k,PLACE=cut,FAST_MATH=1", "k") == "{}");  // structural and regime pins are not a row's
    BOOST_TEST(pin_list::parse(text)->find("WORK")->value == "t32");
    BOOST_TEST(pin_list::parse(text)->find("TEAM") == nullptr);
}

BOOST_AUTO_TEST_CASE(rows_are_filtered_and_completed_by_pins) {
    const schedule_row bare = lit<"WORK=t16x8", "TILE=f4x4", "RASTER=">;
    BOOST_TEST(honours(bare, lit<"TILE=f4x4">));
    BOOST_TEST(honours(bare, lit<"REDUCE=", "STAGE=">));  // OFF is realised by absence
    BOOST_TEST(missed(bare, lit<"TILE=f2", "RASTER=gm8", "STAGE=d2/smem">) == "TILE;STAGE;RASTER;");
    const schedule_row two = lit<"WORK=w4x1", "TILE@map.1/twist=", "TILE@map.1/twist.1/inner=mma_m16n8k16_f16_f32/f1x8">;
    BOOST_TEST(honours(two, lit<"TILE=mma_m16n8k16_f16_f32/f1x8">));
    BOOST_TEST(missed(two, lit<"TILE=mma_m16n8k16_f16_f32/f1x4">) == "TILE;");
    BOOST_TEST(missed(two, lit<"TILE@map.1/twist=f2">) == "TILE@map.1/twist;");
    BOOST_TEST(row_text(*with_pins(bare, lit<"TILE=f2", "STAGE=d2/smem">)) == R"({"RASTER":"","STAGE":"d2/smem","TILE":"f2","WORK":"t16x8"})");
    BOOST_TEST(with_pins(two, lit<"TILE=f2">).error().line() == "TILE: found [f2], expected a route in the key (the family has 2 sites here)");
    BOOST_TEST(row_text(*with_pins(schedule_row(lit<"TILE@inner=f2">), lit<"TILE=f4">)) == R"({"TILE@inner":"f4"})");
    BOOST_TEST(row_text(*with_pins(two, lit<"TILE@map.1/twist=mma_m16n8k16_f16_f32/f1x8">)).find("twist\":\"mma") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(texts_and_typed_rows_realise_pins_alike) {
    const std::vector<std::pair<std::string, std::string>> rows[] = {
        {{"WORK", "t64"}, {"TILE", "f4"}, {"RASTER", ""}},
        {{"WORK", "t64"}, {"TILE@map.1/inner", "f4"}, {"TILE@map.2/inner", ""}},
        {{"WORK", "t64"}, {"TILE@map.1/inner", "f4"}, {"TILE@map.2/inner", "f2"}},
        {{"WORK", "t64"}, {"TILE@map.1/inner", ""}, {"TILE@map.2/inner", ""}}};
    for (const auto& pairs : rows) {
        schedule_row typed;
        for (const auto& [key, value] : pairs) BOOST_REQUIRE(!typed.put(key, value));
        for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"WORK", "t64"}, {"WORK", "t32"}, {"TILE", "f4"}, {"TILE", ""}, {"TILE", "f2"}, {"STAGE", ""},
                                                                                         {"STAGE", "d2/smem"}, {"RASTER", ""}, {"TILE@map.1/inner", "f4"}, {"TILE@map.2/inner", ""}}) {
            schedule_row pin_row;
            BOOST_REQUIRE(!pin_row.put(key, value));
            BOOST_TEST(realises(pairs, key, value) == honours(typed, pin_row), key << "=" << value << " on " << row_text(typed));
        }
    }
    BOOST_TEST(!realises(rows[0], "PLACE", "fuse"));  // no OFF value
    BOOST_TEST(!realises(rows[0], "NOPE", ""));
}

struct VEC : choice<"VEC", 1, 2, 4, 8> {};
struct UNROLLED : choice<"UNROLLED", 1, 2> {
    static constexpr scope where = scope::node;
};

BOOST_AUTO_TEST_CASE(families_of_ones_own_are_pinned_the_same_way) {
    using mine = built_in::with<VEC, UNROLLED>;
    const auto pins = pin_list::parse<mine>("vec=4, FAST_MATH=1, UNROLLED@map.1/inner=2");
    BOOST_REQUIRE(pins.has_value());
    BOOST_TEST(pins->size() == 3u);
    const auto space = all<VEC> * all<at<"map.1/inner", UNROLLED>> * all<at<"map.2/inner", UNROLLED>>;
    BOOST_TEST(pin_by(space, *pins)->size() == 2u);
    struct NARROW : choice<"VEC", 1, 2> {};
    BOOST_TEST(pin_by(all<NARROW>, *pins).error().line() == "VEC: found [4], expected one of 1, 2 at offset 0");
    BOOST_TEST(pin_list::parse<mine>("VEC=3").error().line() == "VEC: found [3], expected one of 1, 2, 4, 8 at offset 0");
    BOOST_TEST(!pin_list::parse("VEC=4").has_value());  // not a built-in one
}

BOOST_AUTO_TEST_CASE(rows_and_pins_read_what_tools_print) {
    const auto printed = schedule_row::parse("REDUCE=coop  RASTER= WORK=t16"), written = schedule_row::parse(" WORK=t16, REDUCE=coop,RASTER= ");
    BOOST_REQUIRE(printed.has_value() && written.has_value());
    BOOST_TEST((*printed == *written));
    BOOST_TEST(printed->size() == 3u);
    BOOST_TEST(schedule_row::parse("")->empty());
    BOOST_TEST(schedule_row::parse("WORK=t16 REDUCE").error().line() == "row: found [REDUCE], expected KEY=VALUE at offset 6");
    BOOST_TEST(schedule_row::parse("WORK=t16,").error().line() == "row: found [], expected KEY=VALUE at offset 0");
    BOOST_TEST(schedule_row::parse("WORK=t16 WORK=t16").error().line() == "WORK: found the key twice, expected it once");
    BOOST_TEST(!schedule_row::parse("TILE=f1").has_value());  // under no WORK
    const auto pins = pin_list::parse("REDUCE=coop WORK=t16\tFAST_MATH=1");
    BOOST_REQUIRE(pins.has_value());
    BOOST_TEST(pins->size() == 3u);
    BOOST_TEST(pin_list::parse("WORK=t16 TILE").error().line() == "pins: found [TILE], expected KEY=VALUE at offset 4");
}

BOOST_AUTO_TEST_SUITE_END()
