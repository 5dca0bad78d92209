// evidence/explain.hpp: the report as table, JSON and page; what --expect compares; the page in a browser where there is one.
#include <emmy/core/json.hpp>
#include <emmy/evidence.hpp>

#include <boost/test/unit_test.hpp>

#include "support/kernel_sets.hpp"
#include "support/page.hpp"

#include <iostream>
#include <set>

using namespace emmy;
using namespace emmy::evidence;
using namespace emmy::test::kernel_sets;

namespace {
resolution decided(const example& what = {}) {
    const auto db = what.store();
    resolve_options options;
    options.explain = true;
    return must(compile(db, P, {n512, options}));
}
explained about(const resolution& r) { return {"Card X", "fast-math", own_producer, "layer </script><b>0</b>", &r, {}}; }
json::document parsed(const std::string& text) {
    auto out = json::document::parse(text, "report.json");
    BOOST_REQUIRE_MESSAGE(out, test::why(out));
    return *out;
}
std::vector<std::string> compared(const std::string& before, const std::string& now) {
    const auto b = parsed(before), n = parsed(now);
    auto out = differences(b.root(), n.root());
    BOOST_REQUIRE_MESSAGE(out, test::why(out));
    return *out;
}
std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(the_table_shows_the_tree) {
    const resolution r = decided();
    test::approve("evidence_explain_table", explain_table(about(r)));
}

BOOST_AUTO_TEST_CASE(the_json_has_every_decision) {
    const resolution r = decided();
    const std::string text = explain_json(about(r));
    const auto doc = parsed(text);
    std::size_t forks = 0;
    std::set<std::string> ids;
    for (const json::value& k : doc.root().find("kernels")->items())
        for (const json::value& f : k.find("forks")->items()) ++forks, ids.emplace(f.find("id")->text());
    BOOST_TEST(forks == r.decisions().size());
    BOOST_TEST(ids.size() == forks);
    BOOST_TEST(doc.root().find("expected_us")->find("own")->text() == "30.5");
    BOOST_TEST(doc.root().find("expected_us")->find("other")->is(json::kind::null));
    BOOST_TEST(explain_json(about(decided())) == text);
}

BOOST_AUTO_TEST_CASE(differences_are_of_tier_row_and_arm) {
    const resolution same = decided();
    const std::string before = explain_json(about(same));
    BOOST_TEST(compared(before, before).empty());
    const resolution slower = decided({.r3 = false});  // the next row of A: 12 + 21 still beats 40
    const auto lines = compared(before, explain_json(about(slower)));
    BOOST_REQUIRE(lines.size() == 1);
    BOOST_TEST(lines[0] == "k_p.1 schedule [n=512]: was own row (9.5 us, measured:h:emmy-cpp/1) REDUCE=coop WORK=t256, is own row (12.0 us, measured:h:emmy-cpp/1) REDUCE=coop WORK=t128");
    const resolution whole = decided({.r4 = false});
    const auto gone = compared(before, explain_json(about(whole)));
    BOOST_REQUIRE(gone.size() == 4);
    BOOST_TEST(gone[0] == "k_p PLACE [n=512]: was own rows of the pieces (30.5 us) PLACE@map.1/inner=cut, is own row (40.0 us, measured:h:emmy-cpp/1) whole");
    BOOST_TEST(gone[1].starts_with("k_p schedule [n=512]: is new, answered by own row"));
    BOOST_TEST(gone[2].starts_with("k_p.1 schedule [n=512]: is gone"));
    const auto other = parsed("{\"schema\":\"emmy.compile/1\"}"), now = parsed(before);
    const auto refused = differences(other.root(), now.root());
    BOOST_REQUIRE(!refused);
    BOOST_TEST((refused.error().kind() == fault_kind::input));
}

BOOST_AUTO_TEST_CASE(the_page_stands_alone) {
    const resolution r = decided();
    const std::string page = explain_page(about(r));
    for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("}) BOOST_TEST(page.find(outside) == page.npos, outside);
    BOOST_TEST(count(page, "</script>") == 2u);  // the report's and the page's own, whatever a program is called
    BOOST_TEST(page.find("default-src 'none'") != page.npos);
}

BOOST_AUTO_TEST_CASE(every_fork_is_in_the_page_once) {
    const std::string browser = test::browser();
    if (browser.empty()) {
        std::cout << "skipped: no chromium on this machine (apt-get install chromium)\n";
        return;
    }
    const resolution r = decided();
    const std::string page = explain_page(about(r)), text = explain_json(about(r));
    const test::dumped_page shown = test::open_page(browser, page);
    BOOST_TEST(shown.requests == 0u);
    BOOST_TEST(test::open_page(browser, "<img src=\"http://localhost/one.png\"><img src=\"http://localhost/two.png\">").requests == 2u);  // they would be seen
    const auto doc = parsed(text);
    for (const json::value& k : doc.root().find("kernels")->items())
        for (const json::value& f : k.find("forks")->items())
            BOOST_TEST(count(shown.dom, "data-fork=\"" + std::string(f.find("id")->text()) + "\"") == 1u);
    BOOST_TEST(count(shown.dom, "data-fork=") == r.decisions().size());
    BOOST_TEST(count(shown.dom, "class=\"bar\"") == r.leaves.size());
    BOOST_TEST(shown.dom.find("layer &lt;/script&gt;&lt;b&gt;0&lt;/b&gt;") != std::string::npos);
}
