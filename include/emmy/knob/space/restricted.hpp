#pragma once
#include <emmy/knob/space/space.hpp>

namespace emmy::knob {

/// A test on some families: `reads` is the row type that it is given.
template <class R>
concept row_filter = any_row<typename R::reads> && requires(const R& r, const typename R::reads& part) {
    { r(part) } -> std::convertible_to<bool>;
};

/// The rows of A that a filter lets pass, in A's order. Size, rank and unrank walk A, nothing else.
template <row_space A, row_filter Filter>
struct restricted : space_base<restricted<A, Filter>, row_of<A>> {
    using row_type = row_of<A>;
    A all;
    Filter passes;
    constexpr restricted(const A& a, const Filter& f) : all(a), passes(f) {}

    constexpr std::uint64_t raw_size() const { return all.raw_size(); }
    constexpr std::optional<std::uint64_t> raw_rank(const row_type& r) const {
        if (!passes(part<typename Filter::reads>(r))) return std::nullopt;
        return all.raw_rank(r);
    }
    constexpr row_type at_raw(std::uint64_t raw) const { return all.at_raw(raw); }
    template <class Function>
    constexpr bool walk(Function&& f) const {
        return all.walk([&](std::uint64_t raw, const row_type& r) { return !passes(part<typename Filter::reads>(r)) || f(raw, r); });
    }
};

/// A filter from a predicate over named families: `A % where<VEC, BLK>([](int vec, const blk& b) { return … ; })`.
template <class Predicate, family... Fs>
struct predicate_filter {
    using reads = row<Fs...>;
    [[no_unique_address]] Predicate test;
    constexpr bool operator()(const reads& r) const { return test(r.template get<Fs>()...); }
};
template <family... Fs, class Predicate>
    requires std::is_invocable_r_v<bool, const Predicate&, const typename Fs::value_type&...>
constexpr predicate_filter<Predicate, Fs...> where(Predicate test) { return {test}; }

/// Lets every row pass, lets none pass: units of `%`.
struct always_filter {
    using reads = row<>;
    constexpr bool operator()(const reads&) const { return true; }
};
struct never_filter {
    using reads = row<>;
    constexpr bool operator()(const reads&) const { return false; }
};
inline constexpr always_filter always{};
inline constexpr never_filter never{};

/// A pin by type: only this value. `space | is<VEC>(4)`.
template <family F>
struct is_value {
    using reads = row<F>;
    typename F::value_type wanted;
    constexpr bool operator()(const reads& r) const { return r.template get<F>() == wanted; }
};
template <family F>
constexpr is_value<F> is(const typename F::value_type& value) { return {value}; }

}  // namespace emmy::knob
