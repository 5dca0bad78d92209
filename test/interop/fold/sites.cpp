// Which families a row spells and at which sites: the keys of every stored schedule row against the site model of its kernel.
#include "interop/loop/files.hpp"

#include <emmy/fold/sites.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/wire.hpp>

#include <cstdio>
#include <map>
#include <set>

using namespace emmy;
namespace closed = fold::closed;

namespace {

using key_set = std::set<std::string>;

void add_keys(key_set& to, std::string_view family, const std::vector<std::string>& addresses) {
    if (addresses.size() == 1) to.insert(std::string(family));
    else
        for (const std::string& a : addresses) to.insert(std::string(family) + "@" + a);
}
/// Keys of a complete row, WORK and RASTER aside.
key_set keys_of(const closed::site_model& m) {
    std::vector<std::string> tiles, reduces, stages;
    for (const closed::site_facts& s : m.sites) {
        if (s.tiles || s.pointwise) tiles.push_back(s.address);
        if (s.kind != fold::term_kind::map) reduces.push_back(s.address);
        if (s.tiles) stages.push_back(s.address);
    }
    key_set out;
    add_keys(out, "TILE", tiles), add_keys(out, "REDUCE", reduces), add_keys(out, "STAGE", stages);
    return out;
}
std::string joined(const key_set& keys) {
    std::string out;
    for (const std::string& k : keys) out += (out.empty() ? "" : " ") + k;
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(families_and_sites_of_stored_rows) {
    long rows = 0, equal = 0;
    std::map<std::string, long> misses;
    const char* show = std::getenv("EMMY_TERM_SHOW");
    for (const test::stored_file& file : test::stored_files()) {
        std::map<std::string_view, const test::stored_kernel*> kernels;
        for (const test::stored_kernel& k : file.kernels) kernels.emplace(k.reference, &k);
        const json::value* list = file.document.root().find("rows");
        if (!list) continue;
        for (const json::value& row : list->items()) {
            const json::value* knobs = row.find("knobs");
            if (!knobs || knobs->members().empty()) continue;
            key_set spelled;
            for (const json::member& m : knobs->members())
                for (const std::string_view family : {"TILE", "REDUCE", "STAGE"})
                    if (m.key.starts_with(family)) spelled.insert(std::string(m.key));
            ++rows;
            const test::stored_kernel& stored = *kernels.at(row.find("kernel")->text());
            const auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            const auto f = closed::lift_terms(*k);
            if (!f) {
                ++misses[f.error().line() + " (" + joined(spelled) + ")"];
                continue;
            }
            const key_set expected = keys_of(closed::site_model_of(*f));
            equal += spelled == expected;
            if (spelled == expected) continue;
            const std::string what = "spelled " + joined(spelled) + ", sites " + joined(expected) + (stored.formed ? "" : ", formed:false");
            if (++misses[what] == 1 && show) std::printf("%s %s: %s\n%s%s", file.path.c_str(), stored.reference.c_str(), what.c_str(), loop::print(*k).c_str(), closed::print(*f).c_str());
        }
    }
    if (rows == 0) return;
    std::printf("schedule rows %ld, keys as the site model has them %ld\n", rows, equal);
    for (const auto& [what, n] : misses) std::printf("  %ld  %s\n", n, what.c_str());
    // The others: rows of kernels whose terms the stored body does not tell (formed:false), and unmeasured rows that stand at a kernel which cannot
    // take them (a tile at a column sum, a strip at a reduction).
    BOOST_TEST(rows == 1874);
    BOOST_TEST(equal == 1814);
}
