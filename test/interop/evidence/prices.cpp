// Prices of the decisions that two of the peer's files took, at their own sizes: the totals of its documentation.
#include <emmy/evidence.hpp>

#include <boost/test/unit_test.hpp>

#include "support/data.hpp"
#include "support/store.hpp"

#include <cmath>
#include <map>

using namespace emmy;
using namespace emmy::evidence;

BOOST_AUTO_TEST_CASE(taken_decisions_have_the_documented_prices) {
    struct expected {
        std::uint32_t priced, taken;
        double total;
    };
    const std::map<std::string, std::map<std::string, expected>> documented{
        {"records/h100_sm90", {{"standard", {23, 23, 1548.509319}}, {"fast-math", {16, 16, 10603.551139}}}},
        {"gemma-4-12B-it/rtx5090_sm120", {{"standard", {55, 66, 168701.711543}}, {"fast-math", {64, 72, 68687.120992}}}}};
    std::size_t files = 0;
    const auto paths = test::peer_goldens();
    for (const auto& path : paths) {
        const auto of = documented.find(path.parent_path().filename().string() + "/" + path.stem().string());
        if (of == documented.end()) continue;
        ++files;
        const auto db = temporary_store();
        BOOST_REQUIRE(db);
        const auto report = import_file(*db, path.string());
        BOOST_REQUIRE_MESSAGE(report, test::why(report));
        auto txn = db->read();
        const auto contexts = store::all_contexts(*txn);
        for (const auto& [ctx, context] : *contexts) {
            const auto evidence = snapshot::open(*db, context, {report->label}, "emmy-cpp/1");
            BOOST_REQUIRE_MESSAGE(evidence, test::why(evidence));
            price_book peer(*evidence, producer_rank::other), own(*evidence, producer_rank::own);
            std::uint32_t priced = 0, taken = 0, both = 0;
            double total = 0;
            auto at = txn->open_cursor(store::layout::table::taken);
            const std::string prefix(store::layout::key().u32(ctx).view());
            for (bool more = at->seek(prefix).value(); more && at->key().starts_with(prefix); more = at->next().value()) {
                const char* key = at->key().data();
                const digest128 kernel = store::layout::read_digest(key + 4);
                const auto sizes = store::read_bindings(*txn, store::layout::read_u64(key + 20));
                const auto arm = store::read_row(*txn, store::layout::read_u32(key + 28));
                BOOST_REQUIRE(sizes && arm);
                ++taken;
                const auto price = peer.price(kernel, *sizes);
                BOOST_REQUIRE_MESSAGE(price, test::why(price));
                both += (*price)->leaf && !(*price)->arms.empty();
                for (const priced_arm& p : (*price)->arms)
                    if (p.arm == *arm) ++priced, total += p.us;
                BOOST_TEST(!(*own.price(kernel, *sizes))->best());  // nothing here was measured by this compiler
            }
            const expected& e = of->second.at(lane_text(context));
            BOOST_TEST(taken == e.taken);
            BOOST_TEST(priced == e.priced);
            BOOST_TEST(both == 0u);
            BOOST_TEST(std::abs(total - e.total) < 1e-6, of->first << " " << lane_text(context) << ": " << std::to_string(total));
        }
    }
    BOOST_TEST(files == (paths.empty() ? 0u : 2u));
}
