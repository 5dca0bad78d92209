// Rules: the page that lists them, and one sentence for compilers and run time. What each refuses: test/fail/knob_rule_*.cpp, which
// hold the same sentences.
#include <emmy/knob.hpp>
#include <support/rule_page.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

using namespace emmy;
using namespace emmy::knob;

namespace {
constexpr target sm90 = target_of({9, 0});

std::string content(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}
template <class Rules = gpu::row_rules>
std::string said(std::vector<knob_pair> pairs, target t = sm90) {
    const auto row = schedule_row::parse(pairs, row_check::values_alone);
    BOOST_REQUIRE(row.has_value());
    std::string out;
    for (const finding& f : refusals<Rules>(*row, t)) out += (out.empty() ? "" : "; ") + std::string(sentence(f).view());
    return out;
}
}  // namespace

BOOST_AUTO_TEST_SUITE(knob_rules)

BOOST_AUTO_TEST_CASE(the_page_lists_them) {
    const std::filesystem::path page = std::filesystem::path(EMMY_SOURCE_DIR) / "doc" / "rules.md";
    BOOST_TEST(content(page).starts_with(rule_page()));  // unit_fork writes the page and its second half
}

BOOST_AUTO_TEST_CASE(every_rule_has_a_case_that_must_not_compile_with_the_sentence_of_the_run) {
    const auto check_case = [](std::string_view id, const std::vector<knob_pair>& pairs, target t, bool form) {
        const std::string text = content(std::filesystem::path(EMMY_SOURCE_DIR) / "test" / "fail" / ("knob_rule_" + std::string(id) + ".cpp"));
        std::smatch found;
        BOOST_REQUIRE_MESSAGE(std::regex_search(text, found, std::regex("// expect: (.+)")), id);
        const std::string run = form ? said<form_rules>(pairs, t) : said(pairs, t);
        BOOST_TEST_INFO(id << ": " << run);
        BOOST_TEST(std::regex_search(run, std::regex(found[1].str())));
    };
    std::size_t cases = 0;
    const auto each = [&]<class R>() {
        const std::string text = content(std::filesystem::path(EMMY_SOURCE_DIR) / "test" / "fail" / ("knob_rule_" + std::string(R::id) + ".cpp"));
        const std::regex literal(R"re(legal<[\w:]+, lit<(.*)>, target_of\(\{(\d+), (\d+)\}\)>)re"), pair_of("\"([^=\"]+)=([^\"]*)\"");
        std::vector<std::smatch> lines;
        for (auto at = std::sregex_iterator(text.begin(), text.end(), literal); at != std::sregex_iterator(); ++at) lines.push_back(*at);
        BOOST_REQUIRE_MESSAGE(lines.size() == 2u, R::id);  // the good twin, then the bad one
        for (const std::smatch& line : lines) {
            const std::string row = line[1].str();
            std::vector<std::pair<std::string, std::string>> texts;
            for (auto at = std::sregex_iterator(row.begin(), row.end(), pair_of); at != std::sregex_iterator(); ++at) texts.emplace_back((*at)[1], (*at)[2]);
            std::vector<knob_pair> pairs;
            for (const auto& [key, value] : texts) pairs.push_back({key, value});
            const target t = target_of({static_cast<std::uint16_t>(std::stoi(line[2])), static_cast<std::uint16_t>(std::stoi(line[3]))});
            const bool form = std::string_view(R::id)[0] == 'W';
            if (&line == &lines.front()) BOOST_TEST((form ? said<form_rules>(pairs, t) : said(pairs, t)) == "");
            else check_case(R::id, pairs, t, form);
        }
        ++cases;
    };
    gpu::row_rules::each(each);
    form_rules::each(each);
    BOOST_TEST(cases == gpu::row_rules::size + form_rules::size);
}

BOOST_AUTO_TEST_CASE(every_finding_is_told_in_declared_order_and_by_site) {
    BOOST_TEST(said({{"WORK", "w8x8+p1"}, {"TILE@map.1/inner", "mma_m16n8k16_f16_f32/f4x8/k2"}, {"TILE@map.2/inner", "f4"}, {"RASTER", "gm4"}}) ==
               "K1 WORK: threads of a block is 2080, must be at most 1024; K3 TILE: found [f4], expected WORK t... or no text for a scalar tile; "
               "K5 RASTER: found [gm4], expected no text, gm8, gn4 or gn8; K6 STAGE: found [], expected smem-tma beside producer warps");
    BOOST_TEST(said({{"WORK", "t8x16"}, {"REDUCE", "coop-t"}}) == "K3 REDUCE: found [coop-t], expected coop where outputs are packed; R6 WORK: width under coop-t is 8, must be a multiple of 32");
    BOOST_TEST(said({{"WORK", "t64"}, {"REDUCE", "coop-t/n8"}}, target_of({7, 0})) == "");
    const schedule_row legal_row = lit<"WORK=w4x2", "TILE=mma_m16n8k16_f16_f32/f4x8/k2", "STAGE=d3/smem-tma/p2", "RASTER=gm8">;
    BOOST_TEST(!check<gpu::row_rules>(legal_row, sm90).why.bad);
    const result<void> on_ada = check<gpu::row_rules>(legal_row, target_of({8, 9}));
    BOOST_TEST(on_ada.error().line() == "G1 STAGE: found [d3/smem-tma/p2], expected a transport that this card has");
}

BOOST_AUTO_TEST_CASE(typed_rows_and_schedule_rows_are_judged_alike) {
    using typed = row<WORK, at<"map.1/inner", TILE>, at<"map.1/inner", STAGE>, at<"map.2/inner", TILE>, RASTER>;
    const auto space = of_text<WORK, "w1x2", "w8x8", "w1x1+p1", "t128"> * of_text<at<"map.1/inner", TILE>, "", "mma_m16n8k16_f16_f32/f1x1", "f4"> *
                       of_text<at<"map.1/inner", STAGE>, "", "d2/smem-tma", "d8/smem"> * of_text<at<"map.2/inner", TILE>, "", "mma_m16n8k16_f16_f32/f1x1"> * of_text<RASTER, "", "gm8", "gn2">;
    std::size_t legal_rows = 0;
    space.each([&](const typed& r) {
        const auto ours = refusals<gpu::row_rules>(r, sm90);
        const auto theirs = refusals<gpu::row_rules>(schedule_of(r), sm90);
        BOOST_REQUIRE(ours.size() == theirs.size());
        for (std::size_t i = 0; i < ours.size(); ++i) BOOST_REQUIRE(sentence(ours[i]) == sentence(theirs[i]).view());
        legal_rows += ours.empty();
    });
    BOOST_TEST(legal_rows > 0u);
    BOOST_TEST((space % holds<gpu::row_rules>(sm90)).size() == legal_rows);
}

BOOST_AUTO_TEST_CASE(a_finished_row_is_judged_by_its_form_too) {
    const schedule_row bare = *schedule_row::parse("TILE=f4");
    BOOST_TEST(bool(check<gpu::row_rules>(bare, sm90)));
    const verdict finished = check<gpu::schedule_rules>(bare, sm90);
    BOOST_TEST(!bool(finished));
    BOOST_TEST(finished.why.sentence().view() == "W1 row: found [no WORK], expected WORK and RASTER in every complete row");
    BOOST_TEST(gpu::schedule_rules::size == gpu::row_rules::size + form_rules::size);
}

BOOST_AUTO_TEST_SUITE_END()
