#pragma once
#include <emmy/kernel/impl/plans.ipp>
#include <emmy/kernel/print_cpu.hpp>
#include <emmy/kernel/text.hpp>

namespace emmy::kernel {

EMMY_DECL result<program> lower_program(const fork::cpu_schedules& schedules, const fork::cpu_row& row) {
    EMMY_CHECK_OK(schedules.check(row));
    if (schedules.facts().form == fork::cpu_form::contraction && row.tile.form == knob::tile_form::scalar) {
        detail::contraction_plan plan(schedules, row);
        plan.build();
        return std::move(plan.result());
    }
    detail::grid_plan plan(schedules, row);
    plan.build();
    return std::move(plan.result());
}

EMMY_DECL result<cpu_text> lower_cpu(const fork::cpu_schedules& schedules, const fork::cpu_row& row) {
    EMMY_TRY(made, lower_program(schedules, row));
    printed p = print_cpu(made);
    cpu_text out;
    out.source = std::move(p.source);
    out.entry = made.entry;
    out.symbols = made.symbols;
    out.scratch_shared_bytes = p.shared_bytes;
    out.scratch_part_bytes = p.part_bytes;
    out.uses_barrier = made.uses_barrier;
    return out;
}

EMMY_DECL result<cpu_text> lower_cpu(const loop::kernel& k, const fork::cpu_row& row, const fork::cpu_target& target) {
    EMMY_TRY(schedules, fork::cpu_schedules::make(k, target));
    return lower_cpu(schedules, row);
}

}  // namespace emmy::kernel
