#pragma once
#include <emmy/knob/row.hpp>
#include <emmy/knob/space/uniform.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace emmy::knob {

/// A space is an ordered sequence of distinct rows of one type: the rows that a fork offers, in the order in which it offers them.
///
///   row_type                   the type of its rows
///   walk(f)                    calls f(raw, row) for each row in order until f returns false; false when it was stopped
///   raw_size()                 raws are below it: points before restrictions
///   raw_rank(row)              raw of a row, nothing where the row is not in the space
///   at_raw(raw)                the row of a raw that walk has shown
///
/// A *raw* numbers the points of the unrestricted space: it grows along the walk, costs no search, and is what a list of rows keeps.
/// What follows comes from these five (and is replaced where a space knows better): size, rank, unrank, each, contains, sample.
template <class S>
concept row_space = requires(const S& s, const typename S::row_type& r) {
    requires any_row<typename S::row_type>;
    { s.raw_size() } -> std::same_as<std::uint64_t>;
    { s.raw_rank(r) } -> std::same_as<std::optional<std::uint64_t>>;
    { s.at_raw(std::uint64_t{}) } -> std::same_as<typename S::row_type>;
    { s.size() } -> std::same_as<std::uint64_t>;
    { s.rank(r) } -> std::same_as<std::optional<std::uint64_t>>;
};

namespace detail {

/// Calls f and goes on, unless f says false.
template <class Function, class... Args>
constexpr bool call_on(Function& f, const Args&... args) {
    if constexpr (std::is_void_v<decltype(f(args...))>) {
        f(args...);
        return true;
    } else {
        return static_cast<bool>(f(args...));
    }
}
/// Saturates: a space of 2^64 points and more has no ranks, but says so by its size.
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace detail

/// What every space has. `Self` is the space, `Row` the type of its rows.
template <class Self, any_row Row>
struct space_base {
    using row_type = Row;

    /// Rows of the space.
    constexpr std::uint64_t size() const {
        std::uint64_t out = 0;
        self().walk([&](std::uint64_t, const Row&) { return ++out, true; });
        return out;
    }
    constexpr bool empty() const {
        return self().walk([](std::uint64_t, const Row&) { return false; });
    }
    /// Position of a row; nothing where the space does not have it. The inverse of unrank.
    constexpr std::optional<std::uint64_t> rank(const Row& r) const {
        const auto raw = self().raw_rank(r);
        if (!raw) return std::nullopt;
        std::uint64_t out = 0;
        self().walk([&](std::uint64_t at, const Row&) { return at < *raw ? (++out, true) : false; });
        return out;
    }
    /// The row at a position below size(); a row as row_type() makes it beyond it (so of an empty space).
    constexpr Row unrank(std::uint64_t i) const {
        Row out;
        self().walk([&](std::uint64_t, const Row& r) { return i-- == 0 ? (out = r, false) : true; });
        return out;
    }
    constexpr bool contains(const Row& r) const { return self().raw_rank(r).has_value(); }
    /// Calls f(row) in order; stops where f returns false. False when it was stopped.
    template <class Function>
    constexpr bool each(Function&& f) const {
        return self().walk([&](std::uint64_t, const Row& r) { return detail::call_on(f, r); });
    }
    /// One row, each as likely as another; row_type() where the space is empty: ask empty() first. Repeatable: sample(seed{7}).
    template <class Generator>
    constexpr Row sample(Generator&& g) const { return self().unrank(uniform_below(g, self().size())); }

protected:
    constexpr const Self& self() const { return static_cast<const Self&>(*this); }
};

/// The row type of a space.
template <row_space S>
using row_of = typename S::row_type;

}  // namespace emmy::knob
