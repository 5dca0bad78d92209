#pragma once
#include <emmy-compile/settings.hpp>

#include <common/evidence.hpp>
#include <common/interpret.hpp>

#include <emmy/device/answer.hpp>
#include <emmy/device/worker.hpp>
#include <emmy/evidence/cpu_options.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/program/evaluate.hpp>

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
    std::string ran;                         ///< --run: what came of it
    bool wrong = false;                      ///< --run: the answer was not right
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
    auto picked = evidence::pick_schedule(&evidence_now, fork, strictness);
    if (!picked && strictness != evidence::strictness::off) {
        EMMY_TRY(anyway, evidence::pick_schedule(&evidence_now, fork));  // the record is still shown
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

/// Executes the pick once in a process that can be killed and checks the answer; measures nothing.
inline result<void> run_once(const environment& env, const settings& asked, device::worker_device& worker, compiled_kernel& k) {
    EMMY_TRY(text, kernel::lower_cpu(*k.space, *k.row));
    device::answer_options options;
    options.seed = asked.common.seed + 1, options.fast_math = env.setting.regime.fast_math;
    EMMY_TRY(answer, device::answer::prepare(k.what.kernel, k.what.sizes(), k.what.program ? &*k.what.program : nullptr, k.what.ports, options));
    EMMY_TRY(arena, answer.arena());
    device::kernel_text source;
    source.entry = text.entry, source.source = std::move(text.source);
    source.scratch_bytes = text.scratch_bytes(env.setting.team, k.what.launch_sizes(text.symbols));
    source.fast_math = env.setting.regime.fast_math, source.optimisation = env.setting.regime.opt;
    EMMY_CHECK_OK(worker.run(source, arena, {k.what.launch_sizes(text.symbols), env.setting.team}));
    const std::string wrong = answer.check(arena);
    k.wrong = !wrong.empty();
    k.ran = (k.wrong ? "wrong answer: " + wrong : "right answer") + " (" + answer.reference() + ")";
    return {};
}

}  // namespace emmy::compile
