// Every traced program of the golden files lowered and fused, beside the kernels that the files store for it: how many carry the stored identity, how many
// are the stored body itself, and for each other one where the two part. CPU time beside Python's json.load of the same files.
//   bench_lowering_coverage [folder of golden files, default $EMMY_SHARED_DATA/golden] [part of a file's path]
#include "yardstick.hpp"

#include <support/scope_tree_diff.hpp>

#include <emmy/core/file.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/wire.hpp>

#include <cstdio>
#include <ctime>
#include <filesystem>

using namespace emmy;
using namespace emmy::bench;

namespace {
std::vector<std::string> texts(const std::vector<std::filesystem::path>& files) { return {files.begin(), files.end()}; }


struct totals {
    std::size_t programs = 0, failed = 0, kernels = 0, stored = 0, body = 0, identity = 0;
    void add(const totals& o) { programs += o.programs, failed += o.failed, kernels += o.kernels, stored += o.stored, body += o.body, identity += o.identity; }
    void print(const char* name) const { std::printf("%-48s %8zu %8zu %8zu %8zu %8zu %8zu\n", name, programs, failed, kernels, stored, identity, body); }
};

}  // namespace

int main(int argc, char** argv) {
    const char* named = std::getenv("EMMY_SHARED_DATA");
    const std::filesystem::path folder = argc > 1 ? argv[1] : std::string(named ? named : "../shared/peer") + "/golden";
    const std::string part = argc > 2 ? argv[2] : "";
    if (!std::filesystem::is_directory(folder)) return std::printf("skipped: no folder %s (name one with golden files)\n", folder.c_str()), 0;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".json" && entry.path().string().find(part) != std::string::npos) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::printf("%-48s %8s %8s %8s %8s %8s %8s\n", "file", "programs", "refused", "kernels", "stored", "identity", "body");
    totals all;
    std::map<std::string, std::vector<std::string>> causes;
    double lower_ms = 0, fuse_ms = 0, identity_ms = 0;
    const double wall_start = static_cast<double>(std::time(nullptr));
    for (const auto& path : files) {
        const auto text = read_file(path.string());
        if (!text) return std::fprintf(stderr, "%s\n", text.error().line().c_str()), 3;
        const auto document = json::document::parse(*text, path.string());
        if (!document) return std::fprintf(stderr, "%s\n", document.error().line().c_str()), 3;
        const auto programs = document->root().find("programs")->items();
        std::map<std::int64_t, std::vector<loop::kernel>> stored;
        for (const auto& entry : document->root().find("kernels")->items()) {
            const auto* traced = entry.find("traced");
            auto kernel = loop::read_kernel(*entry.find("loop_ir"));
            if (!traced || !kernel) continue;
            kernel->name = entry.find(entry.find("key") ? "key" : "name")->text();
            stored[*traced->integer()].push_back(std::move(*kernel));
        }
        const std::string file = std::filesystem::relative(path, folder).string();
        totals here;
        for (std::size_t i = 0; i < programs.size(); ++i) {
            const std::string place = file + " #" + std::to_string(i);
            const auto graph = program::read_program(programs[i]);
            if (!graph) return std::fprintf(stderr, "%s\n", graph.error().line().c_str()), 3;
            ++here.programs;
            const double a = cpu_ms();
            const auto primitives = program::lower(*graph);
            const double b = cpu_ms();
            const auto formed = primitives ? loop::fuse(*primitives) : result<std::vector<loop::formed>>(refuse(primitives.error()));
            const double c = cpu_ms();
            lower_ms += b - a, fuse_ms += c - b;
            if (!formed) {
                ++here.failed;
                causes["refused: " + formed.error().line()].push_back(place);
                continue;
            }
            here.kernels += formed->size();
            std::vector<digest128> identities;
            for (const loop::formed& f : *formed) identities.push_back(loop::identity(f.kernel));
            identity_ms += cpu_ms() - c;
            for (const loop::kernel& k : stored[static_cast<std::int64_t>(i)]) {
                ++here.stored;
                const bool identity = std::find(identities.begin(), identities.end(), loop::identity(k)) != identities.end();
                const loop::kernel* ours = nullptr;  // the kernel of the same first output
                bool body = false;
                for (const loop::formed& f : *formed) {
                    body = body || test::scope_tree_hash(f.kernel) == test::scope_tree_hash(k);
                    if (f.kernel.body.text(f.kernel.outputs[0].name) == k.body.text(k.outputs[0].name)) ours = &f.kernel;
                }
                here.identity += identity, here.body += body;
                if (identity && body) continue;
                std::string cause = !ours ? "no kernel makes this output" : body ? "the same body, declared with other ports" : "";
                for (const auto& [name, options] : {std::pair("stored before the unit-factor rule", loop::fuse_options{.unit_factors = false}), std::pair("stored before free axes were split", loop::fuse_options{.split_axes = false})}) {
                    const auto older = loop::fuse(*primitives, options);
                    for (std::size_t o = 0; older && cause.empty() && o < older->size(); ++o)
                        if (test::scope_tree_hash((*older)[o].kernel) == test::scope_tree_hash(k)) cause = name;
                }
                if (cause.empty()) cause = "the bodies part";
                causes[std::string(identity ? "identity equal, " : "identity differs, ") + cause].push_back(place + " " + k.name + (ours && !body ? ": " + test::first_difference(k, *ours) : ""));
            }
        }
        here.print(file.c_str());
        all.add(here);
    }
    all.print("total");
    for (const auto& [cause, places] : causes) {
        std::printf("\n%s (%zu)\n", cause.c_str(), places.size());
        for (const std::string& p : places) std::printf("    %s\n", p.c_str());
    }
    const double yardstick = json_load_ms(texts(files));
    std::printf("\nCPU: lowering %.1f ms, fusion %.1f ms, identities of the formed kernels %.1f ms; json.load of the same files in Python %.1f ms; (lowering + fusion) / json.load = %.2f; wall of the whole run %.0f s\n",
                lower_ms, fuse_ms, identity_ms, yardstick, yardstick > 0 ? (lower_ms + fuse_ms) / yardstick : 0.0, static_cast<double>(std::time(nullptr)) - wall_start);
    return all.failed > 0 ? 1 : 0;
}
