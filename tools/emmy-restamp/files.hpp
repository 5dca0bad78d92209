#pragma once
#include <common/table.hpp>
#include <emmy/golden.hpp>

#include <filesystem>
#include <memory>

namespace emmy::restamp {

/// The documents a verb works on, every one loaded before anything is printed or written.
struct files {
    std::vector<golden::document> documents;

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
        EMMY_TRY(file, golden::load_in_place(path));
        out.documents.push_back(std::move(file));
    }
    return out;
}

inline std::string stem(const golden::document& file) { return std::filesystem::path(file.file()).stem().string(); }

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

/// One cell for people (the stem) and machines (the path as given).
inline tools::cell file_cell(const golden::document& file) {
    std::string path;
    json::append_quoted(path, file.file());
    return tools::cell::json(std::move(path), stem(file));
}

inline std::string counted(std::size_t n, std::string_view what) { return std::to_string(n) + ' ' + std::string(what) + "(s)"; }

}  // namespace emmy::restamp
