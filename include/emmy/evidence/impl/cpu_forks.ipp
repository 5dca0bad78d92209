#pragma once
#include <emmy/evidence/cpu_forks.hpp>

#include <emmy/evidence/stored_forks.hpp>
#include <emmy/fork/schedule.hpp>

#include <map>

namespace emmy::evidence {

struct cpu_forks::state {
    fork::cpu_target target;
    std::map<const loop::kernel*, std::pair<std::shared_ptr<const loop::kernel>, fork::cpu_schedules>> of;  // the body is kept: its address is the key
};

EMMY_DECL cpu_forks::cpu_forks(const fork::cpu_target& target) : state_(std::make_unique<state>()) { state_->target = target; }
EMMY_DECL cpu_forks::~cpu_forks() = default;

EMMY_DECL result<std::unique_ptr<option_space>> cpu_forks::schedules(const subject& leaf, const knob::pin_list& pins, std::span<const store::knob_list> blocked) {
    if (!leaf.body) return refuse(fault_kind::device_limit, "found no body of it, only its identity: it cannot be lowered", leaf.name);
    auto at = state_->of.find(leaf.body.get());
    if (at == state_->of.end()) {
        EMMY_TRY(made, fork::cpu_schedules::make(*leaf.body, state_->target));
        at = state_->of.emplace(leaf.body.get(), std::pair(leaf.body, std::move(made))).first;
    }
    EMMY_TRY(options, cpu_options::make(at->second.second, schedule_pins_of(pins, leaf), blocked));
    if (options.rows().empty()) return std::unique_ptr<option_space>();
    return std::unique_ptr<option_space>(std::make_unique<cpu_options>(std::move(options)));
}

EMMY_DECL const fork::cpu_schedules* cpu_forks::schedules_of(const subject& leaf) const {
    const auto at = state_->of.find(leaf.body.get());
    return at == state_->of.end() ? nullptr : &at->second.second;
}

}  // namespace emmy::evidence
