#pragma once
#include <emmy/core/json.hpp>
#include <emmy/program/graph.hpp>

namespace emmy::program {

/// Reads one program: {"inputs", "outputs", "nodes"}. Errors (input), each with its path: an unknown or missing key or attribute, an
/// unknown operator or element type, a wrong JSON kind, a duplicate node id, an edge to nowhere, a wrong number of inputs, an attribute
/// written at its default, a size below 1, nodes out of canonical order, `inputs` that are not exactly the input nodes.
EMMY_DECL result<graph> read_program(const json::value& v, const json::path& where = {});
/// Writes it as it is read: canonical key order, defaults omitted, number kinds kept.
EMMY_DECL void write_program(json::writer& out, const graph& g);
/// The written attributes of one node, as an object.
EMMY_DECL void write_attributes(json::writer& out, const graph& g, const node& n);

}  // namespace emmy::program

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/impl/wire.ipp>
#endif
