// Throughput of .pt files against `cp` and fsync on the same disk: a tensor of --gib (default 1) written and read, in alternating rounds
// with the yardstick. Prints ratios (1 = as fast as cp; more is faster) and the spread of each.
//
//     bench_archive [--gib N] [--rounds N] [FOLDER]      the folder decides the disk; default: the current one
#include <emmy/core/archive.hpp>
#include <emmy/golden/snapshot/inspect.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace emmy;

namespace {

double seconds(const auto& what) {
    const auto before = std::chrono::steady_clock::now();
    what();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}
void insist(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "bench_archive: %s\n", what.c_str());
    std::exit(70);
}
/// cp, then fsync of the copy.
void copy_and_flush(const std::string& from, const std::string& to) {
    insist(std::system(("cp '" + from + "' '" + to + "'").c_str()) == 0, "cp failed");
    const int fd = ::open(to.c_str(), O_RDONLY);
    insist(fd >= 0 && ::fsync(fd) == 0, "fsync failed");
    ::close(fd);
}
void show(const char* what, std::vector<double> times, double base, double gib) {
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf("%-34s %6.3f s  %5.2f GiB/s  ratio %5.2f   (%.3f to %.3f s)\n", what, median, gib / median, base / median, times.front(), times.back());
}

}  // namespace

int main(int argc, char** argv) {
    double gib = 1;
    int rounds = 5;
    std::string place = ".";
    for (int i = 1; i < argc; ++i) {
        if (i + 1 < argc && std::strcmp(argv[i], "--gib") == 0) gib = std::atof(argv[++i]);
        else if (i + 1 < argc && std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[++i]);
        else place = argv[i];
    }
    insist(gib > 0 && rounds > 0, "expected --gib and --rounds above 0");
    std::string folder = place + "/bench_archive_XXXXXX";
    insist(::mkdtemp(folder.data()) != nullptr, "cannot make a folder in " + place);
    const std::string file = folder + "/a.pt", copy = folder + "/copy";
    {
        const std::vector<std::int64_t> shape{static_cast<std::int64_t>(gib * (1 << 28))};
        std::vector<std::byte> bytes(static_cast<std::size_t>(shape[0]) * 4);
        std::uint64_t state = 1;
        for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) state = state * 6364136223846793005u + 1442695040888963407u, std::memcpy(&bytes[i], &state, 8);
        std::vector<double> copied, written, touched, read, into, hashed, compared;
        const auto first = archive::write_pt(file, {archive::element::f32, shape, bytes});
        insist(first.has_value(), first ? "" : first.error().line());
        std::filesystem::create_directories(folder + "/s/in");
        std::filesystem::create_hard_link(file, folder + "/s/in/a.pt");
        for (int r = 0; r < rounds; ++r) {
            copied.push_back(seconds([&] { copy_and_flush(file, copy); }));
            std::filesystem::remove(copy);
            written.push_back(seconds([&] { insist(archive::write_pt(copy, {archive::element::f32, shape, bytes}).has_value(), "cannot write"); }));
            touched.push_back(seconds([&] {
                std::vector<std::byte> memory(bytes.size());
                insist(memory[bytes.size() / 2] == std::byte{}, "memory");
            }));
            read.push_back(seconds([&] {
                const auto opened = archive::pt_file::open(copy);
                insist(opened.has_value(), "cannot open");
                const auto back = opened->read(opened->root());
                insist(back && back->size() == bytes.size() && std::memcmp(back->data() + bytes.size() / 2, bytes.data() + bytes.size() / 2, 1000) == 0, "cannot read");
            }));
            into.push_back(seconds([&] {
                const auto opened = archive::pt_file::open(copy);
                insist(opened && opened->read_into(opened->root(), bytes).has_value(), "cannot read");
            }));
            std::filesystem::remove(copy);
            hashed.push_back(seconds([&] { insist(golden::snapshot::show(folder + "/s").has_value(), "cannot show"); }));
            compared.push_back(seconds([&] { insist(golden::snapshot::diff(folder + "/s", folder + "/s").has_value(), "cannot compare"); }));
        }
        std::vector<double> sorted = copied;
        std::sort(sorted.begin(), sorted.end());
        const double base = sorted[sorted.size() / 2];
        std::printf("%.2f GiB, %d rounds, %s\n", gib, rounds, std::filesystem::absolute(place).c_str());
        show("cp and fsync", copied, base, gib);
        show("write_pt (flushed)", written, base, gib);
        show("read, new memory (cached, as cp)", read, base, gib);
        show("  (of that: new memory alone)", touched, base, gib);
        show("read_into memory that is there", into, base, gib);
        show("snapshot show (hash)", hashed, base, gib);
        show("snapshot diff (two streams)", compared, base, gib);
    }
    std::filesystem::remove_all(folder);
}
