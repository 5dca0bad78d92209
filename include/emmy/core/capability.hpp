#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include <emmy/core/fixed_string.hpp>

namespace emmy {

/// Compute capability of a card: {9, 0}, {12, 0}. {0, 0} is a processor (no capability).
struct capability {
    std::uint16_t generation = 0, revision = 0;
    constexpr auto operator<=>(const capability&) const = default;
    constexpr bool is_cpu() const { return generation == 0; }
    constexpr int number() const { return generation * 10 + revision; }  ///< 90, 120: the digits of sm_90, sm_120
};

/// "sm_90"; "cpu" for {0, 0}.
constexpr bounded_text<15> target_text(capability cc) {
    bounded_text<15> out;
    return cc.is_cpu() ? out.append("cpu") : out.append("sm_").append(static_cast<int>(cc.generation)).append(static_cast<int>(cc.revision));
}

/// The inverse of target_text for canonical spellings ("sm_90", not "sm_90a" or "sm_090"); nothing otherwise.
constexpr std::optional<capability> capability_from_target(std::string_view text) {
    if (text == "cpu") return capability{};
    if (!text.starts_with("sm_") || text.size() < 5 || text.size() > 6 || text[3] == '0') return std::nullopt;
    int number = 0;
    for (char c : text.substr(3)) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + (c - '0');
    }
    return capability{static_cast<std::uint16_t>(number / 10), static_cast<std::uint16_t>(number % 10)};
}

/// What one thread block may use. Source: CUDA programming guide, table of technical specifications per compute capability.
struct block_limits {
    int threads = 1024;
    int lanes = 32;  ///< threads of a warp
    int registers_per_thread = 255;
    int registers = 65536;
    std::int64_t static_smem_bytes = 49152;
    std::int64_t dynamic_smem_bytes = 49152;  ///< by opt-in; the static size where the capability is unknown
    constexpr bool operator==(const block_limits&) const = default;
};

constexpr block_limits limits_of(capability cc) {
    constexpr struct { std::uint16_t generation, revision; std::int64_t bytes; } table[] = {
        {7, 0, 98304}, {7, 5, 65536}, {8, 0, 166912}, {8, 6, 101376}, {8, 9, 101376}, {9, 0, 232448}, {10, 0, 232448}, {12, 0, 101376}};
    block_limits out;
    for (const auto& row : table)
        if (cc == capability{row.generation, row.revision}) out.dynamic_smem_bytes = row.bytes;
    return out;
}

}  // namespace emmy
