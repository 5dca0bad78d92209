#pragma once
#include <emmy/loop/fuse/impl/rewrite.hpp>

namespace emmy::loop::fusion {

/// One store of a kernel. Its loops are the free axes up to `scope`.
struct draft_store {
    buffer_id buffer = nothing;
    std::vector<expr_id> index;
    value_id stored = nothing;
    axis_id scope = nothing;      ///< innermost loop around the store; nothing: none
    axis_id sum = nothing;        ///< a scan: the store stands inside this loop, which sums what is stored
    bool carry = false;           ///< the next state of a recurrence: no buffer, `index` are its cells
};

/// A kernel before it has an order and names: stores of values over its axes.
struct draft {
    std::vector<draft_store> stores;
    axis_id step = nothing;       ///< the loop of a recurrence: what its last turn left is read by `pre`
    buffer_id seed = nothing;     ///< what its first turn finds; nothing: zeros
    buffer_id state = nothing;    ///< the port that stands for the state
};

}  // namespace emmy::loop::fusion
