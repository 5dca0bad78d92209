#pragma once
#include <emmy/core/digest.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What the evidence store holds, as plain values.
namespace emmy::store {

/// A compile reads a tuning store (written by benches and the golden scope only); datasets are filled by imports, never read by a compile.
enum class store_kind : std::uint8_t { tuning = 1, dataset = 2 };
constexpr std::string_view name(store_kind k) { return k == store_kind::tuning ? "tuning" : "dataset"; }

/// Under what a time is true. `flags` is canonical text: words joined by one blank ("--use_fast_math team=2").
struct context {
    std::string backend = {};  ///< "cuda", "cpu"
    std::string card = {};     ///< canonical product name, or "cpu: …"
    std::uint16_t sm = 0;   ///< 90 for sm_90; 0 where there is none
    std::uint8_t opt = 3;   ///< compiler optimisation level
    bool cold = false;      ///< the cache was flushed between launches
    std::string flags = {};

    bool operator==(const context&) const = default;
};

/// (name, value) of one knob, both as text; a row is a list of them.
using knob_text = std::pair<std::string, std::string>;
using knob_list = std::vector<knob_text>;
/// (symbol, size), any order; empty for a static kernel.
using binding_list = std::vector<std::pair<std::string, std::int64_t>>;

enum class row_kind : std::uint8_t { schedule = 0, placement = 1 };

/// How a measurement ended. Order is the store's order of preference.
enum class outcome : std::uint8_t {
    captured = 0,  ///< ok, device time of a captured launch
    wall = 1,      ///< ok, wall time with launch cost
    failed = 2     ///< did not run; times hold the watchdog's budget and never rank
};

/// Times in µs.
struct timing {
    double median = 0, min = 0, max = 0, mean = 0, variance = 0;
    std::uint32_t samples = 0;    ///< 0: from a document that keeps the median only
    std::uint32_t unix_time = 0;  ///< seconds; 0 when unknown
    outcome how = outcome::captured;

    bool ok() const { return how != outcome::failed; }
    bool operator==(const timing&) const = default;
};

/// The placeholder of a failed row (watchdog budget of 10 s).
constexpr double failed_us = 10'000'000.0;

struct kernel_record {
    digest128 key;         ///< identity
    digest128 check = {};      ///< second digest of the canonical body: a clash of keys is an error, never a merge
    std::string name = {};     ///< C name: the first writer's, a label
    std::string body = {};     ///< wire of the one-kernel program, compact JSON
    bool formed = true;    ///< false: a derived body that exists only as a piece of its parent
};

/// One file or one bench that wrote measurements.
struct source_record {
    std::string label = {};     ///< "golden:<12 hex>", "freeze:<12 hex>", "measured:<host>:<producer>"
    std::string producer = {};  ///< "peer", "emmy-cpp/<n>": whose generated code was measured
    std::string sha256 = {};    ///< of the file, hex; empty for a bench
    std::uint32_t unix_time = 0;
    std::uint32_t kernels = 0, routes = 0, taken = 0, offered = 0;  ///< what the file held (measurements before keep-best)

    bool local() const { return label.starts_with("measured:"); }
    bool operator==(const source_record&) const = default;
};

}  // namespace emmy::store
