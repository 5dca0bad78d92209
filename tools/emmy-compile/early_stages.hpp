#pragma once
#include <emmy-compile/primitive_listing.hpp>
#include <emmy-compile/report.hpp>
#include <emmy-compile/terms_listing.hpp>

#include <emmy/loop/fuse/fuse.hpp>
#include <emmy/program/op_text.hpp>

namespace emmy::compile {

inline bool is_early(std::string_view stage) { return stage == "program" || stage == "primitive" || stage == "loop" || stage == "fold"; }

/// Programs whose kernels --stage loop and --stage fold form by fusion: of --fresh all; else a program file or --op that is more than one operator.
inline result<std::vector<named_program>> programs_to_fuse(const settings& asked, const tools::target& target, const std::optional<program::graph>& file_program) {
    std::vector<named_program> out;
    if (!asked.common.op.empty()) {
        EMMY_TRY(graph, program::parse_op(asked.common.op));
        if (asked.fresh || !loop::lower_single_op(graph)) out.push_back({asked.common.op, std::move(graph)});
        return out;
    }
    if (asked.fresh) return load_programs(asked, target.card, file_program);
    if (file_program && !loop::lower_single_op(*file_program)) out.push_back({asked.input, *file_program});
    return out;
}

/// Every kernel of the programs, in launch order: its body with what it reads from the ones before, or its closed terms.
inline result<std::string> fused_kernels(const settings& asked, std::span<const named_program> programs) {
    stage_texts out(asked);
    for (const named_program& p : programs) {
        auto lowered = program::lower(p.graph);
        if (!lowered) return refuse(std::move(lowered).error().in_file(p.name));
        auto formed = loop::fuse(*lowered);
        if (!formed) return refuse(std::move(formed).error().in_file(p.name));
        for (const loop::formed& f : *formed) {
            if (asked.stage == "fold") {
                EMMY_TRY(terms, terms_stage(f.kernel, out.json()));
                out.json() ? out.add_wire(f.kernel.name, std::move(terms)) : out.add(f.kernel.name, std::move(terms));
                continue;
            }
            if (out.json()) {
                out.add_wire(f.kernel.name, loop::kernel_text(f.kernel));
                continue;
            }
            std::string text = loop::print(f.kernel);
            for (std::size_t i = 0; i < f.inputs.size(); ++i)
                if (f.inputs[i].kernel != loop::port_source::outside)
                    text += "# " + std::string(f.kernel.body.text(f.kernel.inputs[i].name)) + " from " + (*formed)[f.inputs[i].kernel].kernel.name + "\n";
            out.add(f.kernel.name, std::move(text));
        }
    }
    return out.render();
}

/// Stages that are there from the program alone, whatever the target.
inline result<std::string> early_stage(const settings& asked, const tools::target& target, const std::optional<program::graph>& file_program) {
    stage_texts out(asked);
    if (asked.stage == "program" || asked.stage == "primitive") {
        EMMY_TRY(programs, load_programs(asked, target.card, file_program));
        for (const named_program& p : programs) {
            const std::string title = programs.size() > 1 ? p.name + "\n" : "";
            if (asked.stage == "primitive") {
                auto lowered = program::lower(p.graph);
                if (!lowered) return refuse(std::move(lowered).error().in_file(p.name));
                out.json() ? out.add_wire(p.name, primitive_json(*lowered)) : out.add(p.name, title + list_primitives(*lowered));
            } else if (out.json()) {
                std::string text;
                json::writer w(text);
                program::write_program(w, p.graph);
                out.add_wire(p.name, std::move(text));
            } else {
                out.add(p.name, title + list_program(p.graph));
            }
        }
        return out.render();
    }
    if (asked.stage == "loop" || asked.stage == "fold") {
        EMMY_TRY(programs, programs_to_fuse(asked, target, file_program));
        if (!programs.empty()) return fused_kernels(asked, programs);
    }
    EMMY_TRY(kernels, load_kernels(asked, target.card, file_program));
    for (const tools::subject& k : kernels) {
        if (asked.stage == "loop") {
            out.json() ? out.add_wire(k.kernel.name, loop::kernel_text(k.kernel)) : out.add(k.kernel.name, loop::print(k.kernel));
        } else {
            EMMY_TRY(text, fold_stage(k, out.json()));
            out.json() ? out.add_wire(k.kernel.name, std::move(text)) : out.add(k.kernel.name, std::move(text));
        }
    }
    return out.render();
}

}  // namespace emmy::compile
