#pragma once
#include <common/options.hpp>

#include <emmy/evidence/scope.hpp>
#include <emmy/golden/scope.hpp>
#include <emmy/store/environment.hpp>

#include <optional>
#include <string>
#include <vector>

namespace emmy::tools {

/// What a command does with the tuning store.
enum class store_use : std::uint8_t {
    record,  ///< measurements go into it: made when absent, refused when it cannot be written
    decide,  ///< a compile: made when absent, so that goldens in scope are imported once; read only where it cannot be written
    look     ///< never made; in memory when absent
};

/// The tuning store and the golden files that are evidence beside it.
struct evidence_in_scope {
    std::optional<store::environment> db;
    evidence::scope scope;
    std::vector<std::string> notes;  ///< of the store, of goldens refused or ignored: one line each
};

/// Opens --db (else the default place) and imports what goldens in scope are new to it; where it cannot be written those stay out, and
/// a note names each. Errors (store): none there, damaged, of another kind; (input): a bad golden; (user): no place for records.
result<evidence_in_scope> open_evidence(const common_options& options, const golden::card_id& card, store_use use);

}  // namespace emmy::tools
