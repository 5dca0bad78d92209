// The order in which files were imported, the number of threads and the process never show in a pick or a report.
#include <emmy/evidence.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/program/wire.hpp>

#include <emmy/core/xxh3.hpp>

#include <boost/test/unit_test.hpp>

#include "support/data.hpp"
#include "support/store.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include <unistd.h>

using namespace emmy;
using namespace emmy::evidence;

namespace {
struct known_file {
    std::string path, label;
    golden::document document;
};

/// Reports of some programs of the files of one card, compiled by `threads` threads, from a store into which all files were imported in this
/// order. Empty on any fault.
std::string reports(const std::vector<known_file>& files, const std::vector<std::size_t>& order, unsigned threads) {
    const auto db = temporary_store();
    if (!db) return {};
    for (const std::size_t f : order)
        if (!import_file(*db, files[f].path)) return {};
    std::vector<std::pair<const golden::document*, golden::program_index>> programs;
    std::vector<std::string> labels;
    store::context context;
    for (const known_file& f : files) {
        if (f.document.head().gpu_name != std::string_view("NVIDIA GeForce RTX 5090")) continue;
        labels.push_back(f.label);
        regime lane;
        lane.fast_math = true;
        context = make_context(*f.document.head().gpu_name, f.document.head().compute_major, f.document.head().compute_minor, lane);
        for (golden::program_index p = 0; p < f.document.programs().size(); p += 5) programs.emplace_back(&f.document, p);
    }
    std::vector<std::string> out(programs.size());
    std::vector<std::thread> team;
    for (unsigned t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
            const auto seen = snapshot::open(*db, context, labels, "emmy-cpp/1");
            if (!seen) return;
            stored_forks forks(*seen);
            for (std::size_t i = t; i < programs.size(); i += threads) {
                const auto graph = program::read_program(programs[i].first->programs()[programs[i].second]);
                if (!graph) continue;
                const auto done = compile_program(*graph, {{"num_tokens", 512}, {"seq_len", 512}}, &*seen, forks);
                if (done) out[i] = explain_json({"card", "fast-math", "emmy-cpp/1", std::to_string(i), &done->decided, {}});
            }
        });
    for (std::thread& t : team) t.join();
    std::string all;
    for (const std::string& one : out) all += one;
    return all;
}

std::vector<known_file> known() {
    std::vector<known_file> out;
    for (const auto& path : test::peer_goldens()) {
        auto document = golden::document::load(path.string());
        auto label = golden_label(path.string());
        if (document && label) out.push_back({path.string(), *label, std::move(*document)});
    }
    return out;
}
std::vector<std::size_t> shuffled(std::size_t n, unsigned seed) {
    std::vector<std::size_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = i;
    if (seed) std::shuffle(out.begin(), out.end(), std::mt19937(seed));
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(imports_in_any_order_give_one_report) {
    const auto files = known();
    if (files.empty()) return;
    const char* asked = std::getenv("EMMY_IMPORT_ORDERS");
    const unsigned orders = asked ? static_cast<unsigned>(std::atoi(asked)) : 4;
    const std::string first = reports(files, shuffled(files.size(), 0), 1);
    BOOST_REQUIRE(!first.empty());
    const std::string digest = to_hex(xxh3_128(first));
    if (std::getenv("EMMY_PRINT_DIGEST")) {  // the second process
        std::printf("digest %s\n", digest.c_str());
        return;
    }
    std::size_t compared = 0;
    for (unsigned seed = 1; seed <= orders; ++seed)
        for (const unsigned threads : {1u, 2u, 8u}) {
            const std::string again = reports(files, shuffled(files.size(), seed), threads);
            BOOST_TEST((again == first), "order " << seed << ", " << threads << " threads: another report");
            ++compared;
        }
    char line[64] = "";
    std::string said;
    const std::string self = [] {
        char path[4096];
        const auto n = ::readlink("/proc/self/exe", path, sizeof path);
        return std::string(path, n > 0 ? static_cast<std::size_t>(n) : 0);
    }();
    FILE* other = ::popen(("EMMY_PRINT_DIGEST=1 '" + self + "' --run_test=imports_in_any_order_give_one_report 2>/dev/null").c_str(), "r");
    BOOST_REQUIRE(other);
    while (std::fgets(line, sizeof line, other)) said += line;
    ::pclose(other);
    BOOST_TEST(said.find("digest " + digest) != std::string::npos);
    std::cout << compared << " imports in " << orders << " orders with 1, 2 and 8 threads, and another process: one report of " << first.size() << " bytes\n";
}
