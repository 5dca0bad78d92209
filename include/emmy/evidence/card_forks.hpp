#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/formed_forks.hpp>

namespace emmy::evidence {

/// What is known of a card without one: kernel sets as this compiler forms them, schedules as they were measured (a row that decides is an
/// option as it stands; there is no first option).
class card_forks : public formed_forks {
public:
    EMMY_DECL result<std::unique_ptr<option_space>> schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) override;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/card_forks.ipp>
#endif
