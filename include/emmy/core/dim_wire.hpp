#pragma once
#include <emmy/core/dim.hpp>
#include <emmy/core/json.hpp>

/// The wire of a dimension, shared by traced programs and loop bodies: an int, {"sym":S,"hint":H} or {"expr":text,"hint":H}.
namespace emmy {

/// Errors (input): another JSON kind, an unknown key, an empty symbol, an expression that does not parse, a hint below 1.
EMMY_DECL result<dim> read_dim(const json::value& v, const json::path& where, expr_pool& exprs, text_pool& names);
EMMY_DECL void write_dim(json::writer& out, const dim& d, const expr_pool& exprs, const text_pool& names);
/// "512", "seq_len" or the expression's text: for messages and printed bodies.
EMMY_DECL std::string dim_text(const dim& d, const expr_pool& exprs, const text_pool& names);

}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/dim_wire.ipp>
#endif
