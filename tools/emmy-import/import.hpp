#pragma once
#include <common/exit.hpp>
#include <common/options.hpp>
#include <common/progress.hpp>
#include <common/table.hpp>

#include <emmy/evidence/import.hpp>
#include <emmy/evidence/row_findings.hpp>
#include <emmy/golden/scope.hpp>
#include <emmy/store/tables.hpp>

#include <filesystem>

/// `emmy-import SOURCE… --db PATH`: golden files and directories of them into a dataset store.
namespace emmy::import {

struct source {
    std::string path;
    std::string prefix;  ///< of its label: "golden" for a file, "freeze" for the files of a directory
};

/// Files to read, in order; of a directory all *.json below it. Errors (user): no source, another kind of file. (input): a path that is
/// not there, a directory without *.json.
inline result<std::vector<source>> sources_of(const std::vector<std::string>& paths) {
    if (paths.empty()) return refuse(fault_kind::user, "found no source, expected golden files or directories of them", "SOURCE");
    std::vector<source> out;
    for (const std::string& path : paths) {
        std::error_code error;
        const auto kind = std::filesystem::status(path, error).type();
        if (kind == std::filesystem::file_type::not_found) return refuse(fault_kind::input, "found no such file, expected a golden file or a directory", "SOURCE", path);
        if (kind != std::filesystem::file_type::directory) {
            if (std::filesystem::path(path).extension() != ".json") return refuse(fault_kind::user, "found no .json file, expected a golden file or a directory of them", "SOURCE", path);
            out.push_back({path, "golden"});
            continue;
        }
        EMMY_TRY(files, golden::expand({path}));
        for (std::string& file : files) out.push_back({std::move(file), "freeze"});
    }
    return out;
}

/// The dataset store of --db; made when absent, in memory for a dry run of an absent one. Errors (user): no --db, a tuning store.
inline result<store::environment> target(const std::string& db, bool dry_run) {
    if (db.empty()) return refuse(fault_kind::user, "found none, expected the path of a dataset store (an import has no default)", "--db");
    if (dry_run) {
        std::error_code error;
        if (!std::filesystem::exists(db, error)) return evidence::temporary_store(store::store_kind::dataset);
        EMMY_TRY(readable, evidence::open_store(db, store::access::read));
        if (readable.kind() != store::store_kind::dataset) return refuse(fault_kind::user, "found a tuning store, expected a dataset store: what a compile reads is written by benches only", "--db", db);
        return readable;
    }
    if (std::filesystem::exists(db + "/data.mdb")) {
        const auto there = evidence::open_store(db, store::access::read);
        if (there && there->kind() != store::store_kind::dataset) return refuse(fault_kind::user, "found a tuning store, expected a dataset store: what a compile reads is written by benches only", "--db", db);
    }
    return evidence::open_store(db, store::access::write, store::store_kind::dataset);
}

inline tools::table report_table() {
    return {"emmy.import/1", {{"file"}, {"label"}, {"state"}, {"kernels"}, {"digested", false}, {"routes"}, {"taken"}, {"rows"}, {"stored"}}};
}
inline void add(tools::table& out, const evidence::import_report& r, bool dry_run) {
    using tools::cell;
    out.add({cell::text(r.file), cell::text(r.label), cell::text(r.skipped ? "already stored" : dry_run ? "would import" : "imported"), cell::integer(r.kernels), cell::integer(r.digested),
             cell::integer(r.routes), cell::integer(r.taken), cell::integer(r.offered), cell::integer(r.stored)});
}

/// Rows that break a rule on their kernel are named; they are imported all the same.
inline void note_illegal_rows(std::string_view tool, const std::string& path) {
    const auto file = golden::document::load(path);
    if (!file) return;  // said when it was read
    for (const golden::finding& f : evidence::row_findings(*file)) tools::note(tool, path + ": " + f.place + " " + f.message);
}

/// Every file read and checked before the first is stored: a bad one leaves the store as it was. The last bad file's fault is returned,
/// those of the others are put into `bad`.
struct outcome {
    std::vector<evidence::import_report> reports;
};
inline result<outcome> run(const std::vector<std::string>& paths, const std::string& db, bool dry_run, tools::common_options options, std::vector<fault>* bad = nullptr) {
    EMMY_TRY(sources, sources_of(paths));
    if (db.empty()) return refuse(fault_kind::user, "found none, expected the path of a dataset store (an import has no default)", "--db");
    std::vector<fault> faults;
    for (const source& s : sources)
        if (auto good = evidence::check_file(s.path); !good) faults.push_back(good.error());
    if (!faults.empty()) {
        if (bad) bad->assign(faults.begin(), faults.end() - 1);
        return refuse(faults.back());
    }
    EMMY_TRY(into, target(db, dry_run));
    outcome out;
    tools::progress bar(options, sources.size(), "import");
    for (const source& s : sources) {
        auto report = evidence::import_file(into, s.path, s.prefix, dry_run);
        if (!report) return refuse(std::move(report).error());
        bar.finished(s.path, report->skipped ? "already stored" : std::to_string(report->stored) + " rows");
        out.reports.push_back(std::move(*report));
    }
    return out;
}

}  // namespace emmy::import
