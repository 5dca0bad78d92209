// Identities of the stored kernels (bodies read before): CPU time a kernel, and per file beside Python's json.load of that file.
#include "yardstick.hpp"

#include <emmy/core/file.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/loop/identity.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

using namespace emmy;
using namespace emmy::bench;

int main(int argc, char** argv) {
    const char* named = std::getenv("EMMY_SHARED_DATA");
    const std::string folder = argc > 1 ? argv[1] : std::string(named ? named : "../shared/peer") + "/golden";
    if (!std::filesystem::is_directory(folder)) return std::printf("skipped: no %s (name a folder of golden files)\n", folder.c_str()), 0;
    std::vector<std::string> files;
    for (const auto& e : std::filesystem::recursive_directory_iterator(folder))
        if (e.path().extension() == ".json") files.push_back(e.path().string());
    std::sort(files.begin(), files.end());
    std::vector<double> each;
    double all = 0;
    for (const std::string& path : files) {
        const auto file = golden::document::load(path);
        if (!file) return std::fprintf(stderr, "%s\n", file.error().line().c_str()), 1;
        std::vector<loop::kernel> kernels;
        for (golden::kernel_index k = 0; k < file->kernels().size(); ++k)
            if (auto body = file->body(k)) kernels.push_back(std::move(*body));
        double here = 0;
        for (const loop::kernel& k : kernels) {
            double best = 1e9;
            for (int i = 0; i < 3; ++i) {
                const double start = cpu_ms();
                (void)loop::identity(k);
                best = std::min(best, cpu_ms() - start);
            }
            here += best;
            each.push_back(best);
        }
        all += here;
        const double python = json_load_ms({path});
        std::printf("%-56s %4zu kernels  %7.2f ms  json.load %7.2f ms  ratio %.2f\n", path.substr(folder.size() + 1).c_str(), kernels.size(), here, python, here / python);
    }
    std::sort(each.begin(), each.end());
    std::printf("%zu kernels: mean %.4f ms, median %.4f, 99 %% %.4f, worst %.3f\n", each.size(), all / static_cast<double>(each.size()), each[each.size() / 2], each[each.size() * 99 / 100], each.back());
}
