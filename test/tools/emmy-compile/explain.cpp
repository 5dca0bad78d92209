// emmy-compile --explain and --expect: kernel sets of a card without the card, pages, differences and exit codes.
#include <emmy/core/json.hpp>

#include <support/data.hpp>
#include <support/page.hpp>
#include <support/tool.hpp>

using emmy::test::run_tool;

namespace {
std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_report_is_expected_again) {
    const emmy::test::scratch_folder folder;
    const std::string op = "-q --op 'softmax(x: f32[16,64])' --db " + folder / "tune.db";
    const auto report = run_tool("emmy-compile", op + " --explain --json " + folder / "before.json");
    BOOST_TEST(report.code == 0, report.err);
    const auto same = run_tool("emmy-compile", op + " --expect " + folder / "before.json");
    BOOST_TEST(same.code == 0, same.err);
    BOOST_TEST(same.out.find(" forks, answered as in ") != std::string::npos, same.out);
    const auto pinned = run_tool("emmy-compile", op + " --pin WORK=t4 --expect " + folder / "before.json");
    BOOST_TEST(pinned.code == 1, pinned.err);
    BOOST_TEST(pinned.out.find(" schedule: was ") != std::string::npos, pinned.out);
    BOOST_TEST(pinned.out.find("WORK=t4") != std::string::npos, pinned.out);
    const auto both = run_tool("emmy-compile", op + " --pin WORK=t4 --explain --expect " + folder / "before.json");
    BOOST_TEST(both.code == 1);
    BOOST_TEST(both.out.find("    decided   ") != std::string::npos);
    BOOST_TEST(both.err.find(" schedule: was ") != std::string::npos, both.err);
    std::ofstream(folder / "other.json") << R"({"schema":"emmy.compile/1"})";
    const auto other = run_tool("emmy-compile", op + " --expect " + folder / "other.json");
    BOOST_TEST(other.code == 3);
    BOOST_TEST(other.err.find("emmy.explain/1") != std::string::npos, other.err);
    BOOST_TEST(run_tool("emmy-compile", op + " --expect " + folder / "before.json --stage text").code == 2);
    BOOST_TEST(run_tool("emmy-compile", op + " --format html").code == 2);
}

BOOST_AUTO_TEST_CASE(a_kernel_set_of_a_card_that_is_not_here) {
    std::string golden;
    for (const auto& path : emmy::test::peer_goldens())
        if (path.string().ends_with("records/h100_sm90.json")) golden = path.string();
    if (golden.empty()) return;
    const emmy::test::scratch_folder folder;
    const std::string what = "-q --golden '" + golden + "' --db " + folder / "tune.db";
    const auto report = run_tool("emmy-compile", what + " --explain --json " + folder / "standard.json");
    BOOST_TEST(report.code == 0, report.err);
    const auto text = emmy::test::slurp(folder / "standard.json");
    const auto doc = emmy::json::document::parse(text, "standard.json");
    BOOST_REQUIRE(doc.has_value());
    BOOST_TEST(doc->root().find("target")->text() == "NVIDIA H100 80GB");
    std::size_t pieces = 0, forks = 0;
    for (const auto& k : doc->root().find("kernels")->items())
        for (const auto& f : k.find("forks")->items()) ++forks, pieces += f.find("tier")->text() == "other producer's rows of the pieces";
    BOOST_TEST(pieces >= 20u);
    BOOST_TEST(run_tool("emmy-compile", what + " --expect " + folder / "standard.json").code == 0);
    const auto lane = run_tool("emmy-compile", what + " --fast-math --expect " + folder / "standard.json");
    BOOST_TEST(lane.code == 1);
    // A page of it: every fork once, nothing asked of anybody.
    const auto page = run_tool("emmy-compile", what + " --explain --format html");
    BOOST_TEST(page.code == 0);
    const std::string browser = emmy::test::browser();
    if (browser.empty()) {
        std::cout << "skipped: no chromium on this machine (apt-get install chromium)\n";
        return;
    }
    const auto shown = emmy::test::open_page(browser, page.out);
    BOOST_TEST(shown.requests == 0u);
    BOOST_TEST(count(shown.dom, "data-fork=") == forks);
    for (const auto& k : doc->root().find("kernels")->items())
        for (const auto& f : k.find("forks")->items()) BOOST_TEST(count(shown.dom, "data-fork=\"" + std::string(f.find("id")->text()) + "\"") == 1u);
}
