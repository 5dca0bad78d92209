#pragma once
#include <common/subject.hpp>

#include <string>
#include <utility>
#include <vector>

namespace emmy::tools {

/// --dump: one folder a kernel, <directory>/<kernel>/ with program.json (where one is known), body.json, and `texts` as (file name, text).
/// Errors (input): a folder or file that cannot be made.
result<void> dump_kernel(const std::string& directory, const subject& what, const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace emmy::tools
