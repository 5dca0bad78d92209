#pragma once
#include <emmy/core/digest.hpp>

// Bodies only.
namespace emmy::evidence::detail {

inline std::uint64_t hex_half(std::string_view digits) {
    std::uint64_t out = 0;
    for (char c : digits.substr(0, 16)) out = out << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    return out;
}
/// First 16 bytes of the SHA-256.
inline digest128 sha_digest(std::string_view bytes) {
    const std::string hex = sha256_hex(bytes);
    return {hex_half(hex), hex_half(std::string_view(hex).substr(16))};
}

}  // namespace emmy::evidence::detail
