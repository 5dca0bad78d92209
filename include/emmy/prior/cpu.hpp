#pragma once
#include <emmy/core/config.hpp>
#include <emmy/evidence/report.hpp>  // store::binding_list
#include <emmy/fork/schedule.hpp>
#include <emmy/prior/machine.hpp>
#include <emmy/prior/model.hpp>

#include <memory>

namespace emmy::prior {

/// Predicted time of every schedule row of one kernel on a processor. Terms: vector and scalar operations of the fold tree's steps as the
/// row's form runs them; accumulators that wait for themselves; tails beyond whole vectors and register tiles; packing of panels and how
/// often they serve; bytes from the level that holds them, lines and pages that a stride wastes; dealing items, imbalance of a team, the
/// launch. Plain IEEE arithmetic and no library function: the same numbers give the same order everywhere.
class cpu_estimate {
public:
    /// `schedules` must outlive this. Sizes of symbols: `sizes`, else their hints.
    EMMY_DECL cpu_estimate(const fork::cpu_schedules& schedules, const cpu_machine& machine, const cpu_terms& terms = {}, const store::binding_list& sizes = {});
    EMMY_DECL double us(const fork::cpu_row& row) const;
    /// Least us over all rows of the kernel.
    EMMY_DECL double least_us() const;

    struct state;

private:
    std::shared_ptr<const state> state_;
};

}  // namespace emmy::prior

#ifdef EMMY_HEADER_ONLY
#include <emmy/prior/impl/cpu.ipp>
#endif
