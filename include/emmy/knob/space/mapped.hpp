#pragma once
#include <emmy/knob/space/space.hpp>

namespace emmy::knob {

/// Two ways to say one choice: show(row of the inner space) is a row of families, read(that row) the inner one again, or nothing.
template <class Codec, class Row>
concept row_codec = requires(const Codec& c, const Row& r) {
    requires any_row<decltype(c.show(r))>;
    { c.read(c.show(r)) } -> std::same_as<std::optional<Row>>;
};

/// The rows of A, each shown as a row of other families, in A's order: the sizes of a tile become WORK and TILE. Show must keep distinct
/// rows distinct.
template <row_space A, row_codec<row_of<A>> Codec>
struct mapped : space_base<mapped<A, Codec>, decltype(std::declval<const Codec&>().show(std::declval<const row_of<A>&>()))> {
    using row_type = decltype(std::declval<const Codec&>().show(std::declval<const row_of<A>&>()));
    A inner;
    [[no_unique_address]] Codec codec;
    constexpr mapped(const A& a, const Codec& c) : inner(a), codec(c) {}

    constexpr std::uint64_t raw_size() const { return inner.raw_size(); }
    constexpr std::uint64_t size() const { return inner.size(); }
    constexpr std::optional<std::uint64_t> raw_rank(const row_type& r) const {
        const auto in = read(r);
        return in ? inner.raw_rank(*in) : std::nullopt;
    }
    constexpr std::optional<std::uint64_t> rank(const row_type& r) const {
        const auto in = read(r);
        return in ? inner.rank(*in) : std::nullopt;
    }
    constexpr row_type at_raw(std::uint64_t raw) const { return codec.show(inner.at_raw(raw)); }
    constexpr row_type unrank(std::uint64_t i) const { return codec.show(inner.unrank(i)); }
    template <class Function>
    constexpr bool walk(Function&& f) const {
        return inner.walk([&](std::uint64_t raw, const row_of<A>& r) { return f(raw, codec.show(r)); });
    }

private:
    constexpr std::optional<row_of<A>> read(const row_type& r) const {
        const std::optional<row_of<A>> in = codec.read(r);
        if (in && !(codec.show(*in) == r)) return std::nullopt;
        return in;
    }
};

template <row_space A, class Codec>
constexpr mapped<A, Codec> shown_as(const A& a, const Codec& codec) { return {a, codec}; }

}  // namespace emmy::knob
