#pragma once
#include <emmy/knob/space/dependent.hpp>
#include <emmy/knob/space/frozen.hpp>
#include <emmy/knob/space/mapped.hpp>
#include <emmy/knob/space/product.hpp>
#include <emmy/knob/space/restricted.hpp>

namespace emmy::knob {

/// A dependent space with the sizes of its inner spaces summed up: 16 bytes for each row of the *outer* space, and then size at once,
/// rank and unrank by one binary search and a look into one inner space. Its rows are never listed.
template <row_space A, class Function>
struct indexed_dependent : space_base<indexed_dependent<A, Function>, row_of<dependent<A, Function>>> {
    using row_type = row_of<dependent<A, Function>>;
    struct entry {
        std::uint64_t raw, before;  ///< of a row of the outer space, rows of this space before its own
    };
    dependent<A, Function> of;
    std::vector<entry> outers;
    std::uint64_t total = 0;

    explicit indexed_dependent(const dependent<A, Function>& s) : of(s) {
        of.outer.walk([&](std::uint64_t raw, const row_of<A>& a) {
            const std::uint64_t here = of.inner(a).size();
            if (here != 0) outers.push_back({raw, total});
            total += here;
            return true;
        });
    }

    std::uint64_t raw_size() const { return of.raw_size(); }
    std::uint64_t size() const { return total; }
    std::optional<std::uint64_t> raw_rank(const row_type& r) const { return of.raw_rank(r); }
    row_type at_raw(std::uint64_t raw) const { return of.at_raw(raw); }
    std::optional<std::uint64_t> rank(const row_type& r) const {
        const row_of<A> a = part<row_of<A>>(r);
        const auto raw = of.outer.raw_rank(a);
        if (!raw) return std::nullopt;
        const auto in = of.inner(a).rank(part<row_of<typename dependent<A, Function>::inner_type>>(r));
        if (!in || outers.empty()) return std::nullopt;
        return last([&](const entry& e) { return e.raw <= *raw; }).before + *in;
    }
    row_type unrank(std::uint64_t i) const {
        if (i >= total) return {};
        const entry& e = last([&](const entry& at) { return at.before <= i; });
        const row_of<A> a = of.outer.at_raw(e.raw);
        return join(a, of.inner(a).unrank(i - e.before));
    }
    template <class Visit>
    bool walk(Visit&& f) const { return of.walk(f); }

private:
    /// The last entry that a condition, true of the first ones, holds for.
    template <class Condition>
    const entry& last(Condition holds) const {
        std::size_t low = 0;
        for (std::size_t high = outers.size(); low + 1 < high;) {
            const std::size_t middle = low + (high - low) / 2;
            if (holds(outers[middle])) low = middle;
            else high = middle;
        }
        return outers[low];
    }
};

namespace detail {
template <row_space S>
struct indexer {
    static S go(const S& s) { return s; }  // ranks by formula, or of a short list
};
template <row_space A, row_filter F>
struct indexer<restricted<A, F>> {
    static frozen<restricted<A, F>> go(const restricted<A, F>& s) { return frozen<restricted<A, F>>(s); }
};
template <row_space A, row_space B>
struct indexer<sum<A, B>> {
    static frozen<sum<A, B>> go(const sum<A, B>& s) { return frozen<sum<A, B>>(s); }
};
template <row_space A, class Function>
struct indexer<dependent<A, Function>> {
    static indexed_dependent<A, Function> go(const dependent<A, Function>& s) { return indexed_dependent<A, Function>(s); }
};
template <row_space A, row_space B>
struct indexer<product<A, B>> {
    static auto go(const product<A, B>& s) {
        auto outer = indexer<A>::go(s.outer);
        auto inner = indexer<B>::go(s.inner);
        return product<decltype(outer), decltype(inner)>(outer, inner);
    }
};
}  // namespace detail

/// The same space with tables that make size, rank, unrank and sample cheap, for spaces too large to list: products stay products,
/// dependences sum up their inner sizes, restricted factors list their own rows.
template <row_space S>
auto indexed(const S& s) { return detail::indexer<S>::go(s); }

}  // namespace emmy::knob
