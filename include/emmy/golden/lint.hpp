#pragma once
#include <emmy/core/config.hpp>
#include <emmy/golden/document.hpp>

/// Editorial rules that no loader enforces.
namespace emmy::golden {

struct finding {
    std::string_view rule;  ///< one of lint_rules
    std::string place;      ///< JSON path
    std::string message;
};

struct lint_rule {
    std::string_view name, sentence;
};
constexpr lint_rule lint_rules[] = {
    {"fast-math-loses", "a fast-math row is kept only when it is faster than the best standard row of its kernel and sizes"},
    {"sizes-missing", "a measured row of a kernel with symbolic dims states their sizes"},
    {"sizes-extra", "a row states sizes only for symbols that its kernel has"},
    {"duplicate-evidence", "one kernel, sizes, regime and schedule is measured once"},
    {"duplicate-proposal", "a schedule that is measured, or proposed before, is not proposed again"},
    {"label-lane", "a row named .fm is a fast-math row"},
    {"label-size", "a segment m<N> of a row's name is the num_tokens that its kernel was specialized to"},
    {"label-identity", "in a file of ours, a 12-digit segment of a row's name is the identity of its kernel"},
    {"unreached-piece", "every piece is minted by a decision"},
    {"unused-program", "every program is the origin of a target"},
    {"stale-body", "every body can be decoded"},
    {"not-canonical", "the file is in the canonical layout"},
};

/// Findings in order of the rules, then of the file. Identities are computed for rules that need them.
EMMY_DECL std::vector<finding> lint(const document& file);

}  // namespace emmy::golden

#ifdef EMMY_HEADER_ONLY
#include <emmy/golden/impl/lint.ipp>
#endif
