#pragma once
#include <common/options.hpp>
#include <common/prior.hpp>
#include <common/setting.hpp>
#include <common/subject.hpp>
#include <common/target.hpp>
#include <common/unit.hpp>
#include <common/weights.hpp>

#include <emmy/core/file.hpp>
#include <emmy/evidence/pick.hpp>
#include <emmy/program/wire.hpp>

#include <string>
#include <vector>

namespace emmy::compile {

inline const std::vector<std::string> stages{"program", "primitive", "loop", "fold", "fork", "kernel", "text", "plan"};

struct settings {
    tools::common_options common;
    tools::setting_flags flags;
    tools::prior_flags prior;
    std::string input;   ///< a program or golden file
    std::string stage;   ///< empty: the report of the pick
    std::string target;  ///< --target
    std::string weights; ///< --weights: an archive or a checkpoint
    bool fresh = false, explain = false, strict = false, own_only = false, run = false, interpret = false;
    std::string expect;             ///< a report to compare with
    std::vector<std::string> diff;  ///< two sides, or none

    evidence::strictness strictness() const { return own_only ? evidence::strictness::own_only : strict ? evidence::strictness::measured : evidence::strictness::off; }
};

/// --target, else --device, else the card of --golden, else this processor. Errors: as of find_target; (input) an unreadable golden.
inline result<tools::target> choose_target(const settings& asked) {
    if (!asked.target.empty()) return tools::find_target(asked.target, "--target");
    if (!asked.common.device.empty() || asked.common.golden.empty()) return tools::find_target(asked.common.device, "--device");
    EMMY_TRY(card, golden::opening_card(asked.common.golden));
    return tools::find_target(card, "--golden");
}

/// The programs behind the request, for --stage program: the traced ones, whatever becomes of them later.
struct named_program {
    std::string name;
    program::graph graph;
};

using tools::read_program_file;

inline result<std::vector<named_program>> load_programs(const settings& asked, const golden::card_id& card, const std::optional<program::graph>& file_program) {
    std::vector<named_program> out;
    const tools::common_options& common = asked.common;
    if (file_program) return std::vector<named_program>{{asked.input, *file_program}};
    if (!common.op.empty()) {
        EMMY_TRY(units, tools::load_units(common, card));
        for (tools::unit& u : units) out.push_back({u.name, std::move(u.traced ? *u.traced : *u.kernels.front().program)});
        return out;
    }
    const auto add = [&](const golden::document& file, golden::kernel_index root, std::string name) -> result<void> {
        const golden::kernel_entry& entry = file.kernels()[root];
        if (!entry.target()) return refuse(fault_kind::user, "found no traced program of " + std::string(entry.ref()) + ": it is a piece of another kernel", "--realization", file.file());
        const json::path at, list = at / "programs", where = list / entry.traced;
        auto graph = program::read_program(file.programs()[entry.traced], where);
        if (!graph) return refuse(std::move(graph).error().in_file(file.file()));
        out.push_back({std::move(name), std::move(*graph)});
        return {};
    };
    if (!common.realization.empty()) {
        EMMY_TRY(files, golden::open_search(common.golden, card));
        EMMY_TRY(found, golden::select(files, common.realization));
        EMMY_CHECK_OK(add(found.file(), found.root, found.name));
        return out;
    }
    const std::string path = common.golden.empty() ? golden::standard_file() : common.golden;
    if (path.empty()) return refuse(fault_kind::user, "nothing to work on: expected a program file, --realization NAME, --golden FILE or --op 'softmax(x: f32[512,2048], dim=-1)'");
    EMMY_TRY(file, golden::load_in_place(path));
    for (golden::kernel_index k = 0; k < file.kernels().size(); ++k)
        if (file.kernels()[k].target()) EMMY_CHECK_OK(add(file, k, std::string(file.kernels()[k].ref())));
    return out;
}

/// The kernels behind the request, those of one program together.
inline result<std::vector<tools::unit>> load_units(const settings& asked, const golden::card_id& card, const std::optional<program::graph>& file_program) {
    std::vector<tools::unit> out;
    if (file_program) {
        auto one = tools::unit_of_program(asked.input, *file_program, asked.common);
        if (!one) return refuse(std::move(one).error().in_file(asked.input));
        out.push_back(std::move(*one));
    } else {
        EMMY_TRY(found, tools::load_units(asked.common, card));
        out = std::move(found);
    }
    if (!asked.weights.empty())
        for (tools::unit& u : out) EMMY_CHECK_OK(tools::bind_weights(u, asked.weights));
    return out;
}
inline result<std::vector<tools::subject>> load_kernels(const settings& asked, const golden::card_id& card, const std::optional<program::graph>& file_program) {
    EMMY_TRY(units, load_units(asked, card, file_program));
    std::vector<tools::subject> out;
    for (tools::unit& u : units)
        for (tools::subject& k : u.kernels) out.push_back(std::move(k));
    return out;
}

}  // namespace emmy::compile
