#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/core/directory.hpp>
#include <emmy/core/file.hpp>
#include <emmy/device/cache.hpp>

#include <cstdlib>
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
    EMMY_CHECK_OK(make_directories(folder, fault_kind::device));
    if (auto written = write_file_atomically(path, detail::seal(key, bytes) + std::string(bytes)); !written) return refuse(fault_kind::device, written.error().message(), {}, path);
    return {};
}

}  // namespace emmy::device
