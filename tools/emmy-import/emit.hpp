#pragma once
#include <emmy/core/file.hpp>
#include <emmy/golden/emit_header.hpp>

#include <filesystem>

/// `emmy-import FILE --emit-header OUT`: a golden file as a C++ header that the compiler checks.
namespace emmy::import {

struct emit_options {
    std::string out;         ///< the header; its name up to the first point is the namespace unless one is given
    std::string name_space;
    std::string target;      ///< "sm_90"; empty = the file's own
};

/// Errors (user): not exactly one file; what golden::header_text refuses.
inline result<void> emit_header(const std::vector<std::string>& paths, const emit_options& options) {
    if (paths.size() != 1) return refuse(fault_kind::user, "found " + std::to_string(paths.size()) + " sources, expected one golden file for a header", "SOURCE");
    EMMY_TRY(file, golden::document::load(paths.front()));
    std::string name = options.name_space;
    if (name.empty()) name = std::filesystem::path(options.out).filename().string(), name.erase(std::min(name.find('.'), name.size()));
    EMMY_TRY(text, golden::header_text(file, {name, options.target}));
    return write_file_atomically(options.out, text);
}

}  // namespace emmy::import
