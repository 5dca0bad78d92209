// Every stored kernel formed anew from its own lift: which are formed, what the new kernel is, whether addresses stay.
#include "interop/loop/files.hpp"

#include <emmy/fold/form.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/wire.hpp>

#include <cstdio>
#include <ctime>
#include <map>

using namespace emmy;
namespace closed = fold::closed;

namespace {

std::vector<std::string> addresses(const closed::forest& f) {
    std::vector<std::string> out;
    for (const closed::site& s : closed::sites(f)) out.push_back(s.address);
    return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_formed_from_their_lift) {
    long kernels = 0, formed = 0, same = 0, same_sites = 0, kept = 0, kept_same = 0, texts = 0;
    const char* show = std::getenv("EMMY_TERM_SHOW");
    double seconds = 0;
    for (const test::stored_file& file : test::stored_files())
        for (const test::stored_kernel& stored : file.kernels) {
            const auto k = loop::read_kernel(stored.loop_ir);
            BOOST_REQUIRE(k);
            auto f = closed::lift_terms(*k);
            if (!f) continue;
            ++kernels;
            const auto before = addresses(*f);
            const bool swept = closed::geometry_of(*f).swept;
            const auto t0 = std::clock();
            const auto made = closed::form(std::move(*f));
            seconds += static_cast<double>(std::clock() - t0) / CLOCKS_PER_SEC;
            BOOST_REQUIRE_MESSAGE(made, stored.reference << " " << (made ? std::string() : made.error().line()));
            const bool equal = loop::identity(made->kernel) == loop::identity(*k), places = addresses(made->terms) == before;
            if (made->formed) {
                BOOST_TEST(!swept, stored.reference);
                ++formed, same += equal, same_sites += places, texts += loop::print(made->kernel) == loop::print(*k);
                for (const loop::stmt& s : made->kernel.body.stmts) BOOST_TEST((s.kind != loop::stmt_kind::accum || s.base == no_name));
            } else {
                ++kept, kept_same += equal;
                BOOST_TEST(places);
            }
            if (show && (stored.reference.find(show) != std::string::npos || (*show == '1' && made->formed && !places)))
                std::printf("%s %s formed %d same %d places %d\n%s%s%s%s", file.path.c_str(), stored.reference.c_str(), made->formed, equal, places, loop::print(*k).c_str(), closed::print(*closed::lift_terms(*k)).c_str(), loop::print(made->kernel).c_str(), closed::print(made->terms).c_str());
        }
    if (kernels == 0) return;
    std::printf("kernels %ld: formed %ld (the same kernel %ld, its text %ld, its addresses %ld), kept as minted %ld (the same kernel %ld); %.3f ms each\n", kernels, formed, same, texts, same_sites,
                kept, kept_same, 1e3 * seconds / static_cast<double>(kernels));
    BOOST_TEST(kernels == 1324);
    BOOST_TEST(formed == 1038);
    BOOST_TEST(same == 1004);  // the others: factors of decoded values after the sum
    BOOST_TEST(same_sites == 934);
    BOOST_TEST(kept_same == 240);  // the others: chains of plain folds that are one rescaled fold now
}
