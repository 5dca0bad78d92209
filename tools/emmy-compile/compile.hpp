#pragma once
#include <emmy-compile/settings.hpp>

#include <common/evidence.hpp>
#include <common/interpret.hpp>
#include <common/unit.hpp>

#include <emmy/device/answer.hpp>
#include <emmy/device/worker.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>

#include <optional>
#include <string>
#include <vector>

namespace emmy::compile {

/// What a compile knows about evidence: the store, the files in scope, the setting.
struct environment {
    tools::setting setting;
    knob::pin_list pins;
    fork::cpu_target target;
    std::optional<store::environment> db;
    tools::prior_in_use prior;
    std::vector<std::string> labels;  ///< golden sources in scope
    std::vector<std::string> notes;

    /// Reads the pins, opens the tuning store and imports goldens in scope that it has not seen. Errors: pins, store, a bad golden.
    static result<environment> open(const settings& asked, const tools::target& target) {
        environment out;
        EMMY_TRY(pins, tools::live_pins(asked.common.pin));
        out.pins = std::move(pins);
        EMMY_TRY(setting, tools::make_setting(asked.flags, {&out.pins}, target.card));
        out.setting = std::move(setting);
        out.target = tools::host_target();
        EMMY_TRY(evidence, tools::open_evidence(asked.common, target.card, tools::store_use::decide));
        out.db = std::move(evidence.db), out.labels = std::move(evidence.scope.labels), out.notes = std::move(evidence.notes);
        EMMY_TRY(prior, tools::open_prior(asked.prior, out.target, target.card.name, out.setting.team, &*out.db));
        out.prior = std::move(prior);
        return out;
    }
};

/// One kernel with its schedule decided.
struct compiled_kernel {
    tools::subject what;
    std::string refused;                     ///< no lowering on this target
    std::optional<fork::cpu_schedules> space;
    std::optional<evidence::record> record;
    std::vector<fork::cpu_row> offered;      ///< rows that the pins leave, in the fork's order
    std::optional<fork::cpu_row> row;        ///< the chosen one
    tools::cell_list interpreted;
    std::string unmeasured;                  ///< --strict-evidence: why the schedule is refused

    /// Nothing measured and no pin decided although there was a choice.
    bool fell() const { return record && (record->decided == evidence::tier::prior || record->decided == evidence::tier::first_option); }
};

/// Lifts, enumerates, picks. A kernel without a lowering is no error: `refused` says why.
inline result<compiled_kernel> compile_kernel(const environment& env, const settings& asked, tools::subject what) {
    compiled_kernel out;
    out.what = std::move(what);
    auto space = fork::cpu_schedules::make(out.what.kernel, env.target);
    if (!space) {
        if (space.error().kind() != fault_kind::device_limit) return refuse(space.error());
        out.refused = space.error().line();
        return out;
    }
    out.space = std::move(*space);
    EMMY_TRY(options, evidence::cpu_options::make(*out.space, tools::schedule_pins(env.pins, out.what.kernel.name)));
    EMMY_TRY(evidence_now, evidence::snapshot::open(*env.db, env.setting.context, env.labels, tools::producer()));
    evidence::schedule_fork fork;
    fork.kernel = out.what.kernel.name, fork.identity = out.what.identity, fork.bindings = out.what.bindings;
    fork.options = &options;
    const auto strictness = asked.own_only ? evidence::strictness::own_only : asked.strict ? evidence::strictness::measured : evidence::strictness::off;
    auto picked = evidence::pick_schedule(&evidence_now, fork, strictness, env.prior.hook());
    if (!picked && strictness != evidence::strictness::off) {
        EMMY_TRY(anyway, evidence::pick_schedule(&evidence_now, fork, evidence::strictness::off, env.prior.hook()));  // the record is still shown
        out.unmeasured = picked.error().line();
        picked = std::move(anyway);
    }
    if (!picked) return refuse(picked.error());
    evidence::record& record = *picked;
    if (asked.explain) record.options = options.size();
    out.offered.assign(options.rows().begin(), options.rows().end());
    EMMY_TRY(row, out.space->row(record.chosen));
    out.row = row;
    out.record = std::move(record);
    return out;
}

/// What one request compiled: kernels with their picks, and the plan that runs them.
struct compiled_unit {
    tools::unit what;
    std::vector<compiled_kernel> kernels;    ///< one a node of the network
    std::optional<plan::executable> plan;    ///< where asked for; none without a lowering of every kernel
    std::string ran;                         ///< --run: what came of it
    bool wrong = false;                      ///< --run: the answer was not right

    /// The first kernel without a lowering.
    const compiled_kernel* refused() const {
        for (const compiled_kernel& k : kernels)
            if (!k.refused.empty()) return &k;
        return nullptr;
    }
};

inline result<void> make_plan(const environment& env, compiled_unit& unit) {
    std::vector<plan::choice> chosen;
    for (const compiled_kernel& k : unit.kernels) chosen.push_back({k.space ? &*k.space : nullptr, k.row});
    EMMY_TRY(made, plan::executable::make(unit.what.network, env.target, chosen));
    unit.plan = std::move(made);
    return {};
}

/// Executes the picks once in a process that can be killed and checks the answer; measures nothing.
inline result<void> run_once(const environment& env, const settings& asked, device::worker_device& worker, compiled_unit& unit) {
    EMMY_TRY(run, tools::run_unit(worker, unit.what, *unit.plan, {asked.common.seed + 1, env.setting.team, env.setting.regime.fast_math, env.setting.regime.opt}));
    unit.wrong = !run.wrong.empty();
    unit.ran = (unit.wrong ? "wrong answer: " + run.wrong : "right answer") + " (" + run.reference + ")";
    return {};
}

}  // namespace emmy::compile
