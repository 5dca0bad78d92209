#pragma once
#include <common/options.hpp>
#include <common/setting.hpp>
#include <common/subject.hpp>

#include <emmy/core/card.hpp>
#include <emmy/core/file.hpp>
#include <emmy/device/cpu/identify.hpp>
#include <emmy/program/wire.hpp>

#include <string>
#include <vector>

namespace emmy::compile {

inline const std::vector<std::string> stages{"program", "primitive", "loop", "fold", "fork", "kernel", "text", "plan"};

struct settings {
    tools::common_options common;
    tools::setting_flags flags;
    std::string input;   ///< a program or golden file
    std::string stage;   ///< empty: the report of the pick
    std::string target;  ///< --target
    bool explain = false, strict = false, own_only = false, run = false, interpret = false;
};

/// What is compiled for. Without a card (a bare sm_NN) nothing measured applies.
struct chosen_target {
    golden::card_id card;
    bool host = false;  ///< this machine's processor: the only target with a lowering
    std::string text() const { return !card.name.empty() ? card.name : "sm_" + std::to_string(card.compute_major) + std::to_string(card.compute_minor); }
};

/// --target, else --device, else the card of --golden, else this processor. Errors (user): no such card; (input): an unreadable golden.
inline result<chosen_target> choose_target(const settings& asked) {
    const std::string host = device::cpu::identify_host().card;
    const std::string& flag = asked.target.empty() ? asked.common.device : asked.target;
    std::string wanted = flag;
    if (wanted.empty() && !asked.common.golden.empty()) {
        EMMY_TRY(card, golden::opening_card(asked.common.golden));
        wanted = card;
    }
    if (wanted.empty() || wanted == "cpu" || wanted == host) return chosen_target{{host, 0, 0}, true};
    if (const auto cc = capability_from_target(wanted)) return chosen_target{{"", cc->generation, cc->revision}, false};
    auto card = find_card(wanted);
    if (!card) return refuse(std::move(card).error().at(asked.target.empty() ? "--device" : "--target"));
    return chosen_target{{card->name, card->cc.generation, card->cc.revision}, false};
}

/// The programs behind the request, for --stage program: the traced ones, whatever becomes of them later.
struct named_program {
    std::string name;
    program::graph graph;
};

/// A program of one file; nothing when the file is a golden document.
inline result<std::optional<program::graph>> read_program_file(const std::string& path) {
    EMMY_TRY(bytes, read_file(path));
    auto document = json::document::parse(bytes, path);
    if (!document) return refuse(document.error());
    if (document->root().find("compute_cap")) return std::optional<program::graph>();
    auto graph = program::read_program(document->root());
    if (!graph) return refuse(std::move(graph).error().in_file(path));
    return std::optional(std::move(*graph));
}

inline result<std::vector<named_program>> load_programs(const settings& asked, const golden::card_id& card, const std::optional<program::graph>& file_program) {
    std::vector<named_program> out;
    const tools::common_options& common = asked.common;
    if (file_program) return std::vector<named_program>{{asked.input, *file_program}};
    if (!common.op.empty()) {
        EMMY_TRY(subjects, tools::load_subjects(common, card));
        for (tools::subject& s : subjects) out.push_back({s.name, std::move(*s.program)});
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

/// The kernels behind the request.
inline result<std::vector<tools::subject>> load_kernels(const settings& asked, const golden::card_id& card, const std::optional<program::graph>& file_program) {
    if (!file_program) return tools::load_subjects(asked.common, card);
    auto one = tools::subject_of_program(asked.input, *file_program, asked.common);
    if (!one) return refuse(std::move(one).error().in_file(asked.input));
    std::vector<tools::subject> out;
    out.push_back(std::move(*one));
    return out;
}

}  // namespace emmy::compile
