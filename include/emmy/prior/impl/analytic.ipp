#pragma once
#include <emmy/prior/analytic.hpp>

#include <emmy/evidence/cpu_options.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/prior/cpu.hpp>

namespace emmy::prior {

EMMY_DECL std::optional<evidence::predicted> analytic::best(const evidence::schedule_fork& fork) const {
    const evidence::cpu_options* options = fork.options ? fork.options->as_cpu() : nullptr;
    if (!options || options->rows().empty()) return {};
    const fork::cpu_schedules& schedules = options->schedules();
    if (schedules.facts().form == fork::cpu_form::ordered) return {};  // no tree to estimate by
    const cpu_estimate estimate(schedules, machine_, model_.cpu, fork.bindings);
    std::optional<evidence::predicted> out;
    for (const fork::cpu_row& row : options->rows()) {
        const double us = estimate.us(row);
        if (out && us > out->us) continue;
        store::knob_list spelled = schedules.pairs(row);
        if (!out || us < out->us || spelled < out->row) out = evidence::predicted{std::move(spelled), us};
    }
    return out;
}

EMMY_DECL std::optional<double> analytic::kernel_us(const loop::kernel& k, const store::binding_list& sizes) const {
    const auto schedules = fork::cpu_schedules::make(k, machine_.target);
    if (!schedules || schedules->facts().form == fork::cpu_form::ordered) return {};
    return cpu_estimate(*schedules, machine_, model_.cpu, sizes).least_us();
}

}  // namespace emmy::prior
