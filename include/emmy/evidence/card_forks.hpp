#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/formed_forks.hpp>
#include <emmy/knob/target.hpp>

#include <optional>

namespace emmy::evidence {

class snapshot;

/// What is known of a card, with or without one: kernel sets as this compiler forms them, the rows that its target allows. A kernel whose
/// rows cannot be enumerated (its body does not lift, only its identity is known) has those that were measured, as they stand.
class card_forks : public formed_forks {
public:
    /// Without a target every measured row is an option.
    card_forks() = default;
    /// `evidence`, where given, outlives it: a kernel whose body leaves no choice here is read as the store spells it (its equal by identity).
    explicit card_forks(const knob::target& target, const snapshot* evidence = nullptr) : target_(target), evidence_(evidence) {}
    EMMY_DECL result<std::unique_ptr<option_space>> schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) override;

private:
    std::optional<knob::target> target_;
    const snapshot* evidence_ = nullptr;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/card_forks.ipp>
#endif
