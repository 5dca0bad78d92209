#pragma once
// What the tests that need a card share.
#include <emmy/core/capability.hpp>
#include <emmy/device/cuda/compiler.hpp>
#include <emmy/device/cuda/driver.hpp>

#include <cstdio>
#include <span>
#include <vector>

namespace emmy::test {

namespace cuda = emmy::device::cuda;

/// The card, or nothing with the reason printed.
inline const cuda::context* the_card() {
    static const auto card = cuda::context::open();
    if (card) return &*card;
    static const bool said = (std::printf("skipped: %s\n", card.error().line().c_str()), true);
    (void)said;
    return nullptr;
}

inline capability target(const cuda::context& card) {
    const auto cc = card.identify().compute_cap;
    return {static_cast<std::uint16_t>(cc[0]), static_cast<std::uint16_t>(cc[1])};
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) { return std::as_bytes(std::span(v)); }
template <class T>
std::span<std::byte> writable(std::vector<T>& v) { return std::as_writable_bytes(std::span(v)); }

}  // namespace emmy::test
