#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/evidence/formed_forks.hpp>
#include <emmy/fork/target.hpp>

#include <memory>

namespace emmy::evidence {

/// What this processor can do with a kernel. Keeps the schedules of every kernel it was asked about: options and plans point into them.
class cpu_forks : public formed_forks {
public:
    EMMY_DECL explicit cpu_forks(const fork::cpu_target& target);
    EMMY_DECL ~cpu_forks() override;

    EMMY_DECL result<std::unique_ptr<option_space>> schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) override;

    /// Schedules of a kernel that schedules() was asked about, or null. Of equal kernels each has its own: they differ in names.
    EMMY_DECL const fork::cpu_schedules* schedules_of(const subject& leaf) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/cpu_forks.ipp>
#endif
