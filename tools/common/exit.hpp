#pragma once
#include <emmy/core/result.hpp>

#include <string_view>

namespace emmy::tools {

/// What a tool ends with; faults carry their own (emmy::exit_code).
enum exit : int { exit_fine = 0, exit_finding = 1, exit_usage = 2, exit_input = 3, exit_device = 4, exit_store = 5, exit_internal = 70 };

/// One line "<tool>: <place>: <what>" on stderr (line breaks and control bytes of hostile texts spelled as \n, \xNN); returns the fault's exit code.
int report(std::string_view tool, const fault& f);
/// "<tool>: note: <text>" on stderr.
void note(std::string_view tool, std::string_view text);

}  // namespace emmy::tools
