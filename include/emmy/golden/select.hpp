#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/golden/scope.hpp>

#include <memory>

/// Realizations: the rows of one name, the kernel they belong to, and the target that is compiled for them.
namespace emmy::golden {

struct match {
    const document* file = nullptr;
    row_index row = none;

    const golden::row& get() const { return file->rows()[row]; }
};

struct realization {
    std::string name;            ///< the full name, also when asked for by a part of it
    std::vector<match> rows;     ///< all rows of that name: both lanes, several schedules
    kernel_index kernel = none;  ///< of the first match, in its file
    kernel_index root = none;    ///< the target to compile, in the same file
    std::vector<decision_index> path;

    const document& file() const { return *rows.front().file; }
    /// Matched rows that are benched as pinned rows: all but latency-only ones with empty knobs.
    EMMY_DECL std::vector<match> pinned() const;
};

/// Rows whose name equals `name`, else rows whose name contains it. Errors (user, exit 2): none (lists the names there are), several
/// names by substring (lists them), rows of one name on more than one kernel by identity.
EMMY_DECL result<realization> select(std::span<const document* const> files, std::string_view name);

/// The files that a `--realization` is looked up in, loaded, in order of search.
struct search {
    std::vector<std::shared_ptr<const document>> files;
    std::vector<std::vector<const document*>> stages;  ///< a later stage is asked only when an earlier one has no row of the name
};

/// `named` alone when not empty; else the evidence files of the card, then standard.json, then (no card, or no file of it) all others.
EMMY_DECL result<search> open_search(const std::string& named, const card_id& live);
EMMY_DECL result<realization> select(const search& in, std::string_view name);

/// One group of a whole-file walk: rows of one root target under one regime.
struct walk_group {
    kernel_index root = none;
    std::string pins;             ///< sorted compact JSON
    std::string_view name;        ///< shortest, then first, row name on the target, else on its pieces
    std::vector<row_index> rows;  ///< all rows of the family under these pins, in file order
};
/// Groups in file order of their first row.
EMMY_DECL std::vector<walk_group> walk(const document& file);

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/select.ipp>
#endif
