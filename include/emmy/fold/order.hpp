#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/loop/body.hpp>

#include <vector>

/// What a body says about order: which loops carry something from step to step, which write, what may run side by side. For bodies
/// that have no fold tree.
namespace emmy::fold {

/// A state carried between the steps of a loop.
struct carried_state {
    loop::stmt_id carry = 0xffffffffu, loop = 0xffffffffu;  ///< its Carry; the loop that carries it
    std::vector<loop::axis> cells;                          ///< per index entry the cell loop's axis; no name where the entry is 0
};

class body_order {
public:
    EMMY_DECL explicit body_order(const loop::body& b);

    const std::vector<carried_state>& states() const { return states_; }
    EMMY_DECL bool carries(loop::stmt_id loop) const;
    /// A loop that neither reduces nor carries: its steps may run side by side.
    EMMY_DECL bool is_free(loop::stmt_id loop) const;
    /// The statement writes an output or a state, itself or below.
    EMMY_DECL bool writes(loop::stmt_id s) const;
    /// Nothing may run side by side: atomic sums, or a state that an outermost loop carries.
    EMMY_DECL bool alone() const;
    /// Some outermost loop can be dealt to a team.
    EMMY_DECL bool deals() const;

private:
    void find_states(loop::run r, std::vector<loop::stmt_id>& chain);
    bool accumulates(loop::run r) const;
    const loop::body& b_;
    std::vector<carried_state> states_;
};

/// Whether the statements can run one after another on a CPU. Errors (device_limit): "no CPU lowering for …": scheduled code (ZeroPrologue,
/// calls, builtins, swizzled stores), a kernel that reads its own output, a carried state over a strided loop or whose size is an expression.
EMMY_DECL result<void> check_order(const loop::kernel& k);

}  // namespace emmy::fold

#ifdef EMMY_HEADER_ONLY
#include <emmy/fold/impl/order.ipp>
#endif
