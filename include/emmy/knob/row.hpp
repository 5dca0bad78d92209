#pragma once
#include <emmy/knob/registry.hpp>
#include <emmy/core/refused.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace emmy::knob {

template <family... Fs>
struct row;

namespace detail {

/// Cosmetic families stand in schedule rows.
constexpr role row_role(role r) { return r == role::cosmetic ? role::schedule : r; }

/// First thing wrong with a pack of families as a row; no text where nothing is.
template <family... Fs>
constexpr bounded_text<240> why_not_row() {
    bounded_text<240> out;
    if constexpr (sizeof...(Fs) > 1) {
        if (const std::string_view twice = repeated_name<Fs...>(); !twice.empty()) return out.append("row: found ").append(twice).append(" twice, expected each family once");
        const std::array<std::string_view, sizeof...(Fs)> names{std::string_view(Fs::name)...};
        const std::array<role, sizeof...(Fs)> roles{row_role(Fs::meaning)...};
        for (std::size_t i = 1; i < names.size(); ++i)
            if (roles[i] != roles[0]) {
                out.append("row: ").append(names[i]).append(" is ").append(name_of(roles[i])).append(", ").append(names[0]).append(" is ").append(name_of(roles[0]));
                return out.append(", expected ").append(name_of(roles[0])).append(" families only");
            }
    }
    return out;
}
template <family... Fs>
consteval bool makes_a_row() {
    if constexpr (!why_not_row<Fs...>().empty()) return say<[] { return why_not_row<Fs...>(); }>();
    return true;
}
template <family F, family... Fs>
constexpr bounded_text<240> lacks() {
    return bounded_text<240>("row: found no ").append(std::string_view(F::name)).append(", expected one of ").append(names_of<Fs...>.view());
}

/// Called in a constant expression by what is given a value that its family does not take: stops it. At run time it does nothing.
inline void a_value_does_not_read_back_from_its_spelling() {}
/// Values that come from a list or another row: not looked at again.
struct as_is {};

template <family F>
struct slot {
    typename F::value_type value{};
    constexpr bool operator==(const slot&) const = default;
};

}  // namespace detail

/// One value for each of a few families: `row<BLK, VEC>`. A literal, and a template argument where its values can be. Families are of
/// one role (cosmetic ones stand with schedule ones) and distinct; anything else does not compile.
template <family... Fs>
struct row : detail::slot<Fs>... {
    static constexpr std::size_t size = sizeof...(Fs);
    template <class F>
    static constexpr bool has = (std::is_same_v<F, Fs> || ...);

    /// Position of a family in the row.
    template <class F>
        requires has<F>
    static constexpr std::size_t index_of = [] {
        std::size_t out = 0, i = 0;
        ((std::is_same_v<F, Fs> ? void(out = i) : void(), ++i), ...);
        return out;
    }();

    constexpr row() { static_assert(detail::makes_a_row<Fs...>()); }
    /// A value that its family cannot spell and read back (3 of a choice of 1, 2, 4) does not compile in a constant expression.
    constexpr explicit row(const typename Fs::value_type&... values)
        requires(sizeof...(Fs) > 0)
        : row(detail::as_is{}, values...) {
        if (std::is_constant_evaluated())
            if (!(detail::reads_back<Fs>(values) && ...)) detail::a_value_does_not_read_back_from_its_spelling();
    }
    constexpr explicit row(detail::as_is, const typename Fs::value_type&... values)
        requires(sizeof...(Fs) > 0)
        : detail::slot<Fs>{values}... {
        static_assert(detail::makes_a_row<Fs...>());
    }
    /// The same families in another order.
    template <family... Gs>
        requires(sizeof...(Gs) == size && size > 1 && !std::is_same_v<row<Gs...>, row> && (has<Gs> && ...))
    constexpr row(const row<Gs...>& other) : detail::slot<Fs>{other.template get<Fs>()}... {}

    /// The value of a family.
    template <family F>
    constexpr const auto& get() const {
        if constexpr (!has<F>) say<[] { return detail::lacks<F, Fs...>(); }>();
        return static_cast<const detail::slot<F>&>(*this).value;
    }
    /// The row with another value of a family.
    template <family F>
    constexpr row with(const typename F::value_type& value) const {
        if constexpr (!has<F>) say<[] { return detail::lacks<F, Fs...>(); }>();
        row out = *this;
        static_cast<detail::slot<F>&>(out).value = value;
        return out;
    }

    /// Calls f.template operator()<F>(value) for each family in order.
    template <class Function>
    constexpr void visit(Function&& f) const {
        (f.template operator()<Fs>(get<Fs>()), ...);
    }
    /// Calls f(key, value) with texts, keys sorted by code point: what row_text, pin_text and canonical_key ask of any row.
    template <class Function>
    constexpr void each(Function&& f) const {
        registry<Fs...>::each_by_name([&]<class F>() { f(std::string_view(F::name), F::spell(get<F>()).view()); });
    }

    constexpr bool operator==(const row&) const = default;
};

namespace detail {
template <class Row>
inline constexpr bool is_row = false;
template <family... Fs>
inline constexpr bool is_row<row<Fs...>> = true;

template <class Left, class Right>
struct joined;
template <family... As, family... Bs>
struct joined<row<As...>, row<Bs...>> {
    using type = row<As..., Bs...>;
};

/// Does one row type have every family of another?
template <class Row, class Wanted>
inline constexpr bool covers = false;
template <class Row, family... Ws>
inline constexpr bool covers<Row, row<Ws...>> = (Row::template has<Ws> && ...);
}  // namespace detail

template <class Row>
concept any_row = detail::is_row<Row>;

template <any_row Left, any_row Right>
using join_t = typename detail::joined<Left, Right>::type;

/// The values of two rows over different families, side by side.
template <family... As, family... Bs>
constexpr row<As..., Bs...> join(const row<As...>& a, const row<Bs...>& b) {
    if constexpr (sizeof...(As) == 0) return b;
    else if constexpr (sizeof...(Bs) == 0) return a;
    else return row<As..., Bs...>(detail::as_is{}, a.template get<As>()..., b.template get<Bs>()...);
}

namespace detail {
template <any_row Wanted>
struct picker;
template <family... Ws>
struct picker<row<Ws...>> {
    template <any_row Row>
    static constexpr row<Ws...> from(const Row& r) {
        if constexpr (sizeof...(Ws) == 0) return {};
        else return row<Ws...>(as_is{}, r.template get<Ws>()...);
    }
};
}  // namespace detail

/// Some families of a row: `part<row<BLK>>(r)`.
template <any_row Wanted, any_row Row>
constexpr Wanted part(const Row& r) { return detail::picker<Wanted>::from(r); }

}  // namespace emmy::knob
