// Loading and checking a golden file against parsing the same bytes as JSON: medians of alternating pairs, CPU time.
#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace emmy;

namespace {
double milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}
double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
}
}  // namespace

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
            const double a = milliseconds();
            const auto document = json::document::parse(*text, argv[i]);
            const double b = milliseconds();
            const auto file = golden::document::parse(*text, argv[i]);
            const double c = milliseconds();
            if (!document || !file) return std::fprintf(stderr, "%s\n", (file ? document.error() : file.error()).line().c_str()), 3;
            parse.push_back(b - a);
            load.push_back(c - b);
        }
        std::printf("%-60s load and check %6.2f ms, JSON alone %6.2f ms, ratio %.2f\n", argv[i], median(load), median(parse), median(load) / median(parse));
    }
    return 0;
}
