#pragma once
#include <emmy/core/json.hpp>
#include <emmy/loop/body.hpp>

#include <string>

/// `loop_ir` of a golden file: one kernel as a program of input nodes and exactly one loop node.
namespace emmy::loop {

/// Statements inside statements, at most (the deepest stored body has 10 loops).
constexpr int max_nesting = 64;

/// Reads `{"inputs":[…],"outputs":[…],"nodes":[…]}`: form only, what the body means is checked by validate() (loop/validate.hpp).
/// Errors (input) carry the JSON path: unknown or missing field, unknown statement or operator, wrong type, bad expression (with offset),
/// node lists that do not agree with each other.
EMMY_DECL result<kernel> read_kernel(const json::value& loop_ir, const json::path& where = {});

/// Equal as JSON values to what was read (aliases of operators aside): fields at their default omitted, keys in the order
/// inputs, outputs, nodes / id, op, attrs, inputs, outputs.
EMMY_DECL void write_kernel(json::writer& out, const kernel& k);

/// Text forms of the two: what tests, fuzzers and tools use. `file` goes into faults.
EMMY_DECL result<kernel> parse_kernel(std::string_view loop_ir_text, std::string_view file = {});
EMMY_DECL std::string kernel_text(const kernel& k, json::writer::layout style = json::writer::layout::compact);

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/wire_read.ipp>
#include <emmy/loop/impl/wire_write.ipp>
#endif
