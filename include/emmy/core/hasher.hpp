#pragma once
#include <emmy/core/digest.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace emmy {

/// xxh3_128 of bytes that come in pieces: the same digest as of the whole.
class hasher {
public:
    EMMY_DECL hasher();
    EMMY_DECL ~hasher();
    hasher(hasher&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    hasher& operator=(hasher&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    EMMY_DECL void add(std::span<const std::byte> bytes);
    EMMY_DECL digest128 digest() const;

private:
    void* state_;
};

/// The inverse of to_hex; false when `text` is not 32 lowercase hex digits.
constexpr bool from_hex(std::string_view text, digest128& out) {
    if (text.size() != 32) return false;
    digest128 read;
    for (std::size_t i = 0; i < 32; ++i) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return false;
        std::uint64_t& half = i < 16 ? read.high : read.low;
        half = half << 4 | static_cast<std::uint64_t>(digit);
    }
    out = read;
    return true;
}

}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/hasher.ipp>
#endif
