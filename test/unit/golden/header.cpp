// Golden files as headers: what is refused, what the text holds; the table that such a header gives.
#include <support/compiled_source.hpp>

#include <emmy/golden/document.hpp>
#include <emmy/golden/emit_header.hpp>

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iterator>

using namespace emmy;
using namespace emmy::golden;

namespace {
std::string refusal(const document& file, const header_options& options) {
    const auto text = header_text(file, options);
    return text ? std::string() : text.error().line();
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_header_states_the_file) {
    const auto file = document::load(EMMY_SOURCE_DIR "/doc/examples/typed/softmax_h100.json");
    BOOST_REQUIRE(file);
    const auto text = header_text(*file, {"a::b", "sm_90"});
    BOOST_REQUIRE_MESSAGE(text, refusal(*file, {"a::b", "sm_90"}));
    for (const char* piece : {"// Made from softmax_h100.json by emmy-import", "namespace a::b {", "std::array<std::string_view, 2> work{{\n    \"t512\", \"t256\",\n}};", "std::array<compiled::row_data, 2> rows_0{{",
                              "{\"softmax.512x2048\", 0, 3, 3, 0, 0, 0, 5, 0x", "\"FAST_MATH=false\"", "\"NVIDIA H100 80GB\", {9, 0}", "std::array<compiled::route_data, 0> routes{};"})
        BOOST_TEST(text->find(piece) != std::string::npos, "no " << piece << " in\n" << *text);
    BOOST_TEST(header_text(*file, {"a::b", ""}).value() == *text);
}

BOOST_AUTO_TEST_CASE(a_header_of_another_target_or_name_is_refused) {
    const auto file = document::load(EMMY_SOURCE_DIR "/doc/examples/typed/softmax_h100.json");
    BOOST_REQUIRE(file);
    BOOST_TEST(refusal(*file, {"x", "sm_80"}).find("--target: found sm_80, expected sm_90, the target of the file's rows") != std::string::npos);
    for (const char* name : {"", "1x", "a-b", "a::", "::a", "a:b", "a::1"}) BOOST_TEST(refusal(*file, {name, ""}) == "--namespace: found [" + std::string(name) + "], expected a C++ namespace");
}

BOOST_AUTO_TEST_CASE(a_header_of_a_row_that_breaks_a_rule_is_refused) {
    std::ifstream in(EMMY_SOURCE_DIR "/doc/examples/typed/softmax_h100.json");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::size_t at = text.find("t256");
    BOOST_REQUIRE(at != std::string::npos);
    const std::string bad = text.replace(at, 4, "t32x64");
    const auto file = document::parse(bad, "bad.json");
    BOOST_REQUIRE(file);
    BOOST_TEST(refusal(*file, {"x", ""}).find("rows[1].knobs: K1 WORK: threads of a block is 2048, must be at most 1024") != std::string::npos, refusal(*file, {"x", ""}));
}

BOOST_AUTO_TEST_CASE(rows_are_found_by_kernel_sizes_and_regime) {
    const compiled::table& t = test::small_table;
    BOOST_TEST(t.size() == 4u);
    const digest128 first = t.identity("k_first"), second = t.identity("k_second");
    BOOST_TEST((first && second && !t.identity("k_third")));
    const auto scalar = t.find(first);
    BOOST_REQUIRE(scalar.has_value());
    BOOST_TEST(scalar->name() == "scalar");
    BOOST_TEST(scalar->us() == 20.25);
    BOOST_TEST(scalar->value<knob::WORK>().threads() == 128);
    BOOST_TEST(!t.find(first, {}, true));                   // another regime
    BOOST_TEST(!t.find(first, {{"seq_len", 512}}));         // other sizes
    BOOST_TEST(!t.find(second));
    BOOST_TEST((t.find(second, {{"seq_len", 512}})->name() == "warps"));
    BOOST_TEST((t.find(second, {{"seq_len", 512}}, true)->name() == "coop"));
    BOOST_TEST(!t.find(second, {{"seq_len", 511}}));
}

BOOST_AUTO_TEST_CASE(a_row_of_another_regime_is_not_found) {
    // The first source with the fastest row of the second kernel, the one under FAST_MATH, measured under further pins.
    static constexpr std::array<std::string_view, 2> pins{{"FAST_MATH=false", "FAST_MATH=false,COLD_CACHE=true,FP8_MMA=true"}};
    static constexpr compiled::source other = [] {
        compiled::source s = *test::small_table.source;
        s.regimes = pins;
        return s;
    }();
    compiled::table t = test::small_table;
    t.source = &other;
    const digest128 second = t.identity("k_second");
    BOOST_TEST((t.find(second, {{"seq_len", 512}})->name() == "warps"));  // 12.5 µs; the other has 9
    BOOST_TEST(!t.find(second, {{"seq_len", 512}}, true));
    BOOST_TEST((t.find(second, {{"seq_len", 512}}, "FP8_MMA=true,COLD_CACHE=true")->name() == "coop"));
    BOOST_TEST((t.find(second, {{"seq_len", 512}}, "FP8_MMA=true,FAST_MATH=false,COLD_CACHE=true")->name() == "coop"));
    for (const char* regime : {"COLD_CACHE=true", "FAST_MATH=true,COLD_CACHE=true,FP8_MMA=true", "COLD_CACHE=true,FP8_MMA=true,FAST_EXP=false"})
        BOOST_TEST(!t.find(second, {{"seq_len", 512}}, regime), regime);
}

BOOST_AUTO_TEST_CASE(a_compiled_row_is_the_schedule_row) {
    const compiled::row routed = test::small_table[3];
    BOOST_TEST(!routed.measured());
    std::vector<knob::knob_pair> pairs;
    routed.each([&](std::string_view key, std::string_view value) { pairs.push_back({key, value}); });
    const auto parsed = knob::schedule_row::parse(pairs);
    BOOST_REQUIRE(parsed.has_value());
    BOOST_TEST((*parsed == routed.schedule()));
    const auto site = *knob::route::parse("map.1/inner");
    BOOST_TEST((routed.get<knob::TILE>(site) == parsed->get<knob::TILE>(site)));
    BOOST_TEST((routed.get<knob::TILE>() == parsed->get<knob::TILE>()));
    BOOST_TEST(!routed.get<knob::LOOPIFY>());
    const auto route = test::small_table.route(0);
    BOOST_TEST((route.parent == 0 && route.arm.size() == 1 && route.children.size() == 2));
}
