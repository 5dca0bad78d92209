#pragma once
#include <emmy/prior/impl/cpu_forms.ipp>

namespace emmy::prior {

struct cpu_estimate::state {
    const fork::cpu_schedules* schedules = nullptr;
    cpu_machine machine;
    cpu_terms terms;
    std::vector<detail::part_time> parts;  // one, or the steps of the staged form
};

EMMY_DECL cpu_estimate::cpu_estimate(const fork::cpu_schedules& schedules, const cpu_machine& machine, const cpu_terms& terms, const store::binding_list& sizes) {
    auto made = std::make_shared<state>();
    made->schedules = &schedules;
    made->machine = machine, made->terms = terms;
    if (schedules.facts().form != fork::cpu_form::staged) made->parts.emplace_back(schedules.whole(), made->machine, made->terms, sizes);
    else
        for (const fork::cpu_part& part : schedules.stages().parts) made->parts.emplace_back(part, made->machine, made->terms, sizes);
    state_ = std::move(made);
}

EMMY_DECL double cpu_estimate::us(const fork::cpu_row& row) const {
    const cpu_machine& m = state_->machine;
    const cpu_terms& t = state_->terms;
    double cycles = 0, us = t.launch_us + t.member_us * (m.team - 1);
    if (state_->schedules->facts().form != fork::cpu_form::staged) {
        cycles = state_->parts.front().cycles(row);
    } else {
        std::uint32_t levels = 0;
        for (std::size_t i = 0; i < state_->parts.size(); ++i) {
            cycles += state_->parts[i].cycles(state_->schedules->part_row(i, row));
            levels = std::max(levels, state_->schedules->stages().levels[i]);
        }
        if (m.team > 1) us += t.barrier_us * levels;
    }
    return us + cycles / m.cycles_per_us;
}

EMMY_DECL double cpu_estimate::least_us() const {
    double least = -1;
    for (const fork::cpu_row& row : state_->schedules->rows())
        if (const double x = us(row); least < 0 || x < least) least = x;
    return least;
}

}  // namespace emmy::prior
