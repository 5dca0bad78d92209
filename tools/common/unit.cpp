#include <common/cli.hpp>
#include <common/unit.hpp>

#include <emmy/core/file.hpp>
#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/wire.hpp>

#include <algorithm>

namespace emmy::tools {

std::vector<loop::symbol_size> unit::sizes() const {
    std::vector<loop::symbol_size> out;
    for (const subject& k : kernels)
        for (const loop::symbol_size& s : k.sizes())
            if (std::none_of(out.begin(), out.end(), [&](const loop::symbol_size& have) { return have.symbol == s.symbol; })) out.push_back(s);
    return out;
}

unit unit_of(subject one) {
    unit out;
    out.name = one.name;
    out.network = plan::network::of(one.kernel);
    out.kernels.push_back(std::move(one));
    return out;
}

result<unit> unit_of_program(std::string name, program::graph graph, const common_options& options) {
    if (loop::lower_single_op(graph)) {
        EMMY_TRY(one, subject_of_program(std::move(name), std::move(graph), options));
        return unit_of(std::move(one));
    }
    EMMY_TRY(lowered, program::lower(graph));
    EMMY_TRY(formed, loop::fuse(lowered));
    unit out;
    out.name = std::move(name);
    out.network = plan::network::of(lowered, formed);
    for (const loop::formed& f : formed) {
        EMMY_TRY(one, subject_of_kernel(formed.size() == 1 ? out.name : out.name + " " + f.kernel.name, f.kernel, options));
        out.kernels.push_back(std::move(one));
    }
    const auto sizes = out.sizes();
    for (const std::string& text : options.dynamic) {
        const auto asked = parse_size(text);
        if (!asked || std::any_of(sizes.begin(), sizes.end(), [&](const loop::symbol_size& s) { return s.symbol == asked->first; })) continue;
        std::string have;
        for (const loop::symbol_size& s : sizes) have += (have.empty() ? "" : ", ") + s.symbol;
        return refuse(fault_kind::user, "found a size for \"" + asked->first + "\", expected one of the symbols of " + out.name + ": " + (have.empty() ? "it has none" : have), "--dynamic");
    }
    out.traced = std::move(graph), out.lowered = std::move(lowered);
    return out;
}

result<std::vector<unit>> load_units(const common_options& options, const golden::card_id& card) {
    std::vector<unit> out;
    if (!options.op.empty() && options.golden.empty() && options.realization.empty()) {
        EMMY_TRY(graph, program::parse_op(options.op));
        EMMY_TRY(one, unit_of_program(options.op, std::move(graph), options));
        out.push_back(std::move(one));
        return out;
    }
    EMMY_TRY(subjects, load_subjects(options, card));
    for (subject& s : subjects) out.push_back(unit_of(std::move(s)));
    return out;
}

result<std::optional<program::graph>> read_program_file(const std::string& path) {
    EMMY_TRY(bytes, read_file(path));
    auto document = json::document::parse(bytes, path);
    if (!document) return refuse(document.error());
    if (document->root().find("compute_cap")) return std::optional<program::graph>();
    auto graph = program::read_program(document->root());
    if (!graph) return refuse(std::move(graph).error().in_file(path));
    return std::optional(std::move(*graph));
}

result<unit_run> run_unit(device::worker_device& worker, const unit& what, const plan::executable& plan, const unit_run_options& how) {
    unit_run out;
    EMMY_TRY(at, plan::bind(plan, what.sizes(), how.team));
    plan::check_options options;
    options.seed = how.seed, options.fast_math = how.fast_math, options.optimisation = how.optimisation;
    if (what.lowered) {
        std::vector<std::vector<double>> wanted;
        std::vector<program::named_bytes> known;
        for (const auto& [id, bytes] : what.given) known.push_back({id, bytes});
        EMMY_TRY(given, plan::program_bytes(*what.traced, *what.lowered, plan, at, how.seed, &wanted, 3e8, known));
        EMMY_TRY(verdict, plan::check_once(worker, plan, at, given, wanted, options, &out.arena));
        out.wrong = std::move(verdict.wrong), out.reference = std::move(verdict.reference);
    } else {
        const subject& one = what.whole ? *what.whole : what.kernels.front();
        device::answer_options asked;
        asked.seed = how.seed, asked.fast_math = how.fast_math, asked.given = one.given;
        EMMY_TRY(answer, device::answer::prepare(one.kernel, one.sizes(), one.program ? &*one.program : nullptr, one.ports, asked));
        EMMY_TRY(given, plan::answer_bytes(plan, at, answer));
        EMMY_TRY(arena, plan::make_arena(plan, at));
        out.reference = answer.reference();
        if (plan.launches().size() == 1) {
            plan::fill(arena, plan, given);
            EMMY_CHECK_OK(worker.run(plan::sequence_of(plan, at, how.fast_math, how.optimisation), arena));
        } else {
            EMMY_TRY(verdict, plan::check_once(worker, plan, at, given, {}, options, &arena));
            out.wrong = std::move(verdict.wrong), out.reference += "; " + verdict.reference;
        }
        if (out.wrong.empty()) out.wrong = answer.check(arena);
        out.arena = std::move(arena);
    }
    out.at = std::move(at);
    return out;
}

}  // namespace emmy::tools
