#pragma once
#include <emmy-compile/primitive_listing.hpp>
#include <emmy-compile/report.hpp>

namespace emmy::compile {

inline bool is_early(std::string_view stage) { return stage == "program" || stage == "primitive" || stage == "loop" || stage == "fold"; }

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
    EMMY_TRY(kernels, load_kernels(asked, target.card, file_program));
    for (const tools::subject& k : kernels) {
        if (asked.stage == "loop") {
            out.json() ? out.add_wire(k.kernel.name, loop::kernel_text(k.kernel)) : out.add(k.kernel.name, loop::print(k.kernel));
        } else {
            EMMY_TRY(text, fold_stage(k));
            out.add(k.kernel.name, std::move(text));
        }
    }
    return out.render();
}

}  // namespace emmy::compile
