#pragma once
#include <emmy/core/config.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace emmy {

/// 128 bits of XXH3, in canonical (big-endian) order: the identity of anything. A literal type.
struct digest128 {
    std::uint64_t high = 0, low = 0;

    constexpr auto operator<=>(const digest128&) const = default;
    constexpr explicit operator bool() const { return (high | low) != 0; }
};

/// 32 lowercase hex digits, high half first.
EMMY_DECL std::string to_hex(const digest128& digest);

/// XXH3-128 (seed 0) of bytes, by the xxHash library. core/xxh3.hpp is the same function for constant expressions.
EMMY_DECL digest128 xxh3_128(std::string_view bytes);
EMMY_DECL std::uint64_t xxh3_64(std::string_view bytes);

/// SHA-256 as 64 lowercase hex digits: only for the peer's text forms (row digests, file labels).
EMMY_DECL std::string sha256_hex(std::string_view bytes);

namespace literals {
/// "2a1f8ff533c92da3317b0b4ed435f3e9"_id; anything but 32 lowercase hex digits does not compile.
consteval digest128 operator""_id(const char* text, std::size_t size) {
    digest128 out;
    if (size != 32) throw "an identity has 32 lowercase hex digits";
    for (std::size_t i = 0; i < 32; ++i) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) throw "an identity has 32 lowercase hex digits";
        std::uint64_t& half = i < 16 ? out.high : out.low;
        half = half << 4 | static_cast<std::uint64_t>(digit);
    }
    return out;
}
}  // namespace literals
}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/digest.ipp>
#endif
