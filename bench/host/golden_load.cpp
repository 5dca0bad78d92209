// Loading and checking a golden file against parsing the same bytes as JSON: medians of alternating pairs, CPU time.
#include "yardstick.hpp"

#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace emmy;
using namespace emmy::bench;

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_golden_load FILE...\n");
        return 2;
    }
    for (int i = 1; i < argc; ++i) {
        const auto text = read_file(argv[i]);
        if (!text) return std::fprintf(stderr, "%s\n", text.error().line().c_str()), 3;
        std::vector<double> load, parse;
        for (int round = 0; round < 21; ++round) {
            const double a = cpu_ms();
            const auto document = json::document::parse(*text, argv[i]);
            const double b = cpu_ms();
            const auto file = golden::document::parse(*text, argv[i]);
            const double c = cpu_ms();
            if (!document || !file) return std::fprintf(stderr, "%s\n", (file ? document.error() : file.error()).line().c_str()), 3;
            parse.push_back(b - a);
            load.push_back(c - b);
        }
        std::printf("%-60s load and check %6.2f ms, JSON alone %6.2f ms, ratio %.2f\n", argv[i], median(load), median(parse), median(load) / median(parse));
    }
    return 0;
}
