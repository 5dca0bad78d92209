#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/core/file.hpp>
#include <emmy/device/cache.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::device {

namespace detail {
inline std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}
inline std::string seal(std::string_view key, std::string_view bytes) { return std::string(key) + " " + to_hex(xxh3_128(bytes)) + "\n"; }
}  // namespace detail

EMMY_DECL std::string cache_directory() {
    if (const std::string named = detail::environment("EMMY_CACHE_DIR"); !named.empty()) return named;
    if (const std::string xdg = detail::environment("XDG_CACHE_HOME"); xdg.starts_with("/")) return xdg + "/emmy";
    const std::string home = detail::environment("HOME");
    return home.empty() ? "/tmp/emmy-cache-" + std::to_string(::getuid()) : home + "/.cache/emmy";
}

EMMY_DECL bool make_directories(const std::string& path) {
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const std::string part = path.substr(0, at);
        if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) return false;
        if (at == std::string::npos) return true;
    }
}

EMMY_DECL std::optional<std::string> read_sealed(const std::string& path, std::string_view key) {
    auto whole = read_file(path);
    if (!whole) return {};
    const std::size_t line = whole->find('\n');
    if (line == std::string::npos) return {};
    std::string bytes = whole->substr(line + 1);
    if (whole->substr(0, line + 1) != detail::seal(key, bytes)) return {};
    return bytes;
}

EMMY_DECL result<void> write_sealed(const std::string& path, std::string_view key, std::string_view bytes) {
    const std::string folder = path.substr(0, path.rfind('/'));
    if (!make_directories(folder)) return refuse(fault_kind::device, std::string("cannot make the cache folder: ") + std::strerror(errno), {}, folder);
    if (auto written = write_file_atomically(path, detail::seal(key, bytes) + std::string(bytes)); !written) return refuse(fault_kind::device, written.error().message(), {}, path);
    return {};
}

}  // namespace emmy::device
