#pragma once
#include <emmy/knob/family.hpp>

namespace emmy::knob {

/// Whether a transposed constant is folded into its reader's layout or read in its source layout.
enum class layout : std::uint8_t { folded, source };

/// LAYOUT = "folded" | "source". `folded` is never recorded.
struct LAYOUT {
    using value_type = layout;
    static constexpr std::string_view name = "LAYOUT";
    static constexpr scope where = scope::buffer;
    static constexpr role meaning = role::structural;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;

    static constexpr parsed<layout> parse(std::string_view text) {
        if (text == "folded") return layout::folded;
        if (text == "source") return layout::source;
        return refusal{name, text, "folded or source", 0};
    }
    static constexpr value_text spell(layout value) { return value_text(value == layout::source ? "source" : "folded"); }
};

}  // namespace emmy::knob
