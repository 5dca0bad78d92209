#pragma once
#include <emmy-compile/settings.hpp>

#include <common/evidence.hpp>
#include <common/interpret.hpp>
#include <common/unit.hpp>

#include <emmy/device/answer.hpp>
#include <emmy/device/worker.hpp>
#include <emmy/evidence/cpu_forks.hpp>
#include <emmy/evidence/resolve.hpp>
#include <emmy/evidence/stored_forks.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/plan/decided.hpp>

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
    std::vector<evidence::record> sets;      ///< decisions that led to this kernel and were not told with an earlier one
    std::vector<fork::cpu_row> offered;      ///< rows that the pins leave, in the fork's order
    std::optional<fork::cpu_row> row;        ///< the chosen one
    tools::cell_list interpreted;
    std::string unmeasured;                  ///< --strict-evidence: why the schedule is refused

    /// Nothing measured and no pin decided although there was a choice.
    bool fell() const { return record && (record->decided == evidence::tier::prior || record->decided == evidence::tier::first_option); }
};

inline evidence::subject subject_of(const tools::subject& k) {
    evidence::subject out;
    out.name = k.kernel.name, out.node_id = k.kernel.node_id, out.identity = k.identity, out.bindings = k.bindings;
    out.body = std::make_shared<const loop::kernel>(k.kernel);
    return out;
}

/// What a decided kernel needs to be lowered: its schedules, its row.
inline result<compiled_kernel> decided_kernel(const environment& env, const evidence::cpu_forks& forks, const evidence::resolved_kernel& k, tools::subject what) {
    compiled_kernel out;
    out.what = std::move(what), out.refused = k.refused;
    if (!k.refused.empty() || !k.schedule) return out;
    if (const fork::cpu_schedules* known = forks.schedules_of(k.what)) {
        out.space = *known;
    } else {  // an equal kernel answered for it
        EMMY_TRY(space, fork::cpu_schedules::make(out.what.kernel, env.target));
        out.space = std::move(space);
    }
    EMMY_TRY(options, evidence::cpu_options::make(*out.space, evidence::schedule_pins_of(env.pins, k.what)));
    out.offered.assign(options.rows().begin(), options.rows().end());
    EMMY_TRY(row, out.space->row(k.schedule->chosen));
    out.row = row;
    out.record = *k.schedule;
    return out;
}

/// Decides every fork of a unit by one snapshot: kernel sets, then schedules. Its kernels become those that run.
inline result<std::vector<compiled_kernel>> compile_unit(const environment& env, const settings& asked, tools::unit& unit) {
    std::vector<evidence::subject> targets;
    for (const tools::subject& k : unit.kernels) targets.push_back(subject_of(k));
    EMMY_TRY(evidence_now, evidence::snapshot::open(*env.db, env.setting.context, env.labels, tools::producer()));
    evidence::cpu_forks forks(env.target);
    evidence::resolve_options options;
    options.strict = asked.strictness(), options.strict_fails = false, options.prior = env.prior.hook(), options.pins = &env.pins, options.explain = asked.explain;
    EMMY_TRY(decided, evidence::resolve(targets, &evidence_now, forks, options));
    std::vector<tools::subject> kernels;
    std::vector<compiled_kernel> out;
    EMMY_TRY(applied, plan::apply(std::move(unit.network), decided));
    unit.network = std::move(applied.network);
    std::vector<const evidence::record*> above;
    for (std::uint32_t place = 0, target = 0; place < decided.kernels.size(); ++place) {
        const evidence::resolved_kernel& k = decided.kernels[place];
        const bool root = k.parent == evidence::resolved_kernel::none;
        for (const evidence::record& r : k.forks) above.push_back(&r);
        if (k.children.empty()) {
            tools::subject what;
            if (root) {
                what = unit.kernels[target];
            } else {
                what.name = k.what.name, what.kernel = *k.what.body, what.identity = k.what.identity, what.bindings = k.what.bindings;
            }
            EMMY_TRY(one, decided_kernel(env, forks, k, what));
            if (k.schedule) above.push_back(&*k.schedule);
            for (const evidence::record* r : above) {
                if (std::string why = evidence::strict_refusal(*r, asked.strictness()); !why.empty()) one.unmeasured = r->kernel + " " + r->fork + ": " + why;
                if (r->fork != "schedule" && (asked.explain || !r->chosen.empty())) one.sets.push_back(*r);
            }
            above.clear();
            kernels.push_back(std::move(what));
            out.push_back(std::move(one));
        }
        target += root;
    }
    if (kernels.size() != unit.kernels.size() && unit.kernels.size() == 1 && !unit.traced) unit.whole = unit.kernels.front();
    unit.kernels = std::move(kernels);
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
