#pragma once
#include <emmy/knob/space/space.hpp>

namespace emmy::knob {

/// Every row of A beside every row of B, B fastest: raw = raw of a · raw size of B + raw of b.
template <row_space A, row_space B>
struct product : space_base<product<A, B>, join_t<row_of<A>, row_of<B>>> {
    using row_type = join_t<row_of<A>, row_of<B>>;
    A outer;
    B inner;
    constexpr product(const A& a, const B& b) : outer(a), inner(b) {}

    constexpr std::uint64_t raw_size() const { return detail::times(outer.raw_size(), inner.raw_size()); }
    constexpr std::uint64_t size() const { return detail::times(outer.size(), inner.size()); }
    constexpr std::optional<std::uint64_t> raw_rank(const row_type& r) const { return joined(r, inner.raw_size(), [](const auto& s, const auto& part) { return s.raw_rank(part); }); }
    constexpr std::optional<std::uint64_t> rank(const row_type& r) const { return joined(r, inner.size(), [](const auto& s, const auto& part) { return s.rank(part); }); }
    constexpr row_type at_raw(std::uint64_t raw) const {
        const std::uint64_t fast = inner.raw_size();
        return fast == 0 ? row_type() : join(outer.at_raw(raw / fast), inner.at_raw(raw % fast));
    }
    constexpr row_type unrank(std::uint64_t i) const {
        const std::uint64_t fast = inner.size();
        return fast == 0 ? row_type() : join(outer.unrank(i / fast), inner.unrank(i % fast));
    }
    template <class Function>
    constexpr bool walk(Function&& f) const {
        const std::uint64_t fast = inner.raw_size();
        return outer.walk([&](std::uint64_t i, const row_of<A>& a) {
            return inner.walk([&](std::uint64_t j, const row_of<B>& b) { return f(i * fast + j, join(a, b)); });
        });
    }

private:
    template <class Ask>
    constexpr std::optional<std::uint64_t> joined(const row_type& r, std::uint64_t fast, Ask ask) const {
        const std::optional<std::uint64_t> a = ask(outer, part<row_of<A>>(r));
        if (!a) return std::nullopt;
        const std::optional<std::uint64_t> b = ask(inner, part<row_of<B>>(r));
        if (!b) return std::nullopt;
        return *a * fast + *b;
    }
};

/// The rows of A, then those of B that A has not.
template <row_space A, row_space B>
struct sum : space_base<sum<A, B>, row_of<A>> {
    using row_type = row_of<A>;
    A first;
    B then;
    constexpr sum(const A& a, const B& b) : first(a), then(b) {}

    constexpr std::uint64_t raw_size() const { return detail::plus(first.raw_size(), then.raw_size()); }
    constexpr std::uint64_t size() const { return first.size() + only_then([](const row_type&) { return true; }); }
    constexpr std::optional<std::uint64_t> raw_rank(const row_type& r) const {
        if (const auto raw = first.raw_rank(r)) return raw;
        if (const auto raw = then.raw_rank(r)) return first.raw_size() + *raw;
        return std::nullopt;
    }
    constexpr std::optional<std::uint64_t> rank(const row_type& r) const {
        if (const auto at = first.rank(r)) return at;
        if (!then.contains(r)) return std::nullopt;
        return first.size() + only_then([&](const row_type& other) { return !(other == r); });
    }
    constexpr row_type at_raw(std::uint64_t raw) const {
        const std::uint64_t before = first.raw_size();
        return raw < before ? first.at_raw(raw) : row_type(then.at_raw(raw - before));
    }
    constexpr row_type unrank(std::uint64_t i) const {
        const std::uint64_t before = first.size();
        if (i < before) return first.unrank(i);
        row_type out;
        std::uint64_t left = i - before;
        only_then([&](const row_type& r) { return left-- == 0 ? (out = r, false) : true; });
        return out;
    }
    template <class Function>
    constexpr bool walk(Function&& f) const {
        if (!first.walk(f)) return false;
        const std::uint64_t before = first.raw_size();
        return then.walk([&](std::uint64_t raw, const row_of<B>& r) {
            const row_type same(r);
            return first.contains(same) || f(before + raw, same);
        });
    }

private:
    /// Counts the rows that only B has until f stops it.
    template <class Function>
    constexpr std::uint64_t only_then(Function&& f) const {
        std::uint64_t out = 0;
        then.walk([&](std::uint64_t, const row_of<B>& r) {
            const row_type same(r);
            if (first.contains(same)) return true;
            if (!f(same)) return false;
            ++out;
            return true;
        });
        return out;
    }
};

}  // namespace emmy::knob
