#pragma once
#include <emmy/core/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a golden file holds, entry by entry. Every text, map and opaque value is a view into the document that was read.
namespace emmy::golden {

using program_index = std::uint32_t;
using kernel_index = std::uint32_t;
using decision_index = std::uint32_t;
using row_index = std::uint32_t;
constexpr std::uint32_t none = 0xffffffffu;

/// An ordered map as it is written: {"WORK":"w4x1", …}. Keys are distinct.
using map_view = std::span<const json::member>;

/// Member of an ordered map, or nullptr.
inline const json::value* find(map_view map, std::string_view key) {
    for (const json::member& m : map)
        if (m.key == key) return &m.item;
    return nullptr;
}

/// A positive time in µs that remembers how it was written (15 and 15.0 differ on the wire).
struct quantity {
    double value = 0;
    json::value written;  ///< null = absent

    explicit operator bool() const { return !written.is(json::kind::null); }
};

struct header {
    std::optional<std::string_view> gpu_name;
    int compute_major = 0, compute_minor = 0;
    std::optional<std::string_view> model, model_quant_digest, note;
    int format = 0;                            ///< 1 in our own files, 0 = the peer's grammar
    std::optional<std::string_view> producer;  ///< "emmy-cpp/<n>"; absent = "peer"
};

struct kernel_entry {
    json::value loop_ir;  ///< opaque here; document::body() decodes it
    std::string_view name, key;
    bool formed = true;
    program_index traced = none;
    std::span<const json::value> origins;  ///< program node ids (strings)
    map_view bindings;                     ///< sizes that specialized the program before lowering

    std::string_view ref() const { return key.empty() ? name : key; }
    bool target() const { return traced != none; }  ///< lowered directly from a program; else a piece
};

/// One kernel-set decision.
struct decision {
    kernel_index parent = none;
    map_view arm;                        ///< knob -> text, as written
    std::vector<kernel_index> children;  ///< in fragment order; one may stand twice
};

struct measurement {
    quantity emmy_us, reference_us;
    std::optional<std::string_view> reference_backend;
    std::optional<std::int64_t> tried;
};

/// Times of a whole target on one card, beside torch.
struct latency {
    std::string_view card;
    quantity emmy_us, tcompile_us, eager_us;
};

enum class row_state : std::uint8_t { measured, latency_only, proposal };

struct row {
    std::string_view name;
    kernel_index kernel = none;
    map_view bindings;  ///< sizes of the kernel's symbols
    map_view pins;      ///< input regime
    map_view knobs;     ///< schedule row
    bool has_knobs = false;
    std::optional<measurement> measurements;
    std::vector<golden::latency> latency;
    std::optional<std::string_view> note;
    std::optional<std::string_view> producer;  ///< when another than the file's

    row_state state() const {
        return measurements ? row_state::measured : latency.empty() ? row_state::proposal : row_state::latency_only;
    }
    /// The lane is what the pins say, never what the name says.
    bool fast_math() const {
        const json::value* pin = find(pins, "FAST_MATH");
        return pin && pin->boolean();
    }
};

/// Producer of files that name none.
constexpr std::string_view peer_producer = "peer";

}  // namespace emmy::golden
