#include <emmy-compile/diff.hpp>
#include <emmy-compile/early_stages.hpp>
#include <emmy-compile/kernel_set.hpp>

#include <common/cli.hpp>
#include <common/dump.hpp>
#include <common/exit.hpp>
#include <common/output.hpp>

#include <algorithm>

using namespace emmy;

namespace {

constexpr std::string_view tool = "emmy-compile";

/// One decided kernel: its text of a stage. `code`: what the tool will exit with.
result<compile::compiled_kernel> late_stage(const compile::settings& asked, compile::compiled_kernel k, compile::stage_texts& stages, int& code) {
    const bool json = asked.common.format == tools::format::json;
    if (asked.interpret) {
        std::vector<std::string> notes;
        EMMY_TRY(cells, tools::interpret_cells(k.what, asked.common.seed, notes));
        if (cells.empty()) return refuse(fault_kind::user, "found cells of more than 10^8 evaluations, expected cheaper ones to interpret", k.what.kernel.name);
        k.interpreted = std::move(cells);
    }
    if (!k.unmeasured.empty()) {
        tools::report(tool, fault(fault_kind::user, k.unmeasured));
        code = tools::exit_finding;
        return k;
    }
    if (k.fell() && !asked.common.quiet && asked.stage.empty())
        tools::note(tool, "no measured row decides the schedule of " + k.what.kernel.name + ": " + std::string(evidence::name(k.record->decided)) + " taken (emmy-bench run measures)");
    if (!k.refused.empty() && !asked.stage.empty()) return refuse(fault_kind::device_limit, k.refused, k.what.kernel.name);
    if (asked.stage == "fork") {
        json ? stages.add_wire(k.what.kernel.name, compile::fork_stage(k, json)) : stages.add(k.what.kernel.name, compile::fork_stage(k, json));
    } else if (asked.stage == "kernel") {
        EMMY_TRY(ir, kernel::lower_program(*k.space, *k.row));
        stages.add(k.what.kernel.name, compile::kernel_listing(ir, k.space->kernel()).text());
    } else if ((asked.stage == "text" || !asked.common.dump.empty()) && k.row) {
        EMMY_TRY(text, kernel::lower_cpu(*k.space, *k.row));
        if (asked.stage == "text") stages.add(k.what.kernel.name, text.source);
        if (!asked.common.dump.empty()) EMMY_CHECK_OK(tools::dump_kernel(asked.common.dump, k.what, {{"row0.cpp", "// pick: " + evidence::knobs_text(k.record->chosen) + "\n" + text.source}}));
    }
    return k;
}

/// Stages and reports behind the pick. Returns the exit code.
result<int> late_stages(const compile::settings& asked, const tools::target& target, const std::optional<program::graph>& file_program, std::string& out) {
    const bool json = asked.common.format == tools::format::json;
    EMMY_TRY(units, compile::load_units(asked, target.card, file_program));
    EMMY_TRY(env, compile::environment::open(asked, target));
    if (!env.prior.refused.empty()) tools::note(tool, env.prior.refused);  // quiet or not
    if (!asked.common.quiet)
        for (const std::string& n : env.notes) tools::note(tool, n);
    device::worker_device worker;
    std::vector<compile::compiled_unit> done;
    int code = tools::exit_fine;
    std::size_t without = 0, all = 0;
    compile::stage_texts stages(asked);
    for (tools::unit& what : units) {
        compile::compiled_unit unit{std::move(what), {}, {}, {}};
        for (const tools::subject& one : unit.what.kernels)
            if (!one.note.empty() && !asked.common.quiet) tools::note(tool, one.note);
        EMMY_TRY(decided, compile::compile_unit(env, asked, unit.what));
        for (compile::compiled_kernel& one : decided) {
            EMMY_TRY(k, late_stage(asked, std::move(one), stages, code));
            ++all, without += !k.refused.empty();
            unit.kernels.push_back(std::move(k));
        }
        if (const compile::compiled_kernel* refused = unit.refused()) {
            if (asked.stage == "plan") return refuse(fault_kind::device_limit, refused->refused, refused->what.kernel.name);
        } else if (asked.stage == "plan" || asked.run) {
            EMMY_CHECK_OK(compile::make_plan(env, unit));
            if (asked.run) EMMY_CHECK_OK(compile::run_once(env, asked, worker, unit));
            if (unit.wrong) code = tools::exit_finding;
            if (asked.stage == "plan") {
                EMMY_TRY(text, compile::plan_stage(env, unit, json));
                json ? stages.add_wire(unit.what.name, std::move(text)) : stages.add(unit.what.name, std::move(text));
            }
        }
        done.push_back(std::move(unit));
    }
    if (asked.stage.empty()) {
        if (json) out = compile::machines(done, target, env);
        else for (const auto& u : done) out += compile::people(u, asked);
    } else if (code == tools::exit_fine) {
        out = stages.render();
    }
    const bool answered = std::any_of(done.begin(), done.end(), [](const auto& u) { return std::any_of(u.kernels.begin(), u.kernels.end(), [](const auto& k) { return !k.interpreted.empty(); }); });
    if (all && without == all && !answered) code = tools::exit_device;
    return code;
}

result<int> compile_all(compile::settings asked, std::string& out) {
    std::optional<program::graph> file_program;
    if (!asked.input.empty()) {
        if (!asked.common.op.empty() || !asked.common.golden.empty()) return refuse(fault_kind::user, "found a file beside --op or --golden, expected one of them", asked.input);
        EMMY_TRY(graph, compile::read_program_file(asked.input));
        if (!graph) asked.common.golden = asked.input;
        file_program = std::move(graph);
    }
    if (file_program && !asked.common.realization.empty()) return refuse(fault_kind::user, "found --realization beside a program file, expected a golden file", "--realization");
    EMMY_TRY(target, compile::choose_target(asked));
    if (compile::is_early(asked.stage)) {
        EMMY_TRY(text, compile::early_stage(asked, target, file_program));
        out = std::move(text);
        return tools::exit_fine;
    }
    const bool executes = asked.run || asked.interpret || !asked.common.dump.empty();
    if ((asked.explain || !asked.expect.empty()) && !executes) return compile::explain(asked, target, file_program, out);
    EMMY_CHECK_OK(tools::need_host(target));
    return late_stages(asked, target, file_program, out);
}

}  // namespace

