#pragma once
#include <emmy/evidence/scope.hpp>

#include <emmy/core/card.hpp>
#include <emmy/core/file.hpp>
#include <emmy/evidence/import.hpp>
#include <emmy/golden/scope.hpp>
#include <emmy/store/tables.hpp>

namespace emmy::evidence {

EMMY_DECL result<scope> prepare_scope(const store::environment& store, const std::string& named, const golden::card_id& card) {
    if (store.kind() != store::store_kind::tuning) return refuse(fault_kind::user, "found a dataset store, expected the tuning store: a compile reads no other", "--db", store.path());
    EMMY_TRY(files, golden::evidence_files(named, card));
    scope out;
    for (const std::string& path : files) {
        EMMY_TRY(opening, golden::opening_card(path));
        const bool other_card = !opening.empty() && canonical_card_name(opening) != canonical_card_name(card.name);
        EMMY_TRY(bytes, read_file(path));
        const std::string label = store::file_label("golden", sha256_hex(bytes));
        bool known = false;
        if (!other_card) {
            EMMY_TRY(txn, store.read());
            EMMY_TRY(found, store::find_source(txn, label));
            known = found.has_value();
        }
        if (!known) {
            EMMY_TRY(file, golden::document::parse(bytes, path, golden::is_repository_path(path) ? golden::rules::repository : golden::rules::working));
            if (!golden::same_card(file.head(), card)) {
                std::size_t measured = 0;
                for (const golden::row& row : file.rows()) measured += row.measurements.has_value();
                out.refused.push_back(path + ": of " + (file.head().gpu_name ? std::string(*file.head().gpu_name) : "no card") + ", not of " + (card.name.empty() ? "this machine" : card.name) + ": its " +
                                      std::to_string(measured) + " measured rows are no evidence here");
                continue;
            }
            if (store.writable()) {
                EMMY_TRY(report, import_document(store, file, bytes));
                for (const std::string& w : report.warnings) out.notes.push_back(path + ": " + w);
                out.imported += !report.skipped;
            } else {
                out.notes.push_back(path + ": not imported, the tuning store is read only; its rows are no evidence in this run");
                continue;
            }
        }
        out.labels.push_back(label);
        out.files.push_back(path);
    }
    return out;
}

}  // namespace emmy::evidence
