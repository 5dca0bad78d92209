#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/knob/space/space.hpp>

#include <array>
#include <vector>

namespace emmy::knob {

namespace detail {

/// A space and the list of its raws in order: size and unrank at once, rank by binary search. `Raws` is an array or a vector.
template <class Self, row_space S>
struct frozen_base : space_base<Self, row_of<S>> {
    using row_type = row_of<S>;

    /// Walks the list; what range-for needs.
    class iterator {
    public:
        using value_type = row_type;
        using difference_type = std::ptrdiff_t;
        constexpr iterator() = default;
        constexpr iterator(const Self* of, std::uint64_t at) : of_(of), at_(at) {}
        constexpr row_type operator*() const { return of_->unrank(at_); }
        constexpr iterator& operator++() { return ++at_, *this; }
        constexpr iterator operator++(int) {
            iterator before = *this;
            ++at_;
            return before;
        }
        constexpr bool operator==(const iterator& other) const { return at_ == other.at_; }

    private:
        const Self* of_ = nullptr;
        std::uint64_t at_ = 0;
    };
    constexpr iterator begin() const { return {&this->self(), 0}; }
    constexpr iterator end() const { return {&this->self(), this->self().size()}; }
    constexpr row_type operator[](std::uint64_t i) const { return unrank(i); }

    constexpr std::uint64_t raw_size() const { return this->self().of.raw_size(); }
    constexpr std::uint64_t size() const { return this->self().raws.size(); }
    constexpr row_type at_raw(std::uint64_t raw) const { return this->self().of.at_raw(raw); }
    constexpr row_type unrank(std::uint64_t i) const {
        const auto& raws = this->self().raws;
        return i < raws.size() ? at_raw(raws[static_cast<std::size_t>(i)]) : row_type();
    }
    constexpr std::optional<std::uint64_t> raw_rank(const row_type& r) const { return this->self().of.raw_rank(r); }
    constexpr std::optional<std::uint64_t> rank(const row_type& r) const {
        const auto raw = raw_rank(r);
        if (!raw) return std::nullopt;
        const auto& raws = this->self().raws;
        std::size_t low = 0;
        for (std::size_t high = raws.size(); low < high;) {
            const std::size_t middle = low + (high - low) / 2;
            if (raws[middle] < *raw) low = middle + 1;
            else high = middle;
        }
        return low;
    }
    template <class Function>
    constexpr bool walk(Function&& f) const {
        const auto& raws = this->self().raws;
        for (std::size_t i = 0; i < raws.size(); ++i)
            if (!f(static_cast<std::uint64_t>(raws[i]), at_raw(raws[i]))) return false;
        return true;
    }
};

}  // namespace detail

/// A space whose rows have been found once and are listed by raw: 4 bytes a row (8 where there are 2^32 raw points and more).
template <row_space S>
struct frozen : detail::frozen_base<frozen<S>, S> {
    /// Numbers of 4 or 8 bytes behind one interface.
    class list {
    public:
        explicit list(bool wide) : wide_(wide) {}
        void push_back(std::uint64_t raw) {
            if (wide_) eight_.push_back(raw);
            else four_.push_back(static_cast<std::uint32_t>(raw));
        }
        std::size_t size() const { return wide_ ? eight_.size() : four_.size(); }
        std::size_t bytes() const { return eight_.size() * 8 + four_.size() * 4; }
        std::uint64_t operator[](std::size_t i) const { return wide_ ? eight_[i] : four_[i]; }

    private:
        bool wide_;
        std::vector<std::uint32_t> four_;
        std::vector<std::uint64_t> eight_;
    };

    S of;
    list raws;
    explicit frozen(const S& s) : of(s), raws(s.raw_size() > UINT32_MAX) {
        s.walk([&](std::uint64_t raw, const row_of<S>&) { return raws.push_back(raw), true; });
    }
};

/// The same as a literal: the list is a table of the program.
template <row_space S, std::size_t Count>
struct frozen_literal : detail::frozen_base<frozen_literal<S, Count>, S> {
    S of;
    std::array<std::uint32_t, Count> raws{};
    constexpr explicit frozen_literal(const S& s) : of(s) {
        std::size_t n = 0;
        s.walk([&](std::uint64_t raw, const row_of<S>&) { return raws[n++] = static_cast<std::uint32_t>(raw), true; });
    }
};

/// Lists the rows of a space at run time: one pruned walk, then size, unrank and sample cost nothing and rank a search.
template <row_space S>
frozen<S> freeze(const S& s) { return frozen<S>(s); }

/// Raw points that a space may have when it is listed at compile time; beyond it compilers meet their limits.
inline constexpr std::uint64_t most_literal_points = 10'000;

namespace detail {
template <const auto& Space>
consteval auto freeze_literal() {
    if constexpr (Space.raw_size() > most_literal_points)
        say<[] {
            return bounded_text<240>("space: raw points is ").append(Space.raw_size()).append(", must be at most ").append(most_literal_points).append(" at compile time (freeze it at run time)");
        }>();
    return frozen_literal<std::remove_cvref_t<decltype(Space)>, static_cast<std::size_t>(Space.size())>(Space);
}
}  // namespace detail

/// `constexpr auto& list = frozen_at_compile_time<space>;` for a constexpr space of static storage.
template <const auto& Space>
inline constexpr auto frozen_at_compile_time = detail::freeze_literal<Space>();

}  // namespace emmy::knob