int main(int argc, char** argv) {
    if (const int served = device::serve_if_worker(argc, argv); served >= 0) return served;
    compile::settings asked;
    tools::cli line(std::string(tool), "Compiles a program's kernels, decides every schedule by the best evidence, and says what decided.");
    tools::verb& v = line.self();
    v.positional("FILE", asked.input, "A traced program, or a golden file", false)
        .common(tools::takes::db | tools::takes::device | tools::takes::input | tools::takes::pin | tools::takes::output | tools::takes::page | tools::takes::dump | tools::takes::progress | tools::takes::seed, asked.common)
        .choice("--stage", asked.stage, compile::stages, "Show the kernels at this stage instead of the pick: program, primitive, loop, fold, fork, kernel, text or plan")
        .flag("--fresh", asked.fresh, "With --stage loop, --explain, --expect: the kernels that the programs form today, not the stored ones")
        .pair("--diff", asked.diff, "Say where the normal forms of two kernels part (exit 1), or that they are one: each an operator, a program, a kernel of --stage loop --json, or GOLDEN:KERNEL")
        .option("--target", asked.target, "Compile for a card (name, alias, file slug) or a bare sm_NN; default: this processor, or the card of --golden")
        .flag("--explain", asked.explain, "The whole report of each decision, of kernel sets too; --format html: one page")
        .option("--expect", asked.expect, "A report of --explain --format json: exit 1 where a fork is answered by another tier, row or arm")
        .flag("--strict-evidence", asked.strict, "Refuse (exit 1) a schedule that no measured row or pin decides")
        .flag("--own-only", asked.own_only, "With --strict-evidence: rows of other producers decide nothing")
        .flag("--run", asked.run, "Execute the picks once and check the answer; nothing is measured")
        .option("--weights", asked.weights, "With --run: weights of the program by path, from an archive (.pt2) or a safetensors file, index or directory; default seeded ones")
        .flag("--interpret", asked.interpret, "Interpret some cells of each kernel; needs no lowering")
        .flag("--fast-math", asked.flags.fast_math, "Relaxed floating point: another lane, with evidence of its own")
        .flag("--cold", asked.flags.cold, "Decide by rows measured with cold caches")
        .option("--opt", asked.flags.opt, "Level of the host compiler, 0 to 3 (default 3)")
        .example("emmy-compile --op 'softmax(x: f32[512,2048], dim=-1)' --explain", "what decides the schedule of a softmax")
        .example("emmy-compile layer.json --explain --format html --out report.html", "every fork of a layer as one page")
        .example("emmy-compile --realization matmul.square.512 --stage text", "the C++ of the picked row")
        .example("emmy-compile layer.json --stage plan", "launches, buffers and workspaces of a program of several kernels")
        .example("emmy-compile --diff 'softmax(x: f32[8,64])' 'softmax(x: f16[8,64])'", "the first node that differs")
        .example("emmy-compile --realization rms_norm.k4096 --pin WORK=t4 --run", "one pinned row, executed once and checked");
    asked.prior.add_to(v);
    if (const auto code = line.parse(argc, argv)) return *code;
    if (asked.own_only && !asked.strict) return tools::report(tool, fault(fault_kind::user, "found it without --strict-evidence, expected both", "--own-only"));
    if (!asked.stage.empty() && asked.explain) return tools::report(tool, fault(fault_kind::user, "found --explain beside --stage, expected one of them", "--explain"));
    if (!asked.stage.empty() && (asked.common.format == tools::format::csv || asked.common.format == tools::format::md))
        return tools::report(tool, fault(fault_kind::user, "found csv or md beside --stage, expected table or json", "--format"));
    if (!asked.weights.empty() && !asked.run) return tools::report(tool, fault(fault_kind::user, "found it without --run, expected both", "--weights"));
    if (asked.run && !asked.stage.empty()) return tools::report(tool, fault(fault_kind::user, "found --run beside --stage, expected one of them", "--run"));
    if (asked.fresh && asked.stage != "loop" && !asked.explain && asked.expect.empty()) return tools::report(tool, fault(fault_kind::user, "found it without --stage loop, --explain or --expect, expected one of them", "--fresh"));
    if (!asked.expect.empty() && (!asked.stage.empty() || asked.run || asked.interpret || !asked.common.dump.empty()))
        return tools::report(tool, fault(fault_kind::user, "found it beside --stage, --run, --interpret or --dump, expected none of them", "--expect"));
    if (asked.common.format == tools::format::html && (!asked.explain || asked.run || asked.interpret || !asked.common.dump.empty()))
        return tools::report(tool, fault(fault_kind::user, "found html without --explain or beside --run, --interpret or --dump, expected --explain alone", "--format"));
    std::string out;
    if (!asked.diff.empty() && (!asked.stage.empty() || !asked.input.empty() || !asked.common.op.empty() || !asked.common.golden.empty() || !asked.common.realization.empty()))
        return tools::report(tool, fault(fault_kind::user, "found it beside other inputs or --stage, expected it alone", "--diff"));
    const auto code = asked.diff.empty() ? compile_all(asked, out) : compile::diff(asked.diff, asked.common.format == tools::format::json, out);
    if (!code) return tools::report(tool, code.error());
    if (auto written = tools::emit(asked.common, out); !written) return tools::report(tool, written.error());
    return *code;
}
