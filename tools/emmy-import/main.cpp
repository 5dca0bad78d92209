#include <emmy-import/emit.hpp>
#include <emmy-import/import.hpp>
#include <emmy-import/pt2.hpp>

#include <common/cli.hpp>
#include <common/output.hpp>

using namespace emmy;

int main(int argc, char** argv) {
    constexpr std::string_view tool = "emmy-import";
    tools::common_options options;
    std::vector<std::string> paths;
    bool dry_run = false;
    import::emit_options header;
    import::pt2_options archive;

    tools::cli line(std::string(tool), "Brings in what others made: golden files into a dataset store, exported PyTorch programs (.pt2) as programs.");
    line.self()
        .positional("SOURCE", paths, "Golden file (*.json), or a directory of them (a freeze); or one archive of torch.export.save (*.pt2)")
        .flag("--dry-run", dry_run, "Read and check everything, write nothing")
        .option("--emit-header", header.out, "Write the one golden file as a C++ header whose compilation checks it (CMake: emmy_golden_header); no store is touched")
        .option("--namespace", header.name_space, "Of that header; default its file name up to the first point")
        .option("--target", header.target, "Refuse a file of another target than this one (sm_90)")
        .option("--db", options.db, "Dataset store to fill, made when absent; never the default store")
        .option("--program", archive.program, "Of an archive: where its program goes; the result is then a report of inputs, outputs and weights. Without it the result (--out) is the program")
        .flag("--list", archive.list, "Of an archive: its modules, and which of them have layer parts; nothing is imported")
        .option("--module", archive.module, "Of an archive: this submodule alone (model.layers.0)")
        .choice("--part", archive.part, {"pre", "attention", "post"}, "Of a layer: what makes q, k and v; from them to the attention's result; the rest")
        .option("--symbol", archive.symbol, "Name of the archive's one symbolic size (seq_len, num_tokens); default as the archive has it")
        .option("--hint", archive.hint, "Hint of that size; default the archive's", 1)
        .option("--path", archive.paths, "OLD=NEW: a weight path, or the front of many, as the checkpoint has it (repeatable)")
        .option("--model", archive.model, "Which program of an archive that holds several")
        .common(tools::takes::output | tools::takes::progress | tools::takes::dynamic, options)
        .example("emmy-import goldens/h100_sm90.json --db dataset.db", "one golden file")
        .example("emmy-import h100_sm90.json --emit-header h100.golden.hpp", "rows of a golden file as constants of a program")
        .example("emmy-import layer.pt2 --symbol seq_len --out layer.json", "the program of an exported layer, for emmy-compile and emmy-bench")
        .example("emmy-import model.pt2 --list", "the modules of an exported model")
        .example("emmy-import model.pt2 --module model.layers.0 --part post --dynamic s0=8 --out post8.json", "one part of one layer, at one size")
        .example("emmy-import freeze/ --db dataset.db --dry-run", "what a directory of frozen files would add");
    if (const auto code = line.parse(argc, argv)) return *code;

    if (!header.out.empty()) {
        if (const auto made = import::emit_header(paths, header); !made) return tools::report(tool, made.error());
        return tools::exit_fine;
    }
    archive.dry_run = dry_run;
    const bool exported = !paths.empty() && std::all_of(paths.begin(), paths.end(), import::is_archive);
    if (exported && options.db.empty()) return import::import_archive(tool, paths, archive, options);
    if (exported) return tools::report(tool, fault(fault_kind::user, "found a dataset store beside an archive, expected --out", "--db"));
    if (archive.any() || !options.dynamic.empty()) return tools::report(tool, fault(fault_kind::user, "found an option of archives, expected one *.pt2 file", paths.empty() ? "SOURCE" : paths.front()));
    std::vector<fault> others;
    const auto done = import::run(paths, options.db, dry_run, options, &others);
    for (const fault& f : others) tools::report(tool, f);
    if (!done) return tools::report(tool, done.error());
    tools::table out = import::report_table();
    for (const evidence::import_report& r : done->reports) {
        import::add(out, r, dry_run);
        if (!options.quiet)
            for (const std::string& warning : r.warnings) tools::note(tool, r.file + ": " + warning);
        if (!options.quiet && !r.skipped) import::note_illegal_rows(tool, r.file);
    }
    if (auto written = tools::emit(options, out.render(options.format)); !written) return tools::report(tool, written.error());
    return tools::exit_fine;
}
