#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/golden/document.hpp>

#include <string>
#include <vector>

/// Which golden files a command sees: a named one, or those of the repository or installation.
namespace emmy::golden {

struct card_id {
    std::string name;  ///< product name, any spelling the card registry knows; empty = no card
    int compute_major = 0, compute_minor = 0;
};

/// Directory of the files that come with Emmy: $EMMY_GOLDEN_DIR, else goldens/ of the source tree or share/emmy/goldens of the
/// installation that the running program belongs to (found upwards from its own place). Empty when there is none.
EMMY_DECL std::string golden_directory();

/// All files that come with Emmy, sorted by path: <directory>/*.json and recipes/<model>/golden/*.json beside it.
EMMY_DECL std::vector<std::string> repository_files();

/// standard.json of golden_directory(): programs, kernels and proposals of the standard operator set; empty when absent.
EMMY_DECL std::string standard_file();

/// A path under a golden_directory() or recipes/<model>/golden: repository rules hold.
EMMY_DECL bool is_repository_path(const std::string& path);

/// The file's first line: {"gpu_name": …}. Errors (input): no golden file.
EMMY_DECL result<std::string> opening_card(const std::string& path);  ///< empty = matches every card

/// Same card under the registry's aliases; an unset name matches every card.
EMMY_DECL bool same_card(const header& file, const card_id& live);

/// Evidence of a compile on a card: `named` (--golden) when not empty, else $EMMY_GOLDEN_FILE (set but empty = none), else the
/// repository files of this card. Paths only; a named file of another card is still listed (refuse it with same_card()).
EMMY_DECL result<std::vector<std::string>> evidence_files(const std::string& named, const card_id& live);

/// A path, a directory (all *.json below it, sorted) or, when `paths` is empty, repository_files(). Errors (input): absent; nothing found.
EMMY_DECL result<std::vector<std::string>> expand(const std::vector<std::string>& paths);

/// Loads a file under the rules its place demands.
EMMY_DECL result<document> load_in_place(const std::string& path);

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/scope.ipp>
#endif
