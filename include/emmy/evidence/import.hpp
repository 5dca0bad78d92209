#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/store/environment.hpp>

#include <optional>
#include <string>
#include <vector>

namespace emmy::golden {
class document;
}

/// Golden documents into a store.
namespace emmy::evidence {

/// A store of this build's identity version.
EMMY_DECL result<store::environment> open_store(const std::string& path, store::access mode, std::optional<store::store_kind> kind = {});
EMMY_DECL result<store::environment> temporary_store(store::store_kind kind = store::store_kind::tuning);
/// $EMMY_DB, else $XDG_DATA_HOME/emmy/tune.db, else ~/.local/share/emmy/tune.db; "" when none of them is set.
EMMY_DECL std::string default_store_path();
/// The store of a compile or bench: the tuning store at `path`, made when absent; in memory when the path is empty; read only when it
/// cannot be written. `notes` says so. Errors (store): a dataset store there, a damaged one.
EMMY_DECL result<store::environment> open_tuning_store(const std::string& path, std::vector<std::string>& notes);

struct import_report {
    std::string file, label;
    bool skipped = false;             ///< the store already holds this content
    std::uint32_t kernels = 0;        ///< stored or met again
    std::uint32_t digested = 0;       ///< of them, bodies whose identity had to be computed
    std::uint32_t routes = 0, taken = 0;
    std::uint32_t offered = 0;        ///< measured rows of the file
    std::uint32_t stored = 0;         ///< of them, kept (better than what this source had)
    std::vector<std::string> warnings;  ///< stale kernels by reference, sizes filled in, …
};

/// One file as one source, in one transaction with its source record: kernels, decisions, which arms each row took, measured rows
/// under the regime their own pins state. Label "<prefix>:<12 hex of the bytes' SHA-256>"; a stored label is skipped. Rows of another
/// producer than the file's go under "<label>:<producer>".
/// Errors (input): measured rows and no card. (store): as of a write.
EMMY_DECL result<import_report> import_document(const store::environment& into, const golden::document& file, std::string_view bytes, std::string_view prefix = "golden");
/// Reads and checks the file first; with `dry_run` nothing is written.
EMMY_DECL result<import_report> import_file(const store::environment& into, const std::string& path, std::string_view prefix = "golden", bool dry_run = false);

/// What an import would refuse about the file alone. Errors (input): no golden document, a Git LFS pointer, measured rows and no card.
EMMY_DECL result<void> check_file(const std::string& path);

/// Label that a file's rows have in any store. Errors (input): unreadable.
EMMY_DECL result<std::string> golden_label(const std::string& path);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/import.ipp>
#endif
