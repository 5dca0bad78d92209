#pragma once
#include <emmy/core/hasher.hpp>

#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace emmy {

EMMY_DECL hasher::hasher() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}
EMMY_DECL hasher::~hasher() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }
EMMY_DECL void hasher::add(std::span<const std::byte> bytes) { XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size()); }
EMMY_DECL digest128 hasher::digest() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
    return {hash.high64, hash.low64};
}

}  // namespace emmy
