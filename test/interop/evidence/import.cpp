// The peer's golden files in a store: counts, sums and labels of its documentation, recounted here over the files present.
#include <emmy/evidence.hpp>
#include <emmy/golden/scope.hpp>

#include <emmy/core/file.hpp>
#include <emmy/loop/identity.hpp>

#include <boost/test/unit_test.hpp>

#include "support/data.hpp"
#include "support/store.hpp"

#include <cmath>
#include <map>
#include <set>

using namespace emmy;
using namespace emmy::evidence;

namespace {
struct stored {
    store::environment db;
    import_report report;
};
stored import_alone(const std::string& path) {
    auto db = temporary_store(store::store_kind::dataset);
    BOOST_REQUIRE_MESSAGE(db, test::why(db));
    auto report = import_file(*db, path);
    BOOST_REQUIRE_MESSAGE(report, test::why(report));
    test::require_clean(*db);
    return {*db, *report};
}
std::string short_name(const std::filesystem::path& p) { return p.parent_path().filename().string() + "/" + p.stem().string(); }
std::uint64_t entries(const store::environment& db, store::layout::table t) { return db.read()->count(t).value(); }

struct sums {
    std::map<std::string, std::uint32_t> lanes;
    double total = 0, least = 1e300, most = 0;
};
sums sum(const store::environment& db) {
    sums out;
    std::map<std::uint32_t, std::string> lanes;
    const auto txn = db.read();
    const auto contexts = store::all_contexts(*txn);
    for (const auto& [id, c] : *contexts) lanes[id] = lane_text(c);
    for (const auto& m : test::measurements(db)) {
        ++out.lanes[lanes[m.key.ctx]];
        out.total += m.time.median;
        out.least = std::min(out.least, m.time.median);
        out.most = std::max(out.most, m.time.median);
    }
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(two_files_of_the_documentation) {
    using layout = store::layout::table;
    for (const auto& path : test::peer_goldens()) {
        const std::string name = short_name(path);
        const bool h100 = name == "records/h100_sm90", gemma = name == "gemma-4-12B-it/rtx5090_sm120";
        if (name == "records/rtx5090_sm120") BOOST_TEST(golden_label(path.string()).value() == "golden:de73570b7177");
        if (!h100 && !gemma) continue;
        const auto [db, report] = import_alone(path.string());
        BOOST_TEST(report.label == (h100 ? "golden:7c24f6296c88" : "golden:4b084f580801"));
        BOOST_TEST(report.warnings.empty());
        BOOST_TEST(report.offered == (h100 ? 226u : 575u));
        BOOST_TEST(entries(db, layout::kernel) == (h100 ? 189u : 305u));  // no two references of a file merge
        BOOST_TEST(entries(db, layout::ctx) == 2u);
        BOOST_TEST(entries(db, layout::row) == (h100 ? 113u + 18u : 150u + 18u));
        BOOST_TEST(entries(db, layout::route) == (h100 ? 124u : 337u));
        BOOST_TEST(entries(db, layout::taken) == (h100 ? 39u : 138u));
        BOOST_TEST(entries(db, layout::perf) == (h100 ? 226u : 492u));
        BOOST_TEST(entries(db, layout::perf_by) == (h100 ? 226u : 492u));
        const sums s = sum(db);
        BOOST_TEST(s.lanes.at("standard") == (h100 ? 134u : 231u));
        BOOST_TEST(s.lanes.at("fast-math") == (h100 ? 92u : 261u));
        BOOST_TEST(std::abs(s.total - (h100 ? 81683.478890 : 101770.365322)) < 1e-6);
        BOOST_TEST(std::abs(s.least - (h100 ? 1.019862 : 0.713285)) < 1e-6);
        BOOST_TEST(std::abs(s.most - (h100 ? 12481.711864 : 17049.360275)) < 1e-6);
        BOOST_TEST(import_file(db, path.string())->skipped);
        BOOST_TEST(entries(db, layout::source) == 1u);

        // Routes: decisions, parents, pieces, shared pieces.
        auto txn = db.read();
        std::set<digest128> parents, children;
        std::map<digest128, std::set<digest128>> up;
        const auto routes = store::all_routes(*txn);
        for (const auto& r : *routes) {
            parents.insert(r.parent);
            for (const digest128& c : r.children) up[c].insert(r.parent), children.insert(c);
        }
        BOOST_TEST(routes->size() == (h100 ? 36u : 90u));
        if (gemma) {
            BOOST_TEST(parents.size() == 85u);
            BOOST_TEST(children.size() == 265u);
            BOOST_TEST(std::count_if(up.begin(), up.end(), [](const auto& c) { return c.second.size() > 1; }) == 66);
        }
    }
}

BOOST_AUTO_TEST_CASE(all_files_in_one_store) {
    const auto files = test::peer_goldens();
    if (files.empty()) return;
    const auto db = temporary_store(store::store_kind::dataset);
    std::uint32_t offered = 0, stored = 0, decisions = 0, filled = 0;
    for (const auto& path : files) {
        const auto report = import_file(*db, path.string());
        BOOST_REQUIRE_MESSAGE(report, test::why(report));
        offered += report->offered, stored += report->stored, decisions += report->routes;
        for (const std::string& w : report->warnings) {
            BOOST_TEST(w.find("no size for") != std::string::npos);
            ++filled;
        }
    }
    test::require_clean(*db);
    BOOST_TEST(files.size() == 14u);
    BOOST_TEST(offered == 1723u);
    BOOST_TEST(decisions == 295u);
    BOOST_TEST(filled == 6u);  // measured rows of symbolic kernels that state no size
    auto txn = db->read();
    std::uint32_t schedules = 0, arms = 0;
    for (std::uint32_t id = 1; id <= entries(*db, store::layout::table::row); ++id) {
        store::row_kind kind{};
        BOOST_REQUIRE(store::read_row(*txn, id, &kind).has_value());
        ++(kind == store::row_kind::schedule ? schedules : arms);
    }
    BOOST_TEST(arms == 67u);
    const std::uint64_t kernels = entries(*db, store::layout::table::kernel);
    std::set<std::tuple<std::uint32_t, digest128, std::uint64_t, std::uint32_t>> keys;
    for (const auto& m : test::measurements(*db)) keys.emplace(m.key.ctx, m.key.kernel, m.key.bind, m.key.row);
    BOOST_TEST(entries(*db, store::layout::table::perf) == 1636u);  // 87 of 1723 repeat a row of their own file
    BOOST_TEST(keys.size() == 1627u);
    std::cout << "14 files: " << offered << " measured rows offered, " << entries(*db, store::layout::table::perf) << " measurements stored, " << schedules << " schedules, " << kernels
              << " kernels by identity version " << loop::identity_version << " (959 classes in the peer's partition)\n";
    BOOST_TEST(kernels == 959u);
    std::set<std::string> spelled;
    const auto contexts = store::all_contexts(*txn);
    for (const auto& [id, c] : *contexts) spelled.insert(c.card);
    BOOST_TEST(spelled.size() == 7u);
}

BOOST_AUTO_TEST_CASE(no_two_classes_of_the_peer_are_one_kernel) {
    const auto files = test::peer_goldens();
    if (files.empty()) return;
    const auto text = read_file((test::shared_data() / "identity.json").string());
    BOOST_REQUIRE(text.has_value());
    const auto partition = json::document::parse(*text, "identity.json");
    BOOST_REQUIRE(partition.has_value());
    std::map<digest128, std::int64_t> class_of;
    std::map<std::int64_t, std::set<digest128>> kernels_of;
    std::size_t compared = 0;
    for (const auto& path : files) {
        const auto document = golden::document::load(path.string());
        BOOST_REQUIRE(document.has_value());
        const json::value* file = partition->root().find("files")->find(short_name(path) + ".json");
        BOOST_REQUIRE(file);
        for (golden::kernel_index k = 0; k < document->kernels().size(); ++k) {
            const auto id = document->identity(k);
            BOOST_REQUIRE(id.has_value());
            const auto number = file->find(document->kernels()[k].ref())->integer().value();
            const auto [at, fresh] = class_of.emplace(*id, number);
            BOOST_TEST(at->second == number);
            kernels_of[number].insert(*id);
            ++compared;
        }
    }
    BOOST_TEST(compared == 1324u);
    BOOST_TEST(kernels_of.size() == 959u);
    const auto split = std::count_if(kernels_of.begin(), kernels_of.end(), [](const auto& c) { return c.second.size() > 1; });
    BOOST_TEST(class_of.size() == 959u);
    BOOST_TEST(split == 0);
    std::cout << class_of.size() << " identities for 959 classes; " << split << " classes are split\n";
}

BOOST_AUTO_TEST_CASE(unchanged_bodies_are_not_digested_again) {
    const auto files = test::peer_goldens();
    if (files.empty()) return;
    const std::string path = [&] {
        for (const auto& f : files)
            if (short_name(f) == "records/h100_sm90") return f.string();
        return std::string();
    }();
    const auto [db, report] = import_alone(path);
    BOOST_TEST(report.digested == 189u);
    const auto document = golden::document::load(path);
    const auto again = import_document(db, *document, "other bytes", "freeze");  // as if the file had been edited elsewhere
    BOOST_REQUIRE_MESSAGE(again, test::why(again));
    BOOST_TEST(again->digested == 0u);
    BOOST_TEST(again->kernels == 189u);
    BOOST_TEST(again->stored == 226u);
    BOOST_TEST(entries(db, store::layout::table::perf) == 452u);  // two sources side by side
    test::require_clean(db);
}
