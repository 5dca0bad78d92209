#include <emmy/core/dim_wire.hpp>
#include <emmy/core/file.hpp>
#include <emmy/program/check.hpp>
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
            // The result is a well formed program of its own, and reads as it is written.
            if (const auto ok = program::check_program(p->g); !ok) BOOST_ERROR(file.string() << ": " << ok.error().line());
            std::string once, twice;
            emmy::json::writer first(once), second(twice);
            program::write_program(first, p->g);
            const auto again = emmy::json::document::parse(once);
            const auto reread = again ? program::read_program(again->root()) : emmy::result<program::graph>(emmy::refuse(again.error()));
            BOOST_REQUIRE_MESSAGE(reread, file.string() << ": " << (reread ? "" : reread.error().line()));
            program::write_program(second, *reread);
            BOOST_REQUIRE_EQUAL(once, twice);
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
        if (name == "records/h100_sm90") {
            BOOST_TEST(here[program::op::input] == 111u);
            BOOST_TEST(here[program::op::elementwise] == 587u);
            BOOST_TEST(here[program::op::reduce] == 163u);
            BOOST_TEST(here[program::op::index_map] == 597u);
            BOOST_TEST(here[program::op::constant] == 235u);
            BOOST_TEST(here[program::op::gather] == 1u);
        }
        all.programs += here.programs;
        all.lowered += here.lowered;
    }
    if (files.empty()) return;
    BOOST_TEST(all.programs == 416u);
}

