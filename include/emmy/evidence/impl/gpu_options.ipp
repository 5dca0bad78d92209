#pragma once
#include <emmy/evidence/gpu_options.hpp>

namespace emmy::evidence {

EMMY_DECL result<gpu_options> gpu_options::make(const fork::gpu_schedules& schedules, const store::knob_list& pins) {
    if (pins.empty()) return gpu_options(schedules, false);
    knob::pin_list list;
    for (const auto& [key, value] : pins) {
        EMMY_TRY(one, knob::parse_pin(key, value));
        EMMY_CHECK_OK(list.add(std::move(one)));
    }
    return make(schedules, list, {});
}
EMMY_DECL result<gpu_options> gpu_options::make(const fork::gpu_schedules& schedules, const knob::pin_list& pins, std::string_view kernel_name, std::string_view node_id) {
    const knob::schedule_row reached = pins.schedule_for(kernel_name, node_id);
    if (reached.empty()) return gpu_options(schedules, false);
    return narrowed(schedules, reached);
}
EMMY_DECL result<gpu_options> gpu_options::narrowed(const fork::gpu_schedules& schedules, const knob::schedule_row& pins) {
    auto left = schedules.pinned(pins);
    if (left) return gpu_options(std::move(*left), true);
    // Named whole, a legal row need not be offered.
    if (auto row = schedules.row(schedules.pairs(pins))) {
        const store::knob_list texts = schedules.pairs(*row);
        if (pins.size() >= texts.size()) {
            gpu_options out(schedules, true);
            out.only_ = texts;
            return out;
        }
    }
    return emmy::refuse(std::move(left.error()));
}

EMMY_DECL std::optional<store::knob_list> gpu_options::option_for(const store::knob_list& measured) const {
    if (only_) {
        const auto row = schedules_.row(measured);
        if (row && schedules_.pairs(*row) == *only_) return only_;
        return std::nullopt;
    }
    const auto row = schedules_.option_for(measured);
    if (!row) return std::nullopt;
    return schedules_.pairs(*row);
}
EMMY_DECL result<store::knob_list> gpu_options::first() const {
    if (only_) return *only_;
    EMMY_TRY(row, schedules_.first());
    return schedules_.pairs(row);
}
EMMY_DECL bool gpu_options::single() const { return only_ || schedules_.single(); }
EMMY_DECL std::optional<std::uint64_t> gpu_options::size() const {
    if (only_) return 1;
    return schedules_.size();
}

}  // namespace emmy::evidence
