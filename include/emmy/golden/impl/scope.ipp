#pragma once
#include <emmy/core/card.hpp>
#include <emmy/core/file.hpp>
#include <emmy/golden/scope.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace emmy::golden {
namespace detail {
namespace fs = std::filesystem;

inline bool is_json(const fs::directory_entry& entry) {
    std::error_code ec;
    return entry.path().extension() == ".json" && entry.is_regular_file(ec);
}
inline void json_files_below(const fs::path& directory, std::vector<std::string>& into) {
    std::error_code ec;
    for (fs::recursive_directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec))
        if (is_json(*it)) into.push_back(it->path().string());
}
inline void json_files_in(const fs::path& directory, std::vector<std::string>& into) {
    std::error_code ec;
    for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec))
        if (is_json(*it)) into.push_back(it->path().string());
}
}  // namespace detail

EMMY_DECL std::string golden_directory() {
    namespace fs = std::filesystem;
    if (const char* named = std::getenv("EMMY_GOLDEN_DIR")) return named;
    std::error_code ec;
    fs::path at = fs::read_symlink("/proc/self/exe", ec);
    if (ec) return {};
    for (at = at.parent_path(); !at.empty(); at = at.parent_path()) {
        for (const char* place : {"share/emmy/goldens", "goldens"})
            if (fs::exists(at / place / "standard.json", ec)) return (at / place).string();
        if (at == at.root_path()) break;
    }
    return {};
}

EMMY_DECL std::vector<std::string> repository_files() {
    namespace fs = std::filesystem;
    std::vector<std::string> out;
    const std::string directory = golden_directory();
    if (directory.empty()) return out;
    detail::json_files_in(directory, out);
    std::error_code ec;
    for (fs::directory_iterator it(fs::path(directory).parent_path() / "recipes", ec), end; !ec && it != end; it.increment(ec))
        detail::json_files_in(it->path() / "golden", out);
    std::sort(out.begin(), out.end());
    return out;
}

EMMY_DECL std::string standard_file() {
    const std::string directory = golden_directory();
    std::error_code ec;
    const auto path = std::filesystem::path(directory) / "standard.json";
    return !directory.empty() && std::filesystem::exists(path, ec) ? path.string() : std::string();
}

EMMY_DECL bool is_repository_path(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code ec;
    const fs::path directory = fs::weakly_canonical(fs::path(path), ec).parent_path();
    if (ec) return false;
    const std::string home = golden_directory();
    if (!home.empty() && directory == fs::weakly_canonical(home, ec)) return true;
    return directory.filename() == "golden" && directory.parent_path().parent_path().filename() == "recipes";
}

EMMY_DECL result<std::string> opening_card(const std::string& path) {
    std::FILE* in = std::fopen(path.c_str(), "rb");
    if (!in) return refuse(fault_kind::input, "cannot open", {}, path);
    std::string line;
    char buffer[4096];
    while (line.find('\n') == line.npos && line.size() < (std::size_t{1} << 16)) {
        const std::size_t got = std::fread(buffer, 1, sizeof buffer, in);
        if (got == 0) break;
        line.append(buffer, got);
    }
    std::fclose(in);
    line.resize(std::min(line.find('\n'), line.size()));
    if (!line.empty() && line.back() == ',') {
        line.back() = '}';
        if (const auto opening = json::document::parse(line); opening && opening->root().size() == 1) {
            if (const json::value* name = opening->root().find("gpu_name"); name && name->is(json::kind::string)) return std::string(name->text());
            if (opening->root().find("compute_cap")) return std::string();
        }
    }
    // Another layout: a whole parse tells.
    EMMY_TRY(whole, document::load(path));
    return std::string(whole.head().gpu_name.value_or(""));
}

EMMY_DECL bool same_card(const header& file, const card_id& live) {
    if (file.compute_major != live.compute_major || file.compute_minor != live.compute_minor) return false;
    return !file.gpu_name || canonical_card_name(*file.gpu_name) == canonical_card_name(live.name);
}

EMMY_DECL result<std::vector<std::string>> evidence_files(const std::string& named, const card_id& live) {
    if (!named.empty()) return std::vector<std::string>{named};
    if (const char* file = std::getenv("EMMY_GOLDEN_FILE"))
        return *file ? std::vector<std::string>{file} : std::vector<std::string>{};
    std::vector<std::string> out;
    if (live.name.empty()) return out;
    for (const std::string& path : repository_files()) {
        EMMY_TRY(card, opening_card(path));
        if (!card.empty() && canonical_card_name(card) == canonical_card_name(live.name)) out.push_back(path);
    }
    return out;
}

EMMY_DECL result<std::vector<std::string>> expand(const std::vector<std::string>& paths) {
    namespace fs = std::filesystem;
    std::vector<std::string> out;
    if (paths.empty()) {
        out = repository_files();
        if (out.empty()) return refuse(fault_kind::input, "found no golden files of a repository or an installation, expected a path (or EMMY_GOLDEN_DIR)");
        return out;
    }
    for (const std::string& path : paths) {
        std::error_code ec;
        if (!fs::is_directory(path, ec)) {
            if (!fs::exists(path, ec)) return refuse(fault_kind::input, "found nothing there, expected a golden file or a directory", {}, path);
            out.push_back(path);
            continue;
        }
        std::vector<std::string> below;
        detail::json_files_below(path, below);
        if (below.empty()) return refuse(fault_kind::input, "found no *.json below the directory, expected golden files", {}, path);
        std::sort(below.begin(), below.end());
        out.insert(out.end(), below.begin(), below.end());
    }
    return out;
}

EMMY_DECL result<document> load_in_place(const std::string& path) {
    return document::load(path, is_repository_path(path) ? rules::repository : rules::working);
}

}  // namespace emmy::golden