// What stored kernels read and write are buffers of the lowered program: same name, element type, shape. A rolled recurrence (`__steps`) is made later.
BOOST_AUTO_TEST_CASE(buffers_of_stored_kernels_are_nodes_of_the_lowered_program) {
    std::size_t kernels = 0, buffers = 0, rolled = 0, same_origins = 0, same_stem = 0, single = 0;
    const auto files = emmy::test::peer_goldens();
    for (const auto& file : files) {
        const auto bytes = emmy::read_file(file.string());
        const auto document = emmy::json::document::parse(*bytes, file.string());
        BOOST_REQUIRE(document);
        std::vector<program::primitive_graph> lowered;
        for (const auto& item : document->root().find("programs")->items()) {
            const auto g = program::read_program(item);
            BOOST_REQUIRE(g);
            auto p = program::lower(*g);
            BOOST_REQUIRE(p);
            lowered.push_back(std::move(*p));
        }
        std::vector<std::size_t> formed(lowered.size(), 0);
        for (const auto& kernel : document->root().find("kernels")->items())
            if (const auto* traced = kernel.find("traced")) ++formed[static_cast<std::size_t>(*traced->integer())];
        for (const auto& kernel : document->root().find("kernels")->items()) {
            const auto* traced = kernel.find("traced");
            if (traced == nullptr) continue;
            const auto& p = lowered[static_cast<std::size_t>(*traced->integer())];
            ++kernels;
            for (const auto& n : kernel.find("loop_ir")->find("nodes")->items())
                for (const auto& t : n.find("outputs")->items()) {
                    const auto name = t.items()[0].text();
                    if (name.find("__") != std::string_view::npos && p.g.find_node(name) == program::no_node) { ++rolled; continue; }
                    const program::node_id found = p.g.find_node(name);
                    BOOST_REQUIRE_MESSAGE(found != program::no_node, file.string() << ": " << name);
                    const auto& tensor = p.g.outputs_of(p.g.nodes[found])[0];
                    BOOST_TEST(token(tensor.type) == t.items()[1].text(), name);
                    std::string shape, stored;
                    emmy::json::writer a(shape), b(stored);
                    a.begin_array();
                    for (const auto& d : p.g.shape_of(tensor.shape)) emmy::write_dim(a, d, p.g.exprs, p.g.names);
                    a.end_array();
                    b.copy(t.items()[2]);
                    BOOST_TEST(shape == stored, name);
                    ++buffers;
                }
            if (formed[static_cast<std::size_t>(*traced->integer())] != 1) continue;
            if (kernel.find("origins") == nullptr) continue;  // a part of one operator
            ++single;
            std::vector<std::string> ours, theirs;
            for (program::node_id n = 0; n < p.g.nodes.size(); ++n)
                for (const auto& o : p.origins_of(n)) ours.emplace_back(p.g.text(o.id));
            std::sort(ours.begin(), ours.end());
            ours.erase(std::unique(ours.begin(), ours.end()), ours.end());
            for (const auto& o : kernel.find("origins")->items()) theirs.emplace_back(o.text());
            same_origins += ours == theirs;
            // The stem of the name: operators by descending count of the primitives that one of them became, layout only where nothing else is.
            std::map<program::node_id, int> pieces;
            bool folds = false;
            for (program::node_id n = 0; n < p.g.nodes.size(); ++n) {
                folds = folds || p.g.nodes[n].op == program::op::reduce;
                for (const auto& o : p.origins_of(n)) ++pieces[o.traced];
            }
            std::map<std::string, int> best;
            std::size_t named = 0, moved = 0;
            for (int layout = 0; layout < 2 && best.empty(); ++layout)
                for (const auto& o : p.origin_list) {
                    if (!text(o.op).starts_with("torch.") || !pieces.contains(o.traced)) continue;
                    const bool moves = o.op == program::op::transpose || o.op == program::op::reshape || o.op == program::op::unsqueeze || o.op == program::op::cat || o.op == program::op::slice;
                    if (moves != (layout == 1)) continue;
                    int& count = best[std::string(text(o.op).substr(6))];
                    count = std::max(count, pieces[o.traced]);
                    pieces.erase(o.traced);
                    ++(layout ? moved : named);
                }
            std::vector<std::pair<int, std::string>> labels;
            for (const auto& [label, count] : best) labels.push_back({-count, label});
            std::sort(labels.begin(), labels.end());
            std::string stem = "k";
            for (const auto& [count, label] : labels) stem += "_" + label;
            if (named + moved != 1) stem += folds ? "_reduce" : "_pointwise";
            const auto name = kernel.find("name")->text();
            same_stem += labels.empty() || name.substr(0, name.rfind('_')) == stem;
        }
    }
    if (files.empty()) return;
    std::cout << kernels << " traced kernels, " << buffers << " buffers found, " << rolled << " of rolled recurrences; origins equal for " << same_origins << " of " << single << " programs of one kernel, names for " << same_stem << "\n";
    BOOST_TEST(kernels == 473u);
    BOOST_TEST(buffers == 3727u);
    BOOST_TEST(rolled == 33u);
    BOOST_TEST(single == 358u);
    BOOST_TEST(same_origins == 355u);  // the three others form several kernels, all but one equal to stored ones
    BOOST_TEST(same_stem == 355u);
}

// A decoder layer at one token: 134 traced nodes, 163 primitives, nine sums over the axis before the last, grouped heads.
BOOST_AUTO_TEST_CASE(a_decoder_layer) {
    for (const auto& file : emmy::test::peer_goldens()) {
        if (!file.string().ends_with("records/h100_sm90.json")) continue;
        const auto bytes = emmy::read_file(file.string());
        const auto document = emmy::json::document::parse(*bytes, file.string());
        BOOST_REQUIRE(document);
        const auto g = program::read_program(document->root().find("programs")->items()[37]);
        BOOST_REQUIRE(g);
        const auto p = program::lower(*g);
        BOOST_REQUIRE(p);
        BOOST_TEST(g->nodes.size() == 134u);
        BOOST_TEST(p->g.nodes.size() == 163u);
        std::size_t sums = 0, grouped = 0;
        for (const auto& n : p->g.nodes) {
            if (n.op == program::op::reduce) sums += p->g.integer(n, program::attr::axis) == -2;
            if (n.op != program::op::index_map) continue;
            std::string text;
            emmy::json::writer w(text);
            program::write_attributes(w, p->g, n);
            grouped += text.find("out_coord_1 / 2") != std::string::npos;
        }
        BOOST_TEST(sums == 9u);
        BOOST_TEST(grouped == 2u);
    }
}
