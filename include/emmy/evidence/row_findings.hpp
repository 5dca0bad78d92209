#pragma once
#include <emmy/core/config.hpp>
#include <emmy/golden/lint.hpp>

#include <string>
#include <vector>

/// Whole rows of a golden file against their kernels: what its loader, which reads values one by one, cannot say.
namespace emmy::evidence {

/// The rule of the lint that reports them.
inline constexpr golden::lint_rule row_rule{"illegal-row", "a row of a GPU breaks no rule of schedules (doc/rules.md) on its kernel"};

/// One per row that breaks a rule: place "rows[12]", message the sentence of the first rule, with the kernel's reference. A report: nothing is
/// dropped for it. Rows of a processor and rows without knobs are not looked at. Kernels are lifted once each.
EMMY_DECL std::vector<golden::finding> row_findings(const golden::document& file);

}  // namespace emmy::evidence

#ifdef EMMY_HEADER_ONLY
#include <emmy/evidence/impl/row_findings.ipp>
#endif
