#pragma once
#include <common/table.hpp>
#include <emmy/golden.hpp>

#include <filesystem>
#include <map>
#include <memory>

namespace emmy::restamp {

/// The documents a verb works on, every one loaded before anything is printed or written.
struct files {
    std::vector<golden::document> documents;
    std::vector<fault> bad;  ///< what cannot be read: the others count all the same
    std::vector<std::string> names;  ///< of the documents, for people: the shortest ending of the path that no other file has

    void name_all() {
        std::map<std::string, int> taken;
        for (const auto& d : documents)
            for (const std::string& n : endings(d.file())) ++taken[n];
        for (const auto& d : documents) {
            names.emplace_back();
            for (std::string& n : endings(d.file())) {
                names.back() = std::move(n);
                if (taken[names.back()] == 1) break;
            }
        }
    }
    /// "a", "dir/a", "over/dir/a" of over/dir/a.json.
    static std::vector<std::string> endings(const std::string& file) {
        const std::filesystem::path path(file);
        std::vector<std::string> out{path.stem().string()};
        for (auto at = path.parent_path(); !at.filename().empty(); at = at.parent_path()) out.push_back((at.filename() / out.back()).string());
        return out;
    }

    std::vector<const golden::document*> views() const {
        std::vector<const golden::document*> out;
        for (const auto& d : documents) out.push_back(&d);
        return out;
    }
};

inline result<files> open(const std::vector<std::string>& paths) {
    files out;
    EMMY_TRY(expanded, golden::expand(paths));
    for (const std::string& path : expanded) {
        auto file = golden::load_in_place(path);
        file ? out.documents.push_back(std::move(*file)) : out.bad.push_back(file.error());
    }
    out.name_all();
    return out;
}

/// A map as compact JSON, key order kept.
inline tools::cell map_cell(golden::map_view map) {
    std::string out;
    json::writer w(out);
    w.begin_object();
    for (const json::member& m : map) w.key(m.key).copy(m.item);
    w.end_object();
    return tools::cell::json(std::move(out));
}
inline tools::cell text_cell(const std::optional<std::string_view>& text) { return text ? tools::cell::text(*text) : tools::cell(); }
inline tools::cell time_cell(const golden::quantity& q) { return q ? tools::cell::real(q.value) : tools::cell(); }

/// One cell for people (the shortest distinct name) and machines (the path as given).
inline tools::cell file_cell(const files& in, const golden::document& file) {
    std::string path;
    json::append_quoted(path, file.file());
    return tools::cell::json(std::move(path), in.names[static_cast<std::size_t>(&file - in.documents.data())]);
}

inline std::string counted(std::size_t n, std::string_view what) { return std::to_string(n) + ' ' + std::string(what) + "(s)"; }

}  // namespace emmy::restamp
