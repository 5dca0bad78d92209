#pragma once
#include <emmy/core/expr.hpp>

/// Dimensions as values; their wire is core/dim_wire.hpp.
namespace emmy {

/// The same extent whatever the hints say.
constexpr bool same_extent(const dim& a, const dim& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == dim::form::number) return a.number == b.number;
    return a.kind == dim::form::symbol ? a.symbol == b.symbol : a.value == b.value;
}
constexpr dim number_dim(std::int64_t n) { return {.kind = dim::form::number, .number = n}; }
constexpr dim symbol_dim(name_id symbol, std::int64_t hint = default_hint) { return {.kind = dim::form::symbol, .number = hint, .has_hint = true, .symbol = symbol}; }

}  // namespace emmy
