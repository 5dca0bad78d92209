#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/environment.hpp>

#include <string>
#include <vector>

namespace emmy::golden {
struct card_id;
}

/// Which golden files are evidence for one compile.
namespace emmy::evidence {

struct scope {
    std::vector<std::string> labels;  ///< sources that count, besides everything measured here
    std::vector<std::string> files;   ///< their files, same order
    std::vector<std::string> refused; ///< one line each: another card's file, with its row count
    std::vector<std::string> notes;   ///< warnings of the import
    std::uint32_t imported = 0;       ///< files whose content was new to the store
};

/// Resolves --golden / EMMY_GOLDEN_FILE / the repository's files of this card, and imports what the store has not seen.
/// A file whose label is already stored is not parsed. `store` must be a tuning store. Errors (input): an unreadable or bad file; (store).
EMMY_DECL result<scope> prepare_scope(const store::environment& store, const std::string& named, const golden::card_id& card);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/scope.ipp>
#endif
