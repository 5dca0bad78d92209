#pragma once
#include <emmy/knob/family.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

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
    return F::spell(*value);
}
template <family F>
constexpr family_info info_of() {
    family_info out{F::name, F::where, F::meaning, F::kind, F::version, false, {}, &canonical_text<F>};
    if constexpr (has_off<F>) {
        out.has_off = true;
        out.off = F::spell(F::off);
    }
    return out;
}
}  // namespace detail

/// A set of families: looked up by type at compile time, by name at run time.
///   using mine = built_in::with<VEC, BLK>;
template <family... Fs>
struct registry {
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
};

}  // namespace emmy::knob
