#pragma once
#include <emmy/evidence/index.hpp>
#include <emmy/evidence/report.hpp>
#include <emmy/evidence/structure.hpp>

// Bodies only.
namespace emmy::evidence::detail {

/// A measured row as the report shows it.
inline row_evidence shown(const snapshot& evidence, const merged_row& m, store::knob_list row, const store::binding_list& bindings) {
    const store::source_record& source = evidence.source(m.source);
    return {std::move(row), source.label, source.producer, bindings, m.time.median, m.time.how == store::outcome::captured};
}

}  // namespace emmy::evidence::detail
