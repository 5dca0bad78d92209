#pragma once
#include <emmy/core/archive/crc32.hpp>

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emmy::archive {
namespace detail {

constexpr std::uint32_t crc_polynomial = 0xedb88320u;  // reflected

struct crc_tables {
    std::array<std::array<std::uint32_t, 256>, 8> at{};
    constexpr crc_tables() {
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t c = i;
            for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ crc_polynomial : c >> 1;
            at[0][i] = c;
        }
        for (std::size_t t = 1; t < 8; ++t)
            for (std::size_t i = 0; i < 256; ++i) at[t][i] = at[t - 1][i] >> 8 ^ at[0][at[t - 1][i] & 255];
    }
};
inline constexpr crc_tables crc_table;

/// The state is the register itself: not inverted.
inline std::uint32_t crc_by_tables(const unsigned char* p, std::size_t size, std::uint32_t c) {
    const auto& t = crc_table.at;
    if constexpr (std::endian::native == std::endian::little)
        for (; size >= 8; p += 8, size -= 8) {
            std::uint32_t low = 0, high = 0;
            std::memcpy(&low, p, 4), std::memcpy(&high, p + 4, 4);
            low ^= c;
            c = t[7][low & 255] ^ t[6][low >> 8 & 255] ^ t[5][low >> 16 & 255] ^ t[4][low >> 24] ^ t[3][high & 255] ^ t[2][high >> 8 & 255] ^ t[1][high >> 16 & 255] ^ t[0][high >> 24];
        }
    for (; size > 0; ++p, --size) c = c >> 8 ^ t[0][(c ^ *p) & 255];
    return c;
}

#if defined(__x86_64__)
/// x^n mod P in the reflected form that a carry-less product of reflected operands wants (one place up).
constexpr std::uint64_t crc_power(int n) {
    std::uint32_t r = 0x80000000u;  // x^0
    for (int i = 0; i < n; ++i) r = r & 1 ? r >> 1 ^ crc_polynomial : r >> 1;
    return static_cast<std::uint64_t>(r) << 1;
}

__attribute__((target("pclmul,sse2"))) inline __m128i crc_fold(__m128i value, __m128i by, __m128i next) {
    return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(value, by, 0x00), _mm_clmulepi64_si128(value, by, 0x11)), next);
}

/// Four lanes of 16 bytes folded over the text; what is left is 16 bytes with the remainder of everything before them. Source: V. Gopal
/// et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009. `size` is a multiple of 64, not 0.
__attribute__((target("pclmul,sse2"))) inline std::uint32_t crc_by_products(const unsigned char* p, std::size_t size, std::uint32_t c) {
    constexpr std::uint64_t over64_low = crc_power(4 * 128 + 32), over64_high = crc_power(4 * 128 - 32), over16_low = crc_power(128 + 32), over16_high = crc_power(128 - 32);
    const auto load = [](const unsigned char* from) __attribute__((target("sse2"))) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
    const __m128i by64 = _mm_set_epi64x(static_cast<long long>(over64_high), static_cast<long long>(over64_low));
    const __m128i by16 = _mm_set_epi64x(static_cast<long long>(over16_high), static_cast<long long>(over16_low));
    __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(static_cast<int>(c))), b = load(p + 16), d = load(p + 32), e = load(p + 48);
    for (p += 64, size -= 64; size >= 64; p += 64, size -= 64) {
        a = crc_fold(a, by64, load(p)), b = crc_fold(b, by64, load(p + 16));
        d = crc_fold(d, by64, load(p + 32)), e = crc_fold(e, by64, load(p + 48));
    }
    a = crc_fold(crc_fold(crc_fold(a, by16, b), by16, d), by16, e);
    unsigned char rest[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), a);
    return crc_by_tables(rest, sizeof rest, 0);
}
#endif

}  // namespace detail

EMMY_DECL std::uint32_t crc32(bytes_view bytes, std::uint32_t before) {
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t size = bytes.size();
    std::uint32_t c = ~before;
#if defined(__x86_64__)
    static const bool multiplies = __builtin_cpu_supports("pclmul");
    if (multiplies && size >= 64) {
        const std::size_t whole = size / 64 * 64;
        c = detail::crc_by_products(p, whole, c);
        p += whole, size -= whole;
    }
#endif
    return ~detail::crc_by_tables(p, size, c);
}

}  // namespace emmy::archive
