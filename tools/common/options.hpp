#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace emmy::tools {

enum class format : std::uint8_t { table, json, csv, md, html };
enum class progress_mode : std::uint8_t { automatic, always, never };

/// Values of the shared flag vocabulary.
struct common_options {
    std::string db;                     ///< --db PATH (else $EMMY_DB; empty = the default place)
    std::string device;                 ///< --device cpu | cuda[:n] | …; empty = the tool's default
    std::string golden;                 ///< --golden FILE
    std::string realization;            ///< --realization NAME
    std::string op;                     ///< --op 'matmul(x: f32[512,512], …)'
    std::vector<std::string> dynamic;   ///< --dynamic seq_len=512 (repeatable, comma lists split)
    std::vector<std::string> pin;       ///< --pin K=V,… (repeatable; commas kept: split by the pin grammar)
    tools::format format = format::table;
    std::string out;                    ///< --out PATH; empty or "-" = stdout
    std::string dump;                   ///< --dump DIR
    bool quiet = false;                 ///< --quiet: no notes, no progress
    progress_mode progress = progress_mode::automatic;
    std::uint64_t seed = 0;
};

/// Which of them a verb takes.
namespace takes {
constexpr unsigned db = 1, device = 2, golden = 4, realization = 8, op = 16, dynamic = 32, pin = 64, output = 128 /* --format --out --json */, dump = 256,
                   progress = 512 /* --quiet --progress */, seed = 1024, page = 2048 /* --format html beside the others */;
constexpr unsigned input = golden | realization | op | dynamic;
}  // namespace takes

}  // namespace emmy::tools
