#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <string>
#include <vector>

namespace emmy::device {

struct process_result {
    int exit_code = 0;        ///< -1 when a signal ended it
    int signal = 0;
    bool overran = false;     ///< killed at the time limit
    std::string output;       ///< stdout and stderr together, at most 64 KiB of its beginning
};

/// Runs a program (argv[0] is searched on PATH) with its output captured and nothing inherited but the environment, which is
/// forced to LC_ALL=C. Killed after `seconds`. Errors (device): it could not be started.
EMMY_DECL result<process_result> run_process(const std::vector<std::string>& arguments, double seconds);

/// First executable regular file of that name on PATH ("" if none); a name with a slash is checked as it is.
EMMY_DECL std::string find_program(const std::string& name);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/process.ipp>
#endif
