#pragma once
#include <cstdint>
#include <type_traits>

namespace emmy::knob {

/// A generator of 64 random bits a call from a number (splitmix64): small, fast, the same on every machine and in constant expressions.
class seed {
public:
    using result_type = std::uint64_t;
    constexpr explicit seed(std::uint64_t number) : state_(number) {}
    static constexpr std::uint64_t min() { return 0; }
    static constexpr std::uint64_t max() { return UINT64_MAX; }
    constexpr std::uint64_t operator()() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }

private:
    std::uint64_t state_;
};

/// A number below `bound` (> 0), exactly uniform: one draw, a second one with probability bound / 2^64. `g` gives 64 or 32 random bits.
template <class Generator>
constexpr std::uint64_t uniform_below(Generator&& g, std::uint64_t bound) {
    const auto draw = [&]() -> std::uint64_t {
        using source = std::remove_cvref_t<Generator>;
        constexpr std::uint64_t most = static_cast<std::uint64_t>(source::max()) - static_cast<std::uint64_t>(source::min());
        static_assert(most == UINT64_MAX || most == UINT32_MAX, "uniform_below: a generator of other than 32 or 64 bits, expected std::mt19937, std::mt19937_64 or seed");
        if constexpr (most == UINT64_MAX) return g() - g.min();
        else return static_cast<std::uint64_t>(g() - g.min()) << 32 | static_cast<std::uint64_t>(g() - g.min());
    };
    __extension__ using wide = unsigned __int128;
    for (;;) {
        const wide product = static_cast<wide>(draw()) * bound;
        const auto low = static_cast<std::uint64_t>(product);
        if (low >= bound || low >= (0 - bound) % bound) return static_cast<std::uint64_t>(product >> 64);
    }
}

}  // namespace emmy::knob
