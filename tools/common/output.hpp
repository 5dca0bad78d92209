#pragma once
#include <emmy/core/result.hpp>
#include <common/options.hpp>

#include <string>
#include <string_view>

namespace emmy::tools {

/// Writes a finished text to --out (one step, atomically) or to stdout. Errors (input): cannot write; nothing half-written.
result<void> emit(const common_options& options, std::string_view text);

/// A file descriptor is a terminal.
bool is_terminal(int descriptor);

}  // namespace emmy::tools
