#pragma once
#include <emmy/knob/family.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace emmy::knob {

/// A family as run-time data.
struct family_info {
    std::string_view name;
    scope where;
    role meaning;
    value_kind kind;
    int version;
    bool has_off;
    value_text off;                                    ///< text of the OFF value
    parsed<value_text> (*canonical)(std::string_view);  ///< checks a value alone and spells it canonically
};

namespace detail {
template <family F>
constexpr parsed<value_text> canonical_text(std::string_view text) {
    const auto value = F::parse(text);
    if (!value) return value.error();
    const value_text out = F::spell(*value);
    if (out.overflowed()) return refusal{F::name, text, "a value whose spelling fits a value_text", refusal::nowhere};
    return out;
}
template <family F>
constexpr family_info info_of() {
    family_info out{F::name, F::where, F::meaning, F::kind, F::version, false, {}, &canonical_text<F>};
    if constexpr (has_off<F>) {
        static_assert(!F::spell(F::off).overflowed(), "the spelling of the OFF value is longer than a value_text");
        out.has_off = true;
        out.off = F::spell(F::off);
    }
    return out;
}
}  // namespace detail

namespace detail {
/// The first name that stands twice; no text where none does.
template <family... Fs>
constexpr std::string_view repeated_name() {
    const std::array<std::string_view, sizeof...(Fs)> names{std::string_view(Fs::name)...};
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (names[i] == names[j]) return names[i];
    return {};
}
/// "BLK, VEC"
template <family... Fs>
constexpr auto list_names() {
    bounded_text<48 * sizeof...(Fs) + 1> out;
    ((out.append(out.empty() ? "" : ", ").append(std::string_view(Fs::name))), ...);
    return out;
}
template <family... Fs>
inline constexpr auto names_of = list_names<Fs...>();

/// Positions of the families, sorted by the code points of their names.
template <family... Fs>
inline constexpr auto order_by_name = [] {
    const std::array<std::string_view, sizeof...(Fs)> names{std::string_view(Fs::name)...};
    std::array<std::size_t, sizeof...(Fs)> out{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::size_t at = i;
        for (; at > 0 && names[i] < names[out[at - 1]]; --at) out[at] = out[at - 1];
        out[at] = i;
    }
    return out;
}();

template <std::size_t Place, class F>
struct family_at {
    using type = F;
};
template <class Places, class... Fs>
struct families_at;
template <std::size_t... Places, class... Fs>
struct families_at<std::index_sequence<Places...>, Fs...> : family_at<Places, Fs>... {};
template <std::size_t Place, class F>
family_at<Place, F> pick_family(const family_at<Place, F>&);
}  // namespace detail

/// A set of families of distinct names: looked up by type at compile time, by name at run time.
///   using mine = built_in::with<VEC, BLK>;
template <family... Fs>
struct registry {
    static_assert(detail::repeated_name<Fs...>().empty(), "two families of one name, expected distinct names");
    static constexpr std::size_t size = sizeof...(Fs);
    static constexpr std::array<family_info, size> table{detail::info_of<Fs>()...};

    template <family... More>
    using with = registry<Fs..., More...>;

    template <class F>
    static constexpr bool contains = (std::is_same_v<F, Fs> || ...);

    /// Position of a family in `table`.
    template <family F>
        requires contains<F>
    static constexpr std::size_t index_of = [] {
        std::size_t at = 0, i = 0;
        ((std::is_same_v<F, Fs> ? void(at = i) : void(), ++i), ...);
        return at;
    }();

    /// nullptr when no family has this name (names are upper case, exact).
    static constexpr const family_info* find(std::string_view name) {
        for (const family_info& info : table)
            if (info.name == name) return &info;
        return nullptr;
    }
    /// Calls f.template operator()<F>() for the family of this name; false when there is none.
    template <class Function>
    static constexpr bool visit(std::string_view name, Function&& f) {
        return ((Fs::name == name ? (f.template operator()<Fs>(), true) : false) || ...);
    }
    /// Calls f.template operator()<F>() for each family in order.
    template <class Function>
    static constexpr void each(Function&& f) {
        (f.template operator()<Fs>(), ...);
    }
    /// The same in the order of the code points of their names.
    template <class Function>
    static constexpr void each_by_name(Function&& f) {
        [&]<std::size_t... I>(std::index_sequence<I...>) { (f.template operator()<family_at<detail::order_by_name<Fs...>[I]>>(), ...); }(std::index_sequence_for<Fs...>{});
    }
    /// Does f.template operator()<F>() hold of every family?
    template <class Function>
    static constexpr bool all(Function&& f) {
        return (f.template operator()<Fs>() && ...);
    }
    /// "one of BLK, VEC"
    static constexpr auto one_of_them = bounded_text<48 * size + 16>("one of ").append(detail::names_of<Fs...>.view());

private:
    template <std::size_t Place>
    using family_at = typename decltype(detail::pick_family<Place>(detail::families_at<std::index_sequence_for<Fs...>, Fs...>{}))::type;
};

}  // namespace emmy::knob
