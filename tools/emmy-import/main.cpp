#include <emmy-import/emit.hpp>
#include <emmy-import/import.hpp>

#include <common/cli.hpp>
#include <common/output.hpp>

using namespace emmy;

int main(int argc, char** argv) {
    constexpr std::string_view tool = "emmy-import";
    tools::common_options options;
    std::vector<std::string> paths;
    bool dry_run = false;
    import::emit_options header;

    tools::cli line(std::string(tool), "Fills a dataset store from golden files. What a compile reads is another store: benches and the golden scope fill that.");
    line.self()
        .positional("SOURCE", paths, "Golden file (*.json), or a directory of them (a freeze)")
        .flag("--dry-run", dry_run, "Read and check everything, write nothing")
        .option("--emit-header", header.out, "Write the one golden file as a C++ header whose compilation checks it (CMake: emmy_golden_header); no store is touched")
        .option("--namespace", header.name_space, "Of that header; default its file name up to the first point")
        .option("--target", header.target, "Refuse a file of another target than this one (sm_90)")
        .option("--db", options.db, "Dataset store to fill, made when absent; never the default store")
        .common(tools::takes::output | tools::takes::progress, options)
        .example("emmy-import goldens/h100_sm90.json --db dataset.db", "one golden file")
        .example("emmy-import h100_sm90.json --emit-header h100.golden.hpp", "rows of a golden file as constants of a program")
        .example("emmy-import freeze/ --db dataset.db --dry-run", "what a directory of frozen files would add");
    if (const auto code = line.parse(argc, argv)) return *code;

    if (!header.out.empty()) {
        if (const auto made = import::emit_header(paths, header); !made) return tools::report(tool, made.error());
        return tools::exit_fine;
    }
    std::vector<fault> others;
    const auto done = import::run(paths, options.db, dry_run, options, &others);
    for (const fault& f : others) tools::report(tool, f);
    if (!done) return tools::report(tool, done.error());
    tools::table out = import::report_table();
    for (const evidence::import_report& r : done->reports) {
        import::add(out, r, dry_run);
        if (!options.quiet)
            for (const std::string& warning : r.warnings) tools::note(tool, r.file + ": " + warning);
    }
    if (auto written = tools::emit(options, out.render(options.format)); !written) return tools::report(tool, written.error());
    return tools::exit_fine;
}
