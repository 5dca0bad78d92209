#pragma once
#include <emmy/evidence/card_forks.hpp>

#include <emmy/evidence/stored_forks.hpp>

namespace emmy::evidence {

EMMY_DECL result<std::unique_ptr<option_space>> card_forks::schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) {
    return std::unique_ptr<option_space>(std::make_unique<stored_options>(schedule_pins_of(pins, leaf), blocked));
}

}  // namespace emmy::evidence
