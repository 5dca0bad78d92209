#pragma once
#include <emmy/core/digest.hpp>

#include <openssl/evp.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace emmy {

EMMY_DECL std::string to_hex(const digest128& digest) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out(32, '0');
    for (int i = 0; i < 16; ++i) {
        out[static_cast<std::size_t>(15 - i)] = digits[digest.high >> (4 * i) & 15];
        out[static_cast<std::size_t>(31 - i)] = digits[digest.low >> (4 * i) & 15];
    }
    return out;
}

EMMY_DECL digest128 xxh3_128(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.high64, hash.low64};
}

EMMY_DECL std::uint64_t xxh3_64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

EMMY_DECL std::string sha256_hex(std::string_view bytes) {
    unsigned char raw[32];
    unsigned size = 0;
    EVP_Digest(bytes.data(), bytes.size(), raw, &size, EVP_sha256(), nullptr);
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(64);
    for (unsigned char byte : raw) {
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

}  // namespace emmy
