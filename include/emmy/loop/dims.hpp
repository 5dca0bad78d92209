#pragma once
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <vector>

namespace emmy::loop {

/// The symbols of a kernel in order of first appearance: shapes of inputs, then of outputs, then loops in statement order
/// (extents and window parents). Sizes of a launch are given in this order.
EMMY_DECL std::vector<name_id> symbols(const kernel& k);

/// The hint a symbol was first written with, or default_hint.
EMMY_DECL std::int64_t hint_of(const kernel& k, name_id symbol);

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/dims.ipp>
#endif
