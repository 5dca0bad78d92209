// A strict compile of each file's own programs under its own rows: every fork for which the file holds a row or a priced route at the
// sizes in question is decided by it. Lanes apart. The table is an approved one.
#include <emmy/evidence.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

#include "support/data.hpp"
#include "support/store.hpp"
#include "support/tool.hpp"

#include <map>
#include <set>

using namespace emmy;
using namespace emmy::evidence;

namespace {
struct tally {
    std::size_t compiles = 0, kernels = 0, run = 0, forks = 0, by_rows = 0, by_pieces = 0, without = 0, lost = 0, whole = 0, stored = 0;
    std::vector<std::string> exceptions;
};

/// Sizes at which a file measured what comes of a target, per lane.
std::map<std::pair<golden::kernel_index, bool>, std::set<store::binding_list>> sizes_measured(const golden::document& file) {
    std::map<std::pair<golden::kernel_index, bool>, std::set<store::binding_list>> out;
    for (const golden::row& r : file.rows()) {
        if (!r.measurements) continue;
        store::binding_list sizes;
        for (const json::member& m : r.bindings) sizes.emplace_back(std::string(m.key), m.item.integer().value());
        std::sort(sizes.begin(), sizes.end());
        out[{file.root(r.kernel), r.fast_math()}].insert(sizes);
    }
    return out;
}

/// Decisions of all files with the forks of `Source`; the approved table of that name, if any.
template <class Source>
void strict_compiles(const std::string& approved) {
    const auto files = test::peer_goldens();
    if (files.empty()) return;
    std::string table = "file lane compiles targets kernels-run forks by-rows by-pieces nothing-measured not-decided measured-whole pieces-from-store\n";
    std::size_t forks = 0, lost = 0, measured_forks = 0;
    std::string exceptions;
    for (const auto& path : files) {
        const auto loaded = golden::document::load(path.string());
        BOOST_REQUIRE_MESSAGE(loaded, test::why(loaded));
        const golden::document& file = *loaded;
        const auto db = temporary_store();
        const auto report = import_file(*db, path.string());
        BOOST_REQUIRE_MESSAGE(report, test::why(report));
        const auto measured_at = sizes_measured(file);
        std::map<golden::program_index, std::vector<golden::kernel_index>> targets;
        for (golden::kernel_index k = 0; k < file.kernels().size(); ++k)
            if (file.kernels()[k].target()) targets[file.kernels()[k].traced].push_back(k);
        std::map<bool, tally> lanes;
        for (const auto& [p, of] : targets) {
            const auto graph = program::read_program(file.programs()[p]);
            BOOST_REQUIRE_MESSAGE(graph, test::why(graph));
            const auto lowered = program::lower(*graph);
            BOOST_REQUIRE(lowered);
            const auto formed = loop::fuse(*lowered);
            BOOST_REQUIRE(formed);
            for (const bool fast : {false, true}) {
                std::set<store::binding_list> sizes;
                for (const golden::kernel_index k : of)
                    if (const auto at = measured_at.find({k, fast}); at != measured_at.end()) sizes.insert(at->second.begin(), at->second.end());
                if (sizes.size() > 1) sizes.erase(store::binding_list());  // of static pieces of a symbolic target
                for (const store::binding_list& b : sizes) {
                    regime lane;
                    lane.fast_math = fast;
                    const auto evidence = snapshot::open(*db, make_context(file.head().gpu_name.value(), file.head().compute_major, file.head().compute_minor, lane), {report->label}, "emmy-cpp/1");
                    BOOST_REQUIRE_MESSAGE(evidence, test::why(evidence));
                    Source source(*evidence, file.head());
                    std::vector<subject> subjects;
                    for (const loop::formed& f : *formed) subjects.push_back(make_subject(f.kernel, b));
                    resolve_options options;
                    options.strict = strictness::measured, options.strict_fails = false;
                    const auto done = resolve(subjects, &*evidence, source, options);
                    BOOST_REQUIRE_MESSAGE(done, test::why(done));
                    price_book prices(*evidence, producer_rank::other);
                    tally& t = lanes[fast];
                    ++t.compiles, t.kernels += subjects.size(), t.run += done->leaves.size();
                    for (const resolved_kernel& k : done->kernels) {
                        t.stored += k.from_store;
                        const auto one = [&](const record& r) {
                            ++t.forks;
                            const auto price = prices.price(r.identity, r.bindings);
                            BOOST_REQUIRE(price);
                            const bool held = (*price)->leaf || (r.fork != "schedule" && !(*price)->arms.empty());
                            if (r.decided == tier::other_row) ++t.by_rows;
                            else if (r.decided == tier::other_pieces) ++t.by_pieces;
                            else if (!held) ++t.without;
                            else {
                                ++t.lost;
                                t.exceptions.push_back("  " + report->label + " program " + std::to_string(p) + " " + line(r));
                            }
                        };
                        for (const record& r : k.forks) one(r);
                        if (k.schedule) one(*k.schedule);
                    }
                    t.whole += done->expected_us(false).has_value();
                }
            }
        }
        for (const auto& [fast, t] : lanes) {
            table += path.parent_path().filename().string() + "/" + path.stem().string() + (fast ? " fast-math" : " standard");
            for (const std::size_t n : {t.compiles, t.kernels, t.run, t.forks, t.by_rows, t.by_pieces, t.without, t.lost, t.whole, t.stored}) table += " " + std::to_string(n);
            table += "\n";
            for (const std::string& e : t.exceptions) table += e + "\n";
            forks += t.forks, lost += t.lost, measured_forks += t.by_rows + t.by_pieces;
        }
    }
    const std::size_t held = measured_forks + lost;
    table += "forks " + std::to_string(forks) + ", with evidence " + std::to_string(held) + ", decided by it " + std::to_string(measured_forks) + "\n";
    BOOST_TEST(lost * 50 <= held);  // at most 2 %
    std::cout << table;
    if (!approved.empty()) test::approve(approved, table);
}

struct by_store : stored_forks {
    by_store(const snapshot& evidence, const golden::header&) : stored_forks(evidence) {}
};
/// Kernel sets formed here, rows as they were measured.
struct formed_here : card_forks {
    formed_here(const snapshot&, const golden::header&) {}
};
}  // namespace

BOOST_AUTO_TEST_CASE(strict_compiles_by_stored_routes) { strict_compiles<by_store>("evidence_level_e_stored"); }
BOOST_AUTO_TEST_CASE(strict_compiles_of_the_files_own_programs) { strict_compiles<formed_here>({}); }
