#pragma once
#include <emmy-bench/bench.hpp>

#include <common/unit.hpp>

/// Programs of several kernels: run whole, checked, and timed as one.
namespace emmy::bench {

struct program_result {
    std::string name;
    std::vector<std::string> kernels;          ///< in launch order
    std::string problem;                       ///< why it did not run
    std::string wrong, checked_by;             ///< wrong: empty when right
    std::optional<device::statistics> time;    ///< µs of all launches, one after another
    double sum_us = 0;                         ///< of its kernels, each measured alone; 0 where one is not measured
    std::uint64_t arena_bytes = 0, least_bytes = 0;
    bool finding() const { return !problem.empty() || !wrong.empty(); }
};

/// `done`: one result a kernel of the unit. Nothing is recorded: a decision is priced by its kernels' own rows.
inline result<program_result> bench_program(session& s, const tools::unit& what, std::span<const bench_result> done) {
    program_result out;
    out.name = what.name;
    std::vector<fork::cpu_schedules> schedules;
    std::vector<plan::choice> chosen;
    schedules.reserve(done.size());
    bool measured = true;
    for (const bench_result& r : done) {
        if (!r.refused.empty() || !r.second) {
            out.problem = r.what.kernel.name + ": " + (r.refused.empty() ? "found no pick" : r.refused);
            return out;
        }
        EMMY_TRY(space, fork::cpu_schedules::make(r.what.kernel, s.target));
        schedules.push_back(std::move(space));
        EMMY_TRY(row, schedules.back().row(r.second->chosen));
        chosen.push_back({&schedules.back(), row});
        measured = measured && r.second->by.has_value();
        out.sum_us += r.second->by ? r.second->by->us : 0;
    }
    if (!measured) out.sum_us = 0;
    EMMY_TRY(planned, plan::executable::make(what.network, s.target, chosen));
    for (const plan::launch& l : planned.launches()) out.kernels.push_back(planned.source().nodes[l.node].kernel->name);
    const tools::unit_run_options how{s.asked.common.seed + 1, s.base.team, s.base.regime.fast_math, s.base.regime.opt};
    EMMY_TRY(run, tools::run_unit(s.worker, what, planned, how));
    out.wrong = std::move(run.wrong), out.checked_by = std::move(run.reference);
    out.arena_bytes = run.at.arena_bytes, out.least_bytes = run.at.least_bytes;
    if (!out.wrong.empty()) return out;
    device::measure_request request;
    request.sequences = {plan::sequence_of(planned, run.at, how.fast_math, how.optimisation)};
    request.effort.budget_seconds = s.asked.seconds, request.effort.cold = s.base.regime.cold, request.effort.least_samples = static_cast<int>(s.asked.least_samples);
    EMMY_TRY(times, s.worker.measure(request, run.arena));
    out.time = times.kernels.back();
    return out;
}

}  // namespace emmy::bench
