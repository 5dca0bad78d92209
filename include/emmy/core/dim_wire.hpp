#pragma once
#include <emmy/core/expr.hpp>
#include <emmy/core/json.hpp>

/// The wire of a dimension, shared by traced programs and loop bodies: an int, {"sym":S,"hint":H} or {"expr":text,"hint":H}.
namespace emmy {

/// Errors (input): another JSON kind, an unknown key, an empty symbol, an expression that does not parse, a hint below 1.
EMMY_DECL result<dim> read_dim(const json::value& v, const json::path& where, expr_pool& exprs, text_pool& names);
EMMY_DECL void write_dim(json::writer& out, const dim& d, const expr_pool& exprs, const text_pool& names);
/// "512", "seq_len" or the expression's text: for messages and printed bodies.
EMMY_DECL std::string dim_text(const dim& d, const expr_pool& exprs, const text_pool& names);

/// The same extent whatever the hints say.
constexpr bool same_extent(const dim& a, const dim& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == dim::form::number) return a.number == b.number;
    return a.kind == dim::form::symbol ? a.symbol == b.symbol : a.value == b.value;
}
constexpr dim number_dim(std::int64_t n) { return {.kind = dim::form::number, .number = n}; }
constexpr dim symbol_dim(name_id symbol, std::int64_t hint = default_hint) { return {.kind = dim::form::symbol, .number = hint, .has_hint = true, .symbol = symbol}; }

}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/dim_wire.ipp>
#endif
