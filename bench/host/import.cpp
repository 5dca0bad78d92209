// Import of h100_sm90.json into an empty store on disk (read, check, identities, one durable commit) against Python's json.load of the
// same file: CPU time, medians of alternating pairs.
#include "yardstick.hpp"

#include <emmy/evidence.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <unistd.h>

using namespace emmy;
using namespace emmy::bench;

int main(int argc, char** argv) {
    const char* named = std::getenv("EMMY_SHARED_DATA");
    const std::string file = argc > 1 ? argv[1] : std::string(named ? named : "../shared/peer") + "/golden/records/h100_sm90.json";
    if (!std::filesystem::exists(file)) return std::printf("skipped: no %s (name a golden file)\n", file.c_str()), 0;
    std::vector<double> ours, theirs, again;
    evidence::import_report report;
    const std::string dir = (std::filesystem::temp_directory_path() / ("emmy-bench-import-" + std::to_string(::getpid()))).string();
    for (int i = 0; i < 21; ++i) {
        theirs.push_back(json_load_ms({file}));
        std::filesystem::remove_all(dir);
        const double start = cpu_ms();
        {
            const auto db = evidence::open_store(dir, store::access::write, store::store_kind::dataset);
            const auto done = db ? evidence::import_file(*db, file) : result<evidence::import_report>(refuse(db.error()));
            if (!done) return std::fprintf(stderr, "%s\n", done.error().line().c_str()), 1;
            report = *done;
        }
        ours.push_back(cpu_ms() - start);
        const double second = cpu_ms();
        {
            const auto db = evidence::open_store(dir, store::access::read);
            if (!evidence::import_file(*db, file, "golden", false)->skipped) return 1;
        }
        again.push_back(cpu_ms() - second);
    }
    std::filesystem::remove_all(dir);
    if (median(theirs) == 0) return std::printf("no yardstick: python3 is not here; import %.2f ms CPU\n", median(ours)), 0;
    std::printf("import of %u kernels (%u digested), %u rows: median %.2f ms CPU of %zu; json.load in Python: %.2f ms CPU; ratio %.3f (goal 4)\n", report.kernels, report.digested, report.stored, median(ours),
                ours.size(), median(theirs), median(ours) / median(theirs));
    std::printf("the same file again: %.2f ms CPU\n", median(again));
    return 0;
}
