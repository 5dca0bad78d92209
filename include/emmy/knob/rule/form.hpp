#pragma once
#include <emmy/knob/rule/rule.hpp>

namespace emmy::knob {

// The form of a row, whatever the target.

struct W1 {
    static constexpr std::string_view id = "W1", means = "A complete schedule row has WORK and RASTER, and a TILE or REDUCE where it has STAGE.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r) {
        const auto why = r.why_incomplete();
        if (!why) return fine;
        return {{}, why->place, {}, 0, 0, relation::words, value_text(why->found), why->expected, true};
    }
};
using form_rules = rules<W1>;

}  // namespace emmy::knob
