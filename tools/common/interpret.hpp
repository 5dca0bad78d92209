#pragma once
#include <common/subject.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace emmy::tools {

/// "name[i,j]" and its value.
using cell_list = std::vector<std::pair<std::string, double>>;

/// Some output cells of a kernel without any lowering, on inputs of this seed. An output whose cells take more than 10^8 evaluations
/// is left out, with a note. Errors: as of the interpreter.
result<cell_list> interpret_cells(const subject& what, std::uint64_t seed, std::vector<std::string>& notes);

}  // namespace emmy::tools
