#pragma once
#include <emmy/knob/family.hpp>

namespace emmy::knob {

/// Whether a seam of a kernel becomes a boundary between kernels.
enum class place : std::uint8_t { fuse, cut };

/// PLACE = "fuse" | "cut". `fuse` is what every seam does that no row names; it is a pin, never recorded.
struct PLACE {
    using value_type = place;
    static constexpr std::string_view name = "PLACE";
    static constexpr scope where = scope::edge;
    static constexpr role meaning = role::structural;
    static constexpr value_kind kind = value_kind::text;
    static constexpr int version = 1;

    static constexpr parsed<place> parse(std::string_view text) {
        if (text == "fuse") return place::fuse;
        if (text == "cut") return place::cut;
        return refusal{name, text, "fuse or cut", 0};
    }
    static constexpr value_text spell(place value) { return value_text(value == place::cut ? "cut" : "fuse"); }
};

}  // namespace emmy::knob
