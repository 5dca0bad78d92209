#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/prior/machine.hpp>
#include <emmy/prior/model.hpp>

namespace emmy::prior {

/// The analytical prior of a processor: answers schedule forks whose options are rows of the CPU device, and says what a kernel takes
/// under its best predicted row, which makes the cost of a structural arm.
class analytic : public evidence::prior_hook {
public:
    explicit analytic(cpu_machine machine, model numbers = {}) : machine_(std::move(machine)), model_(std::move(numbers)) {}

    std::string stamp() const override { return model_.stamp(); }
    EMMY_DECL std::optional<evidence::predicted> best(const evidence::schedule_fork& fork) const override;
    /// Nothing for a kernel without a CPU lowering.
    EMMY_DECL std::optional<double> kernel_us(const loop::kernel& k, const store::binding_list& sizes) const override;

    const cpu_machine& machine() const { return machine_; }
    const model& numbers() const { return model_; }

private:
    cpu_machine machine_;
    model model_;
};

}  // namespace emmy::prior

#ifdef EMMY_HEADER_ONLY
#include <emmy/prior/impl/analytic.ipp>
#endif
