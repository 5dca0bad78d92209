#pragma once
#include <emmy/device/cuda/library.hpp>
#include <emmy/device/impl/cache.ipp>
#include <emmy/device/process.hpp>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::device::cuda {

namespace detail {

/// Folders that match, by name.
inline std::vector<std::string> matching(const std::string& pattern) {
    std::vector<std::string> out;
    glob_t found{};
    if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
        for (std::size_t i = 0; i < found.gl_pathc; ++i) {
            struct stat facts{};
            if (::stat(found.gl_pathv[i], &facts) == 0 && S_ISDIR(facts.st_mode)) out.emplace_back(found.gl_pathv[i]);
        }
    ::globfree(&found);
    std::sort(out.begin(), out.end());
    return out;
}

/// One file under several names is one file.
inline std::string resolved(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    std::string out = real ? real : "";
    std::free(real);
    return out;
}

}  // namespace detail

EMMY_DECL void* shared_library::find(const char* function) const { return ::dlsym(handle_, function); }

EMMY_DECL std::vector<std::string> search_folders() {
    std::vector<std::string> out;
    const auto add = [&](const std::string& pattern) {
        for (std::string& folder : detail::matching(pattern))
            if (std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(std::move(folder));
    };
    const auto toolkit = [&](const std::string& root) {
        if (root.empty()) return;
        for (const char* below : {"/lib64", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib", "/extras/CUPTI/lib64", "/lib", "", "/nvidia/*/lib"}) add(root + below);
    };
    if (const std::string named = device::detail::environment("EMMY_CUDA_PATH"); !named.empty()) {
        for (std::size_t at = 0; at <= named.size();) {
            const std::size_t end = std::min(named.find(':', at), named.size());
            toolkit(named.substr(at, end - at));
            at = end + 1;
        }
    }
    toolkit(device::detail::environment("CUDA_HOME"));
    toolkit(device::detail::environment("CUDA_PATH"));
    toolkit("/usr/local/cuda");
    std::vector<std::string> versions = detail::matching("/usr/local/cuda-*");
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) toolkit(*version);
    for (const char* folder : {"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib", "/usr/lib"}) add(folder);
    const auto python = [&](const std::string& prefix) {
        if (!prefix.empty()) add(prefix + "/lib/python3*/site-packages/nvidia/*/lib");
    };
    python(device::detail::environment("VIRTUAL_ENV"));
    if (const std::string program = find_program("python3"); !program.empty()) python(program.substr(0, program.rfind("/bin/")));
    if (const std::string home = device::detail::environment("HOME"); !home.empty()) python(home + "/.local");
    return out;
}

EMMY_DECL std::vector<std::string> find_all(const std::vector<std::string>& sonames) {
    std::vector<std::string> out, seen;
    const auto take = [&](const std::string& path) {
        const std::string real = detail::resolved(path);
        if (real.empty() || std::find(seen.begin(), seen.end(), real) != seen.end()) return;
        seen.push_back(real), out.push_back(path);
    };
    for (const std::string& folder : search_folders())
        for (const std::string& name : sonames)
            if (::access((folder + "/" + name).c_str(), R_OK) == 0) take(folder + "/" + name);
    for (const std::string& name : sonames)
        if (void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
            if (std::string origin(4096, '\0'); ::dlinfo(handle, RTLD_DI_ORIGIN, origin.data()) == 0) take(std::string(origin.c_str()) + "/" + name);
            ::dlclose(handle);
        }
    return out;
}

EMMY_DECL result<shared_library> shared_library::open_file(const std::string& path) {
    if (void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return shared_library(handle, path);
    const char* why = ::dlerror();
    return refuse(fault_kind::device, std::string("cannot load it: ") + (why ? why : "no reason given"), {}, path);
}

EMMY_DECL result<shared_library> shared_library::open(std::string_view what, const std::vector<std::string>& sonames) {
    std::string refused;
    for (const std::string& path : find_all(sonames)) {
        auto loaded = open_file(path);
        if (loaded) return loaded;
        refused += "; " + loaded.error().line();
    }
    std::string names, folders;
    for (const std::string& name : sonames) names += (names.empty() ? "" : ", ") + name;
    for (const std::string& folder : search_folders()) folders += (folders.empty() ? "" : ", ") + folder;
    return refuse(fault_kind::device, "found no " + std::string(what) + "; looked for " + names + " in " + (folders.empty() ? "no folder" : folders) + " and with the system's loader" + refused + "; EMMY_CUDA_PATH names another folder");
}

}  // namespace emmy::device::cuda
