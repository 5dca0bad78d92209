#pragma once
#include <common/exit.hpp>
#include <common/output.hpp>
#include <common/table.hpp>

#include <emmy/core/file.hpp>
#include <emmy/program/import.hpp>
#include <emmy/program/wire.hpp>

#include <algorithm>
#include <charconv>

/// `emmy-import model.pt2`: an exported PyTorch program as a traced program.
namespace emmy::import {

struct pt2_options {
    std::string model, module, part, symbol;
    std::string program;             ///< where the program goes when the report is asked for
    std::int64_t hint = 0;
    std::vector<std::string> paths;  ///< --path OLD=NEW
    bool list = false, dry_run = false;

    bool any() const { return list || !model.empty() || !module.empty() || !part.empty() || !symbol.empty() || !program.empty() || hint != 0 || !paths.empty(); }
};

inline bool is_archive(std::string_view path) { return path.ends_with(".pt2"); }

/// One node a line, so that two programs can be compared by eye and by diff.
inline std::string program_text(const program::graph& g) {
    std::string compact;
    json::writer all(compact);
    program::write_program(all, g);
    const auto document = json::document::parse(compact);  // what we wrote ourselves
    std::string out;
    if (!document) return out;
    const auto line = [&](const json::value& v) {
        std::string text;
        json::writer w(text, json::writer::layout::spaced);
        w.copy(v);
        return text;
    };
    const json::value& root = document->root();
    out = "{\"inputs\": " + line(*root.find("inputs")) + ",\n \"outputs\": " + line(*root.find("outputs")) + ",\n \"nodes\": [\n";
    const auto nodes = root.find("nodes")->items();
    for (std::size_t i = 0; i < nodes.size(); ++i) out += "  " + line(nodes[i]) + (i + 1 == nodes.size() ? "\n" : ",\n");
    return out + " ]}\n";
}

inline std::string shape_text(const program::graph& g, program::edge e) {
    std::string out = std::string(token(g.at(e).type)) + "[";
    bool first = true;
    for (const dim& d : g.shape(e)) {
        out += first ? "" : ",";
        first = false;
        if (d.kind == dim::form::number) out += std::to_string(d.number);
        else if (d.kind == dim::form::symbol) out += g.text(d.symbol);
        else spell_expr(out, d.value, g.exprs, g.names);
    }
    return out + "]";
}
inline std::string_view name_of(program::pt2::port_role r) { return r == program::pt2::port_role::user ? "user" : r == program::pt2::port_role::state ? "state" : "boundary"; }

/// Inputs, outputs and weights of the program, and what each is in the archive.
inline tools::table report_of(const program::pt2::imported& made, std::string_view file) {
    using tools::cell;
    tools::table out("emmy.import.program/1", {{"kind"}, {"id"}, {"tensor"}, {"role"}, {"name"}, {"position", false}});
    const auto add = [&](std::string_view kind, const std::string& id, std::string_view role, const std::string& name, std::size_t position) {
        const program::node_id n = made.g.find_node(id);
        out.add({cell::text(kind), cell::text(id), n == program::no_node ? cell() : cell::text(shape_text(made.g, {n, 0})), cell::text(role), cell::text(name),
                 role == "user" ? cell::integer(static_cast<std::int64_t>(position)) : cell()});
    };
    for (const auto& p : made.inputs) add("input", p.id, name_of(p.role), p.name, p.position);
    for (const auto& w : made.weights) add("weight", w.id, "path", w.path, 0);
    for (const auto& p : made.outputs) add("output", p.id, name_of(p.role), p.name, p.position);
    out.fact("file", cell::text(file));
    out.fact("nodes", cell::integer(static_cast<std::int64_t>(made.g.nodes.size())));
    if (!made.symbol.name.empty()) {
        out.fact("symbol", cell::text(made.symbol.name));
        out.fact("exported_symbol", cell::text(made.symbol.stored_name));
        out.fact("least", cell::integer(made.symbol.least));
        out.fact("most", made.symbol.most == INT64_MAX ? cell() : cell::integer(made.symbol.most));
        out.fact("hint", cell::integer(made.symbol.hint));
    }
    out.footer(std::to_string(made.g.nodes.size()) + " nodes" + (made.symbol.name.empty() ? "" : ", symbol " + made.symbol.name + " (hint " + std::to_string(made.symbol.hint) + ")"));
    return out;
}

/// Modules with their calls; the archive's versions as facts.
inline tools::table list_of(const program::pt2::pt2_archive& archive) {
    using tools::cell;
    tools::table out("emmy.import.modules/1", {{"module"}, {"type"}, {"calls"}, {"parts"}});
    const program::pt2::exported_program& x = archive.program();
    for (const auto& m : program::pt2::modules_of(x))
        out.add({cell::text(m.path.empty() ? "." : m.path), cell::text(m.type), cell::integer(static_cast<std::int64_t>(m.calls)), m.attention ? cell::text("pre attention post") : cell()});
    out.fact("file", cell::text(archive.file()));
    out.fact("schema", cell::text(std::to_string(x.major) + "." + std::to_string(x.minor)));
    out.fact("torch", x.torch_version.empty() ? cell() : cell::text(x.torch_version));
    out.footer("schema " + std::to_string(x.major) + "." + std::to_string(x.minor) + (x.torch_version.empty() ? "" : ", PyTorch " + std::string(x.torch_version)) + ", " + std::to_string(x.calls.size()) + " calls, " +
               std::to_string(archive.tensors().size()) + " tensors");
    return out;
}

inline tools::table refusals_of(const std::vector<program::pt2::refusal>& all) {
    using tools::cell;
    tools::table out("emmy.import.refused/1", {{"node"}, {"operator"}, {"argument"}, {"reason"}, {"module"}, {"source"}});
    const auto text = [](const std::string& t) { return t.empty() ? cell() : cell::text(t); };
    for (const auto& r : all) out.add({text(r.node), text(r.target), text(r.argument), text(r.reason), text(r.module), text(r.source)});
    return out;
}

inline result<program::pt2::import_options> options_of(const pt2_options& asked, const tools::common_options& common) {
    program::pt2::import_options out;
    out.symbol = asked.symbol, out.hint = asked.hint, out.module = asked.module == "." ? "" : asked.module;
    using part = program::pt2::layer_part;
    out.part = asked.part == "pre" ? part::pre : asked.part == "attention" ? part::attention : asked.part == "post" ? part::post : part::whole;
    for (const std::string& text : asked.paths) {
        const std::size_t at = text.find('=');
        if (at == std::string::npos) return refuse(fault_kind::user, "found " + text + ", expected OLD=NEW", "--path");
        out.renames.emplace_back(text.substr(0, at), text.substr(at + 1));
    }
    for (const std::string& text : common.dynamic) {
        const std::size_t at = text.find('=');
        std::int64_t size = 0;
        const char *first = text.data() + (at == std::string::npos ? text.size() : at + 1), *last = text.data() + text.size();
        if (at == std::string::npos || at == 0 || std::from_chars(first, last, size).ptr != last || size < 1) return refuse(fault_kind::user, "found " + text + ", expected SYMBOL=SIZE", "--dynamic");
        out.sizes.emplace_back(text.substr(0, at), size);
    }
    return out;
}

/// Exit code; faults are printed, one line each.
inline int import_archive(std::string_view tool, const std::vector<std::string>& paths, const pt2_options& asked, const tools::common_options& common) {
    if (paths.size() != 1) return tools::report(tool, fault(fault_kind::user, "found " + std::to_string(paths.size()) + " sources, expected one archive", "SOURCE"));
    const auto how = options_of(asked, common);
    if (!how) return tools::report(tool, how.error());
    const auto archive = program::pt2::pt2_archive::open(paths.front(), asked.model);
    if (!archive) return tools::report(tool, archive.error());
    const auto write = [&](std::string_view text) {
        if (const auto done = tools::emit(common, text); !done) return tools::report(tool, done.error());
        return static_cast<int>(tools::exit_fine);
    };
    if (asked.list) return write(list_of(*archive).render(common.format));
    std::vector<program::pt2::refusal> refused;
    const auto made = program::pt2::import_program(archive->program(), *how, &refused);
    if (!made) {
        if (refused.empty()) return tools::report(tool, made.error());
        for (const auto& r : refused) tools::report(tool, fault(fault_kind::input, r.line(), {}, archive->file()));
        // A machine gets them as a table; --out is for programs and stays as it was.
        if (common.format == tools::format::json) {
            tools::common_options screen = common;
            screen.out.clear();
            if (const auto done = tools::emit(screen, refusals_of(refused).render(common.format)); !done) return tools::report(tool, done.error());
        }
        return tools::exit_input;
    }
    if (!common.quiet)
        for (const std::string& n : made->notes) tools::note(tool, archive->file() + ": " + n);
    if (asked.program.empty() && !asked.dry_run) return write(program_text(made->g));
    if (!asked.program.empty() && !asked.dry_run)
        if (const auto done = write_file_atomically(asked.program, program_text(made->g)); !done) return tools::report(tool, done.error());
    return write(report_of(*made, archive->file()).render(common.format));
}

}  // namespace emmy::import
