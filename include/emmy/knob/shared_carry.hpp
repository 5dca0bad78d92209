#pragma once
#include <emmy/knob/family.hpp>

namespace emmy::knob {

/// "1" = carried state lives in two padded shared buffers inside one launch; "0" = in global memory, one launch a step.
struct SHARED_CARRY {
    using value_type = bool;
    static constexpr std::string_view name = "SHARED_CARRY";
    static constexpr scope where = scope::kernel;
    static constexpr role meaning = role::schedule;
    static constexpr value_kind kind = value_kind::integer;
    static constexpr int version = 1;
    static constexpr bool off = false;
    static constexpr parsed<bool> parse(std::string_view text) {
        if (text == "0" || text == "1") return text == "1";
        return refusal{name, text, "0 or 1", 0};
    }
    static constexpr value_text spell(bool value) { return value_text(value ? "1" : "0"); }
};

}  // namespace emmy::knob
