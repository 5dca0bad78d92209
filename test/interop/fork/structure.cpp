// Every routing row of the peer's files, taken again on its parent.
#include "interop/fork/retaken.hpp"

#include <cstdio>
#include <cstdlib>

using namespace emmy;
using namespace emmy::test;

namespace {

struct tally {
    long rows = 0, right = 0, in_order = 0;
    std::map<std::string, long> how;
};

std::string kind_of(const routing_case& c) {
    if (c.family() != "PLACE") return std::string(c.family());
    return c.arm.size() == 1 ? "PLACE one key" : "PLACE joint";
}

}  // namespace

BOOST_AUTO_TEST_CASE(routing_rows_taken_again) {
    const char* only_file = std::getenv("EMMY_ROUTES_FILE");
    const char* only = std::getenv("EMMY_ROUTES_SHOW");
    std::map<std::string, tally> tallies;
    std::string misses;
    for (const stored_file& file : stored_files()) {
        if (only_file && file.path.find(only_file) == std::string::npos) continue;
        routes r(file);
        retaker again(r);
        for (const routing_case& c : r.rows) {
            if (only && c.parent.find(only) == std::string::npos) continue;
            tally& t = tallies[kind_of(c)];
            const retaken made = again.take(c);
            ++t.rows, ++t.how[reading_names[static_cast<int>(made.how)]];
            t.right += made.how != reading::none, t.in_order += made.in_order;
            if (made.how != reading::none && !only) continue;
            misses += file.path + " " + c.parent + (r.stored(c.parent).formed ? "" : " (formed:false)");
            for (const auto& choice : c.arm) misses += " " + choice.key + "=" + choice.value;
            misses += ": " + made.why + "\n";
            if (!only) continue;
            std::printf("%s\n", loop::print(r.kernel(c.parent)).c_str());
            for (const std::string& child : c.children) std::printf("stored %s\n", loop::print(r.kernel(child)).c_str());
            if (made.set)
                for (const fork::piece& p : made.set->pieces) std::printf("made %s\n", loop::print(p.form.kernel).c_str());
        }
    }
    if (tallies.empty()) return;
    std::printf("%s", misses.c_str());
    for (const auto& [kind, t] : tallies) {
        std::printf("%s: %ld rows, %ld right, %ld in the stored order;", kind.c_str(), t.rows, t.right, t.in_order);
        for (const auto& [how, n] : t.how) std::printf(" %s %ld", how.c_str(), n);
        std::printf("\n");
    }
}
