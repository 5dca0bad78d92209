#pragma once
#include <emmy/knob/own/choice.hpp>

#include <optional>

namespace emmy::knob {

namespace detail {
constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) {
    if (text.size() != lower.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
        if (c != lower[i]) return false;
    }
    return true;
}
}  // namespace detail

/// A yes-or-no family of the regime. These texts come from environments and command lines: several spellings are read
/// (1/true/yes/on, 0/false/no/off/no text, any case), one is written ("true", "false").
template <fixed_string Name>
struct policy : detail::family_defaults<Name> {
    using value_type = bool;
    static constexpr role meaning = role::regime;
    static constexpr value_kind kind = value_kind::boolean;
    static constexpr bool off = false;

    static constexpr parsed<bool> parse(std::string_view text) {
        for (std::string_view yes : {"1", "true", "yes", "on"})
            if (detail::equals_ignoring_case(text, yes)) return true;
        for (std::string_view no : {"0", "false", "no", "off", ""})
            if (detail::equals_ignoring_case(text, no)) return false;
        return refusal{policy::name, text, "1, true, yes, on or 0, false, no, off", 0};
    }
    static constexpr value_text spell(bool value) { return value_text(value ? "true" : "false"); }
};

// Switches of the generated text: on unless pinned.
struct VECTORIZE_LOADS : policy<"VECTORIZE_LOADS"> {};
struct VECTORIZE_STORES : policy<"VECTORIZE_STORES"> {};
struct INTERLEAVE_LOADS : policy<"INTERLEAVE_LOADS"> {};
struct GUARD_REDUCTIONS : policy<"GUARD_REDUCTIONS"> {};
struct PAIR_LDMATRIX : policy<"PAIR_LDMATRIX"> {};
// Precision and cache regime. The last three gates of precision follow FAST_MATH unless pinned themselves.
struct FAST_MATH : policy<"FAST_MATH"> {};
struct FAST_EXP : policy<"FAST_EXP"> {};
struct F16_MMA_F32_ACC : policy<"F16_MMA_F32_ACC"> {};
struct FP8_MMA : policy<"FP8_MMA"> {};
struct COLD_CACHE : policy<"COLD_CACHE"> {};

/// Effective value of a precision gate: its own pin, else the FAST_MATH pin, else what an unpinned compile does.
constexpr bool effective_gate(std::optional<bool> own_pin, std::optional<bool> fast_math_pin, bool unpinned) {
    return own_pin ? *own_pin : fast_math_pin ? *fast_math_pin : unpinned;
}

}  // namespace emmy::knob
