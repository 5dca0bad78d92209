#include <emmy/core/file.hpp>
#include <emmy/program/lower/lower.hpp>
#include <emmy/program/wire.hpp>

#include <support/data.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <map>

namespace {
namespace program = emmy::program;

struct counts {
    std::array<std::size_t, static_cast<std::size_t>(program::op::count_)> of{};
    std::size_t programs = 0, traced = 0, lowered = 0;
    std::size_t operator[](program::op o) const { return of[static_cast<std::size_t>(o)]; }
};

// Nodes after lowering, by file; the published totals of the 14 files that are here.
const std::map<std::string, std::size_t> after{{"records/a100_sm80", 1691}, {"records/h100_sm90", 1694}, {"records/rtx4080_sm89", 56}, {"records/rtx5090_sm120", 2406},
    {"records/rtxpro6000_sm120", 63}, {"records/v100_sm70", 411}, {"DeepSeek-V4-Flash-0731/v100_sm70", 3452}, {"Meta-Llama-3.1-8B-Instruct/v100_sxm3_sm70", 302},
    {"Qwen3.5-122B-A10B/v100_sm70", 308}, {"Qwen3.8-27B-AWQ-INT4/v100_sm70", 2576}, {"Qwen3.8-27B-EXL3/v100_sm70", 1798}, {"Qwen3.8-27B-GPTQ-Int4/v100_sm70", 1303},
    {"Qwen3.8-27B-NVFP4/rtx5090_sm120", 3716}, {"gemma-4-12B-it/rtx5090_sm120", 3880}};

}  // namespace

BOOST_AUTO_TEST_CASE(every_program_lowers_to_the_published_counts) {
    const auto files = emmy::test::peer_goldens();
    counts all;
    for (const auto& file : files) {
        const auto bytes = emmy::read_file(file.string());
        BOOST_REQUIRE(bytes);
        const auto document = emmy::json::document::parse(*bytes, file.string());
        BOOST_REQUIRE(document);
        counts here;
        for (const auto& item : document->root().find("programs")->items()) {
            const auto g = program::read_program(item);
            BOOST_REQUIRE(g);
            const auto p = program::lower(*g);
            BOOST_REQUIRE_MESSAGE(p, file.string() << ": " << (p ? "" : p.error().line()));
            if (std::getenv("EMMY_VERBOSE")) {
                std::map<std::string, int> by;
                for (const auto& n : p->g.nodes) ++by[std::string(text(n.op))];
                std::cout << here.programs << ": " << g->nodes.size() << " -> " << p->g.nodes.size();
                for (const auto& [k, v] : by) std::cout << " " << k << " " << v;
                std::cout << "\n";
            }
            ++here.programs;
            here.traced += g->nodes.size();
            here.lowered += p->g.nodes.size();
            for (const auto& n : p->g.nodes) ++here.of[static_cast<std::size_t>(n.op)];
        }
        const std::string name = (file.parent_path().filename() / file.stem()).string();
        std::cout << name << ": " << here.programs << " programs, " << here.traced << " nodes, " << here.lowered << " lowered";
        for (std::size_t i = 0; i < here.of.size(); ++i) {
            if (here.of[i]) std::cout << ", " << text(static_cast<program::op>(i)) << " " << here.of[i];
            all.of[i] += here.of[i];
        }
        std::cout << "\n";
        const auto wanted = after.find(name);
        BOOST_REQUIRE(wanted != after.end());
        BOOST_TEST(here.lowered == wanted->second, name << ": " << here.lowered << ", published " << wanted->second);
        all.programs += here.programs;
        all.lowered += here.lowered;
    }
    if (files.empty()) return;
    BOOST_TEST(all.programs == 416u);
}
