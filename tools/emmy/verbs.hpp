#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace emmy::dispatch {

struct tool_line {
    std::string_view verb, about;
};
/// The tools in the order in which a newcomer meets them.
constexpr tool_line tools[] = {
    {"bench", "measure kernels, compare choices, record rows"},
    {"compile", "a program or realization to kernels, at any stage, with the reason of every choice"},
    {"import", "golden files, programs and stores into a store"},
    {"db", "check and read the evidence store"},
    {"restamp", "list, check and lay out golden files"},
};

inline std::string own_directory() {
    char path[4096];
    const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
    if (size <= 0) return {};
    std::string out(path, static_cast<std::size_t>(size));
    out.resize(out.rfind('/'));
    return out;
}

/// Path of emmy-<verb>: beside this program, else on $PATH; empty when there is none.
inline std::string find_tool(std::string_view verb, const std::string& beside, const char* search_path) {
    if (verb.empty() || verb.find('/') != verb.npos) return {};
    std::vector<std::string> places{beside};
    for (std::string_view rest = search_path ? search_path : ""; !rest.empty();) {
        const auto colon = rest.find(':');
        places.emplace_back(rest.substr(0, colon));
        rest = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
    }
    for (const std::string& place : places) {
        if (place.empty()) continue;
        std::string path = place + "/emmy-" + std::string(verb);
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return {};
}

}  // namespace emmy::dispatch
