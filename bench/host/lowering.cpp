// Lowering of every program of the golden files to primitives, beside Python's json.load of the same files in the same run (CPU time, medians of
// alternating rounds); one decoder layer against eight stacked ones; peak memory of the process.
#include "yardstick.hpp"

#include <emmy/core/file.hpp>
#include <emmy/program/lower/lower.hpp>
#include <emmy/program/wire.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>

#include <sys/resource.h>

using namespace emmy;
using namespace emmy::bench;

namespace {
/// The program `times` times in a row: its first output is the next one's first input, everything else is shared or repeated.
program::graph stacked(const program::graph& layer, std::size_t times) {
    program::graph g = layer;
    program::edge last = g.outputs[0];
    for (std::size_t k = 1; k < times; ++k) {
        std::vector<program::node_id> place(layer.nodes.size());
        for (program::node_id n = 0; n < layer.nodes.size(); ++n) {
            program::node made = layer.nodes[n];
            if (made.op == program::op::input) {
                place[n] = n == layer.inputs[0] ? last.node : n;
                continue;
            }
            made.id = g.names.intern("layer" + std::to_string(k) + "_" + std::string(layer.id(n)));
            made.inputs.first = static_cast<std::uint32_t>(g.edges.size());
            for (const program::edge e : layer.inputs_of(layer.nodes[n])) g.edges.push_back({place[e.node], e.output});
            made.outputs.first = static_cast<std::uint32_t>(g.tensors.size());
            for (const program::tensor& t : layer.outputs_of(layer.nodes[n])) g.tensors.push_back({made.id, t.type, t.shape});
            place[n] = static_cast<program::node_id>(g.nodes.size());
            g.nodes.push_back(made);
        }
        last = {place[layer.outputs[0].node], 0};
    }
    g.outputs = {last};
    return g;
}
}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> files;
    const char* named = std::getenv("EMMY_SHARED_DATA");
    const std::string root = argc > 1 ? argv[1] : std::string(named ? named : "../shared/peer") + "/golden";
    if (!std::filesystem::is_directory(root)) return std::printf("skipped: no golden files at %s\n", root.c_str()), 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    std::vector<program::graph> programs;
    std::optional<program::graph> layer;
    for (const std::string& file : files) {
        const auto bytes = read_file(file);
        const auto document = bytes ? json::document::parse(*bytes, file) : result<json::document>(refuse(bytes.error()));
        if (!document) return std::fprintf(stderr, "%s\n", document.error().line().c_str()), 1;
        std::size_t i = 0;
        for (const auto& item : document->root().find("programs")->items()) {
            auto g = program::read_program(item);
            if (!g) return std::fprintf(stderr, "%s: %s\n", file.c_str(), g.error().line().c_str()), 1;
            if (file.ends_with("records/h100_sm90.json") && i++ == 38) layer = *g;
            programs.push_back(std::move(*g));
        }
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const long before = usage.ru_maxrss;
    std::vector<double> ours, theirs;
    std::size_t traced = 0, primitives = 0;
    double largest = 0;
    for (int round = 0; round < 7; ++round) {
        theirs.push_back(json_load_ms(files));
        traced = primitives = 0;
        const double start = cpu_ms();
        for (const program::graph& g : programs) {
            const double one = cpu_ms();
            const auto p = program::lower(g);
            if (!p) return std::fprintf(stderr, "%s\n", p.error().line().c_str()), 1;
            largest = std::max(largest, cpu_ms() - one);
            traced += g.nodes.size();
            primitives += p->g.nodes.size();
        }
        ours.push_back(cpu_ms() - start);
    }
    getrusage(RUSAGE_SELF, &usage);
    std::printf("lowering of %zu programs, %zu nodes to %zu primitives: median %.1f ms CPU of %zu (goal 1000), largest program %.1f ms\n", programs.size(), traced, primitives, median(ours), ours.size(), largest);
    if (median(theirs) == 0) std::printf("no yardstick: python3 is not here\n");
    else std::printf("json.load of the same %zu files in Python: %.1f ms CPU; ratio %.3f\n", files.size(), median(theirs), median(ours) / median(theirs));
    std::printf("peak memory %.1f MB, of which %.1f MB with all programs read (goal 256)\n", static_cast<double>(usage.ru_maxrss) / 1024, static_cast<double>(before) / 1024);
    if (layer) {
        double times[2] = {};
        for (int which = 0; which < 2; ++which) {
            const program::graph g = stacked(*layer, which == 0 ? 1 : 8);
            std::vector<double> samples;
            for (int i = 0; i < 15; ++i) {
                const double start = cpu_ms();
                for (int k = 0; k < 4; ++k)
                    if (const auto p = program::lower(g); !p) return std::fprintf(stderr, "%s\n", p.error().line().c_str()), 1;
                samples.push_back((cpu_ms() - start) / 4);
            }
            times[which] = median(samples);
        }
        std::printf("a decoder layer of %zu nodes: %.3f ms, eight stacked: %.3f ms; ratio %.2f (goal 10)\n", layer->nodes.size(), times[0], times[1], times[1] / times[0]);
    }
    return 0;
}
