#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/knob/family.hpp>

#include <array>
#include <type_traits>

namespace emmy::knob {

namespace detail {

/// "one of 1, 2, 4, 8"
template <auto... Values>
constexpr auto list_values() {
    bounded_text<16 + 24 * sizeof...(Values)> out("one of ");
    std::size_t n = 0;
    ((out.append(n++ == 0 ? "" : ", ").append(Values)), ...);
    return out;
}
template <fixed_string... Texts>
constexpr auto list_texts() {
    bounded_text<32 + (0 + ... + (Texts.size() + 4))> out("one of ");
    std::size_t n = 0;
    ((out.append(n++ == 0 ? "" : ", ").append(Texts.size() == 0 ? std::string_view("no text") : Texts.view())), ...);
    return out;
}

/// Upper case, as keys are written; pins are given in any case and raised to it.
constexpr bool is_family_name(std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i)
        if (const char c = name[i]; !((c >= 'A' && c <= 'Z') || c == '_' || (i > 0 && c >= '0' && c <= '9'))) return false;
    return !name.empty();
}
template <fixed_string Name>
constexpr bool checked_family_name() {
    if constexpr (!is_family_name(Name.view()))
        say<[] { return bounded_text<240>("family: found the name [").append(Name.view()).append("], expected upper-case letters, digits and _"); }>();
    return true;
}
template <fixed_string... Texts>
constexpr bool all_differ() {
    const std::array<std::string_view, sizeof...(Texts)> texts{Texts.view()...};
    for (std::size_t i = 0; i < texts.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (texts[i] == texts[j]) return false;
    return true;
}

/// What a family has unless it says otherwise: one schedule choice a kernel. A derived struct overrides by members of the same names.
template <fixed_string Name>
struct family_defaults {
    static_assert(checked_family_name<Name>());
    static constexpr fixed_string name_text = Name;
    static constexpr std::string_view name = name_text.view();
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;
};

}  // namespace detail

/// A family of a few numbers, the first of them OFF; they are its catalog too.
///   struct UNROLL : choice<"UNROLL", 1, 2, 4, 8> {};
template <fixed_string Name, auto First, auto... Others>
    requires(std::is_integral_v<decltype(First)> && (std::is_same_v<decltype(First), decltype(Others)> && ...))
struct choice : detail::family_defaults<Name> {
    using value_type = decltype(First);
    static constexpr value_kind kind = value_kind::integer;
    static constexpr std::array<value_type, 1 + sizeof...(Others)> catalog{First, Others...};
    static constexpr value_type off = First;

    static constexpr value_text spell(value_type value) { return value_text().append(value); }
    static constexpr parsed<value_type> parse(std::string_view text) {
        for (const value_type value : catalog)
            if (spell(value) == text) return value;
        return refusal{choice::name, text, one_of.view(), 0};
    }

private:
    static constexpr auto one_of = detail::list_values<First, Others...>();
};

/// A family of an enumeration, its texts in the order of its enumerators, the first of them OFF.
///   enum class order { row, column };
///   struct ORDER : named<"ORDER", order, "row", "column"> {};
template <fixed_string Name, class Enum, fixed_string... Texts>
    requires std::is_enum_v<Enum>
struct named : detail::family_defaults<Name> {
    static_assert(detail::all_differ<Texts...>(), "a named family spells two enumerators alike, expected a text of its own for each");
    using value_type = Enum;
    static constexpr std::array<std::string_view, sizeof...(Texts)> texts{Texts.view()...};
    static constexpr std::array<Enum, sizeof...(Texts)> catalog = [] {
        std::array<Enum, sizeof...(Texts)> out{};
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Enum>(i);
        return out;
    }();
    static constexpr Enum off = static_cast<Enum>(0);

    /// "?" of a value without a text: parse refuses it, so no list of the family takes such a value.
    static constexpr value_text spell(Enum value) {
        const auto i = static_cast<std::size_t>(value);
        return value_text(i < texts.size() ? texts[i] : std::string_view("?"));
    }
    static constexpr parsed<Enum> parse(std::string_view text) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (texts[i] == text) return static_cast<Enum>(i);
        return refusal{named::name, text, one_of.view(), 0};
    }

private:
    static constexpr auto one_of = detail::list_texts<Texts...>();
};

}  // namespace emmy::knob
