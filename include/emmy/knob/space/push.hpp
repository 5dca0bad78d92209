#pragma once
#include <emmy/knob/space/dependent.hpp>
#include <emmy/knob/space/product.hpp>
#include <emmy/knob/space/restricted.hpp>

namespace emmy::knob {

namespace detail {

template <any_row Row, any_row Wanted>
struct remaining;
template <any_row Row>
struct remaining<Row, row<>> {
    using type = row<>;
};
/// The families of `Wanted` that `Row` has not.
template <any_row Row, family W, family... Ws>
struct remaining<Row, row<W, Ws...>> {
    using rest = typename remaining<Row, row<Ws...>>::type;
    using type = std::conditional_t<Row::template has<W>, rest, join_t<row<W>, rest>>;
};

/// A filter whose outer families have their values already.
template <row_filter Filter, any_row Known>
struct filter_under {
    using reads = typename remaining<Known, typename Filter::reads>::type;
    Filter passes;
    Known known;
    constexpr bool operator()(const reads& r) const { return passes(part<typename Filter::reads>(join(known, r))); }
};

template <row_space S, row_filter F>
constexpr auto push(const S& s, const F& f);

/// a -> f(a) % filter, the filter knowing a.
template <class Function, row_filter Filter, any_row Outer>
struct filtered_function {
    [[no_unique_address]] Function inner;
    Filter passes;
    constexpr auto operator()(const Outer& a) const {
        if constexpr (covers<row_of<space_at<Function, Outer>>, typename Filter::reads>) return push(inner(a), passes);
        else return push(inner(a), filter_under<Filter, Outer>{passes, a});
    }
};

/// How a filter reaches the earliest place that decides it.
template <row_space S>
struct pusher {
    template <row_filter F>
    static constexpr auto go(const S& s, const F& f) { return restricted<S, F>(s, f); }
};
template <row_space A, row_space B>
struct pusher<product<A, B>> {
    template <row_filter F>
    static constexpr auto go(const product<A, B>& s, const F& f) {
        if constexpr (covers<row_of<A>, typename F::reads>) {
            const auto outer = push(s.outer, f);
            return product<std::remove_const_t<decltype(outer)>, B>(outer, s.inner);
        } else if constexpr (covers<row_of<B>, typename F::reads>) {
            const auto inner = push(s.inner, f);
            return product<A, std::remove_const_t<decltype(inner)>>(s.outer, inner);
        } else {
            return restricted<product<A, B>, F>(s, f);
        }
    }
};
template <row_space A, row_space B>
struct pusher<sum<A, B>> {
    template <row_filter F>
    static constexpr auto go(const sum<A, B>& s, const F& f) {
        const auto first = push(s.first, f);
        const auto then = push(s.then, f);
        return sum<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(then)>>(first, then);
    }
};
template <row_space A, row_filter G>
struct pusher<restricted<A, G>> {
    template <row_filter F>
    static constexpr auto go(const restricted<A, G>& s, const F& f) {
        const auto inside = push(s.all, f);
        return restricted<std::remove_const_t<decltype(inside)>, G>(inside, s.passes);
    }
};
template <row_space A, class Function>
struct pusher<dependent<A, Function>> {
    template <row_filter F>
    static constexpr auto go(const dependent<A, Function>& s, const F& f) {
        if constexpr (covers<row_of<A>, typename F::reads>) {
            const auto outer = push(s.outer, f);
            return dependent<std::remove_const_t<decltype(outer)>, Function>(outer, s.inner);
        } else {
            using inner = filtered_function<Function, F, row_of<A>>;
            return dependent<A, inner>(s.outer, inner{s.inner, f});
        }
    }
};

/// A % filter with the filter at the earliest prefix that has every family it reads: `A*B*C % r` tests r while walking A*B where r reads
/// those two, so that a walk is a pruned search. Rows, order and ranks are those of the filter put last.
template <row_space S, row_filter F>
constexpr auto push(const S& s, const F& f) { return pusher<S>::go(s, f); }

}  // namespace detail

}  // namespace emmy::knob
