#pragma once
#include <emmy/knob/space/space.hpp>

namespace emmy::knob {

namespace detail {
template <class Function, class Row>
using space_at = std::remove_cvref_t<std::invoke_result_t<const Function&, const Row&>>;
}

/// For each row a of A the rows of the space f(a) beside it. f gives spaces of one type over families that A has not.
/// raw = raw of a · stride + raw of b, where stride is the largest raw size of an f(a), found once when the space is made.
template <row_space A, class Function>
struct dependent : space_base<dependent<A, Function>, join_t<row_of<A>, row_of<detail::space_at<Function, row_of<A>>>>> {
    using inner_type = detail::space_at<Function, row_of<A>>;
    using row_type = join_t<row_of<A>, row_of<inner_type>>;
    A outer;
    [[no_unique_address]] Function inner;
    std::uint64_t stride = 0;

    constexpr dependent(const A& a, const Function& f) : outer(a), inner(f) {
        outer.walk([&](std::uint64_t, const row_of<A>& r) {
            const std::uint64_t here = inner(r).raw_size();
            if (here > stride) stride = here;
            return true;
        });
    }

    constexpr std::uint64_t raw_size() const { return detail::times(outer.raw_size(), stride); }
    constexpr std::uint64_t size() const {
        std::uint64_t out = 0;
        outer.walk([&](std::uint64_t, const row_of<A>& a) { return out = detail::plus(out, inner(a).size()), true; });
        return out;
    }
    constexpr std::optional<std::uint64_t> raw_rank(const row_type& r) const {
        const row_of<A> a = part<row_of<A>>(r);
        const auto at = outer.raw_rank(a);
        if (!at) return std::nullopt;
        const auto in = inner(a).raw_rank(part<row_of<inner_type>>(r));
        if (!in) return std::nullopt;
        return *at * stride + *in;
    }
    constexpr std::optional<std::uint64_t> rank(const row_type& r) const {
        const row_of<A> wanted = part<row_of<A>>(r);
        const auto raw = outer.raw_rank(wanted);
        if (!raw) return std::nullopt;
        const auto last = inner(wanted).rank(part<row_of<inner_type>>(r));
        if (!last) return std::nullopt;
        std::uint64_t before = 0;
        outer.walk([&](std::uint64_t at, const row_of<A>& a) { return at < *raw ? (before += inner(a).size(), true) : false; });
        return before + *last;
    }
    constexpr row_type at_raw(std::uint64_t raw) const {
        const row_of<A> a = outer.at_raw(raw / stride);
        return join(a, inner(a).at_raw(raw % stride));
    }
    constexpr row_type unrank(std::uint64_t i) const {
        row_type out;
        outer.walk([&](std::uint64_t, const row_of<A>& a) {
            const inner_type here = inner(a);
            const std::uint64_t count = here.size();
            if (i < count) return out = join(a, here.unrank(i)), false;
            i -= count;
            return true;
        });
        return out;
    }
    template <class Visit>
    constexpr bool walk(Visit&& f) const {
        return outer.walk([&](std::uint64_t i, const row_of<A>& a) {
            return inner(a).walk([&](std::uint64_t j, const row_of<inner_type>& b) { return f(i * stride + j, join(a, b)); });
        });
    }
};

}  // namespace emmy::knob
