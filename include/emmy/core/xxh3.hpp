#pragma once
#include <emmy/core/digest.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// XXH3-128 (seed 0, default secret) for constant expressions: equal to the xxHash library for every input. About 5 us a byte at
/// compile time, within the default limits of both compilers up to 400 KB. At run time the library (core/digest.hpp) is faster.
namespace emmy {
namespace detail::xxh3 {

using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

constexpr u64 prime32_1 = 0x9e3779b1u, prime32_2 = 0x85ebca77u, prime32_3 = 0xc2b2ae3du;
constexpr u64 prime64_1 = 0x9e3779b185ebca87u, prime64_2 = 0xc2b2ae3d27d4eb4fu, prime64_3 = 0x165667b19e3779f9u, prime64_4 = 0x85ebca77c2b2ae63u,
              prime64_5 = 0x27d4eb2f165667c5u;
constexpr std::size_t secret_size = 192, stripe = 64, stripes_a_block = (secret_size - stripe) / 8, block = stripe * stripes_a_block;

/// The default secret as little-endian words, and the 64-bit word that starts at each of its bytes (one look-up a read keeps
/// long inputs within the compilers' step limits).
constexpr u64 secret_words[secret_size / 8] = {
    0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u, 0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u,
    0x8e2443f7744608b8u, 0x4c263a81e69035e0u, 0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
    0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u, 0xc3ebd33483acc5eau, 0xeb6313faffa081c5u,
    0x49daf0b751dd0d17u, 0x9e68d429265516d3u, 0xfca1477d58be162bu, 0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu,
};
struct secret_table {
    std::array<u64, secret_size - 7> at{};
    constexpr secret_table() {
        for (std::size_t i = 0; i < at.size(); ++i) {
            const unsigned shift = 8 * (i % 8);
            at[i] = shift == 0 ? secret_words[i / 8] : secret_words[i / 8] >> shift | secret_words[i / 8 + 1] << (64 - shift);
        }
    }
};
inline constexpr secret_table secret;

constexpr u64 byte(const char* p) { return static_cast<unsigned char>(*p); }
constexpr u64 read32(const char* p) { return byte(p) | byte(p + 1) << 8 | byte(p + 2) << 16 | byte(p + 3) << 24; }
constexpr u64 read64(const char* p) {
    return byte(p) | byte(p + 1) << 8 | byte(p + 2) << 16 | byte(p + 3) << 24 | byte(p + 4) << 32 | byte(p + 5) << 40 | byte(p + 6) << 48 | byte(p + 7) << 56;
}
constexpr u64 swap32(u64 v) { return (v & 0xff) << 24 | (v & 0xff00) << 8 | (v >> 8 & 0xff00) | (v >> 24 & 0xff); }
constexpr u64 swap64(u64 v) { return swap32(v & 0xffffffffu) << 32 | swap32(v >> 32); }
constexpr u64 fold(u64 a, u64 b) {
    const u128 product = static_cast<u128>(a) * b;
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}
constexpr u64 avalanche(u64 h) {
    h = (h ^ h >> 37) * 0x165667919e3779f9u;
    return h ^ h >> 32;
}
constexpr u64 avalanche64(u64 h) {
    h = (h ^ h >> 33) * prime64_2;
    h = (h ^ h >> 29) * prime64_3;
    return h ^ h >> 32;
}

constexpr digest128 up_to_16(const char* p, std::size_t size) {
    const auto& s = secret.at;
    if (size > 8) {
        const u64 low = read64(p), high = read64(p + size - 8) ^ s[48] ^ s[56];
        const u128 first = static_cast<u128>(low ^ read64(p + size - 8) ^ s[32] ^ s[40]) * prime64_1;
        const u64 first_low = static_cast<u64>(first) + (static_cast<u64>(size - 1) << 54);
        const u64 first_high = static_cast<u64>(first >> 64) + high + (high & 0xffffffffu) * (prime32_2 - 1);
        const u128 second = static_cast<u128>(first_low ^ swap64(first_high)) * prime64_2;
        return {avalanche(static_cast<u64>(second >> 64) + first_high * prime64_2), avalanche(static_cast<u64>(second))};
    }
    if (size >= 4) {
        const u64 keyed = (read32(p) | read32(p + size - 4) << 32) ^ s[16] ^ s[24];
        const u128 product = static_cast<u128>(keyed) * (prime64_1 + (size << 2));
        u64 low = static_cast<u64>(product);
        const u64 high = static_cast<u64>(product >> 64) + (low << 1);
        low ^= high >> 3;
        low = (low ^ low >> 35) * 0x9fb21c651e98df25u;
        return {avalanche(high), low ^ low >> 28};
    }
    if (size > 0) {
        const u64 low = byte(p) << 16 | byte(p + size / 2) << 24 | byte(p + size - 1) | static_cast<u64>(size) << 8;
        const u64 swapped = swap32(low), high = (swapped << 13 | swapped >> 19) & 0xffffffffu;
        return {avalanche64(high ^ ((s[8] ^ s[12]) & 0xffffffffu)), avalanche64(low ^ ((s[0] ^ s[4]) & 0xffffffffu))};
    }
    return {avalanche64(s[80] ^ s[88]), avalanche64(s[64] ^ s[72])};
}

constexpr u64 mix16(const char* p, std::size_t at) { return fold(read64(p) ^ secret.at[at], read64(p + 8) ^ secret.at[at + 8]); }
constexpr void mix32(digest128& sum, const char* a, const char* b, std::size_t at) {
    sum.low = (sum.low + mix16(a, at)) ^ (read64(b) + read64(b + 8));
    sum.high = (sum.high + mix16(b, at + 16)) ^ (read64(a) + read64(a + 8));
}
constexpr digest128 up_to_240(const char* p, std::size_t size) {
    digest128 sum{0, size * prime64_1};
    if (size <= 128) {
        for (std::size_t i = (size - 1) / 32 + 1; i-- > 0;) mix32(sum, p + 16 * i, p + size - 16 * (i + 1), 32 * i);
    } else {
        for (std::size_t i = 0; i < 4; ++i) mix32(sum, p + 32 * i, p + 32 * i + 16, 32 * i);
        sum = {avalanche(sum.high), avalanche(sum.low)};
        for (std::size_t i = 4; i < size / 32; ++i) mix32(sum, p + 32 * i, p + 32 * i + 16, 3 + 32 * (i - 4));
        mix32(sum, p + size - 16, p + size - 32, 136 - 17 - 16);
    }
    return {0 - avalanche(sum.low * prime64_1 + sum.high * prime64_4 + size * prime64_2), avalanche(sum.low + sum.high)};
}

constexpr void accumulate(u64 (&acc)[8], const char* p, std::size_t at) {
    for (std::size_t i = 0; i < 8; ++i) {
        const u64 value = read64(p + 8 * i), key = value ^ secret.at[at + 8 * i];
        acc[i ^ 1] += value;
        acc[i] += (key & 0xffffffffu) * (key >> 32);
    }
}
constexpr u64 merge(const u64 (&acc)[8], std::size_t at, u64 start) {
    for (std::size_t i = 0; i < 4; ++i) start += fold(acc[2 * i] ^ secret.at[at + 16 * i], acc[2 * i + 1] ^ secret.at[at + 16 * i + 8]);
    return avalanche(start);
}
constexpr digest128 beyond_240(const char* p, std::size_t size) {
    u64 acc[8] = {prime32_3, prime64_1, prime64_2, prime64_3, prime64_4, prime32_2, prime64_5, prime32_1};
    const std::size_t blocks = (size - 1) / block;
    for (std::size_t b = 0; b < blocks; ++b) {
        for (std::size_t i = 0; i < stripes_a_block; ++i) accumulate(acc, p + b * block + i * stripe, 8 * i);
        for (std::size_t i = 0; i < 8; ++i) acc[i] = (acc[i] ^ acc[i] >> 47 ^ secret.at[secret_size - stripe + 8 * i]) * prime32_1;
    }
    const std::size_t rest = (size - 1 - blocks * block) / stripe;
    for (std::size_t i = 0; i < rest; ++i) accumulate(acc, p + blocks * block + i * stripe, 8 * i);
    accumulate(acc, p + size - stripe, secret_size - stripe - 7);
    return {merge(acc, secret_size - stripe - 11, ~(size * prime64_2)), merge(acc, 11, size * prime64_1)};
}
}  // namespace detail::xxh3

constexpr digest128 constant_xxh3_128(const char* bytes, std::size_t size) {
    if (size <= 16) return detail::xxh3::up_to_16(bytes, size);
    if (size <= 240) return detail::xxh3::up_to_240(bytes, size);
    return detail::xxh3::beyond_240(bytes, size);
}

}  // namespace emmy
