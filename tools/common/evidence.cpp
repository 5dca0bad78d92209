#include <common/evidence.hpp>

#include <emmy/evidence/import.hpp>

#include <unistd.h>

namespace emmy::tools {

result<evidence_in_scope> open_evidence(const common_options& options, const golden::card_id& card, store_use use) {
    evidence_in_scope out;
    const std::string path = options.db.empty() ? evidence::default_store_path() : options.db;
    if (use == store_use::record) {
        if (path.empty()) return refuse(fault_kind::user, "found no place for the evidence store (HOME and EMMY_DB are not set), expected --db PATH", "--db");
        EMMY_TRY(opened, evidence::open_store(path, store::access::write, store::store_kind::tuning));
        out.notes = opened.notes();
        out.db = std::move(opened);
    } else if (use == store_use::look && (path.empty() || ::access(path.c_str(), F_OK) != 0)) {
        EMMY_TRY(empty, evidence::temporary_store());
        out.db = std::move(empty);
    } else {
        EMMY_TRY(opened, evidence::open_tuning_store(path, out.notes));
        out.db = std::move(opened);
    }
    EMMY_TRY(scope, evidence::prepare_scope(*out.db, options.golden, card));
    out.scope = std::move(scope);
    for (const std::vector<std::string>* list : {&out.scope.refused, &out.scope.notes}) out.notes.insert(out.notes.end(), list->begin(), list->end());
    return out;
}

}  // namespace emmy::tools
