#pragma once
#include <emmy-compile/early_stages.hpp>

#include <common/cli.hpp>
#include <common/exit.hpp>

#include <emmy/evidence/compile.hpp>
#include <emmy/evidence/card_forks.hpp>
#include <emmy/evidence/cpu_forks.hpp>
#include <emmy/evidence/explain.hpp>

#include <map>

/// --explain and --expect: the report of every fork of a request, kernel sets included.
namespace emmy::compile {

/// What is compiled: the kernels that programs form, or the kernels named.
inline result<std::vector<evidence::subject>> subjects(const settings& asked, const tools::target& target, const std::optional<program::graph>& file_program, std::string& title) {
    std::vector<evidence::subject> out;
    std::vector<named_program> programs;
    if (asked.fresh) {
        EMMY_TRY(all, load_programs(asked, target.card, file_program));
        programs = std::move(all);
    }
    store::binding_list sizes;
    for (const std::string& text : asked.common.dynamic)
        if (const auto size = tools::parse_size(text)) sizes.emplace_back(size->first, size->second);
    for (const named_program& p : programs) {
        title = programs.size() == 1 ? p.name : std::to_string(programs.size()) + " programs";
        auto lowered = program::lower(p.graph);
        if (!lowered) return refuse(std::move(lowered).error().in_file(p.name));
        auto formed = loop::fuse(*lowered);
        if (!formed) return refuse(std::move(formed).error().in_file(p.name));
        for (loop::formed& f : *formed) out.push_back(evidence::make_subject(std::move(f.kernel), sizes));
    }
    if (!out.empty()) return out;
    EMMY_TRY(units, load_units(asked, target.card, file_program));
    title = units.size() == 1 ? units.front().name : std::to_string(units.size()) + " targets";
    for (tools::unit& u : units)
        for (const tools::subject& k : u.kernels) out.push_back(subject_of(k));
    return out;
}

/// Differences from a report written before; its fault names the file.
inline result<std::vector<std::string>> compare_with(const std::string& path, const std::string& now) {
    EMMY_TRY(bytes, read_file(path));
    EMMY_TRY(before, json::document::parse(bytes, path));
    EMMY_TRY(today, json::document::parse(now));
    auto out = evidence::differences(before.root(), today.root());
    if (!out) return refuse(std::move(out).error().in_file(path));
    return out;
}

/// Decides everything and reports it. Returns the exit code: 1 where strict evidence refuses or the expected report differs.
inline result<int> explain(const settings& asked, const tools::target& target, const std::optional<program::graph>& file_program, std::string& out) {
    constexpr std::string_view tool = "emmy-compile";
    evidence::explained about;
    EMMY_TRY(targets, subjects(asked, target, file_program, about.program));
    EMMY_TRY(env, environment::open(asked, target));
    if (!env.prior.refused.empty()) tools::note(tool, env.prior.refused);  // quiet or not
    if (!asked.common.quiet)
        for (const std::string& n : env.notes) tools::note(tool, n);
    EMMY_TRY(evidence_now, evidence::snapshot::open(*env.db, env.setting.context, env.labels, tools::producer()));
    std::unique_ptr<evidence::fork_source> forks;
    if (target.host) forks = std::make_unique<evidence::cpu_forks>(env.target);
    else forks = std::make_unique<evidence::card_forks>(knob::target_of({static_cast<std::uint16_t>(target.card.compute_major), static_cast<std::uint16_t>(target.card.compute_minor)}), &evidence_now);
    evidence::resolve_options options;
    options.strict = asked.strictness();
    options.strict_fails = false, options.pins = &env.pins, options.explain = true;
    if (target.host) options.prior = env.prior.hook();
    EMMY_TRY(decided, evidence::resolve(targets, &evidence_now, *forks, options));
    about.target = target.text(), about.lane = evidence::lane_text(env.setting.regime), about.producer = tools::producer(), about.decided = &decided;
    int code = tools::exit_fine;
    for (const std::string& why : decided.unmeasured) {
        tools::report(tool, fault(fault_kind::user, why));
        code = tools::exit_finding;
    }
    if (decided.unmeasured.empty() && !asked.common.quiet) {
        for (const std::uint32_t leaf : decided.leaves) {
            const evidence::resolved_kernel& k = decided.kernels[leaf];
            if (!k.schedule || (k.schedule->decided != evidence::tier::prior && k.schedule->decided != evidence::tier::first_option)) continue;
            tools::note(tool, "no measured row decides the schedule of " + k.what.name + ": " + (k.refused.empty() ? std::string(evidence::name(k.schedule->decided)) + " taken (emmy-bench run measures)" : k.refused));
        }
    }
    const std::string report = evidence::explain_json(about);
    std::vector<std::string> other;
    if (!asked.expect.empty()) {
        EMMY_TRY(lines, compare_with(asked.expect, report));
        other = std::move(lines);
        if (!other.empty()) code = tools::exit_finding;
    }
    if (!asked.explain) {
        for (const std::string& line : other) out += line + "\n";
        if (other.empty()) out = std::to_string(decided.decisions().size()) + " forks, answered as in " + asked.expect + "\n";
        return code;
    }
    for (const std::string& line : other) tools::note(tool, line);
    switch (asked.common.format) {
        case tools::format::json: out = report; break;
        case tools::format::html: out = evidence::explain_page(about); break;
        default:
            if (decided.unmeasured.empty()) out = evidence::explain_table(about);
    }
    const bool none = std::all_of(decided.leaves.begin(), decided.leaves.end(), [&](std::uint32_t leaf) { return !decided.kernels[leaf].refused.empty(); });
    return none && target.host ? tools::exit_device : code;
}

}  // namespace emmy::compile
