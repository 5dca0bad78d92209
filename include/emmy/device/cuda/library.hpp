#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Finding CUDA's libraries at run time. A build needs none of them.
namespace emmy::device::cuda {

/// A loaded library. It stays loaded: drivers and compilers do not survive being unloaded.
class shared_library {
public:
    const std::string& path() const { return path_; }
    /// Null when it has no such function.
    EMMY_DECL void* find(const char* function) const;

    /// Loads the first of `sonames` that a folder of search_folders() holds, then the first that the system's loader knows. Errors (device):
    /// "no <what>: …", with every place that was tried.
    EMMY_DECL static result<shared_library> open(std::string_view what, const std::vector<std::string>& sonames);
    EMMY_DECL static result<shared_library> open_file(const std::string& path);

private:
    shared_library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
    void* handle_;
    std::string path_;
};

/// Folders that exist, in this order, each once: those of $EMMY_CUDA_PATH (separated by :),
/// $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /usr/local/cuda-*, the driver's own places, and what Python packages bring
/// (site-packages/nvidia/*/lib of $VIRTUAL_ENV, of the python3 on PATH and of the user).
EMMY_DECL std::vector<std::string> search_folders();

/// Files of these names in search_folders() and in the system's loader path, best first, each file once.
EMMY_DECL std::vector<std::string> find_all(const std::vector<std::string>& sonames);

}  // namespace emmy::device::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cuda_library.ipp>
#endif
