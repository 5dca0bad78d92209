#pragma once
// The peer's real documents, loaded once a process, and what can be counted of one.
#include <emmy/core/file.hpp>
#include <emmy/golden.hpp>

#include <support/data.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace emmy::test {

struct peer_file {
    std::string name;  ///< below the folder of the files
    std::string text;
    golden::document document;
};

inline const std::vector<peer_file>& peer_documents() {
    static const std::vector<peer_file> files = [] {
        std::vector<peer_file> out;
        for (const auto& path : peer_goldens()) {
            auto file = golden::document::load(path.string());
            if (!file) {
                BOOST_ERROR(file.error().line());
                continue;
            }
            out.push_back({std::filesystem::relative(path, shared_data() / "golden").string(), read_file(path.string()).value(), std::move(*file)});
        }
        return out;
    }();
    return files;
}

inline json::document expected_counts() {
    return json::document::parse(read_file(EMMY_SOURCE_DIR "/test/interop/golden/expected.json").value()).value();
}

inline std::string sorted(golden::map_view map) {
    std::map<std::string, std::string> order;
    for (const json::member& m : map) {
        std::string text;
        json::writer(text).copy(m.item);
        order.emplace(m.key, text);
    }
    std::string out;
    for (const auto& [key, value] : order) out += key + '=' + value + ';';
    return out;
}

using counts = std::map<std::string, std::int64_t>;

inline counts count(const golden::document& file) {
    counts out;
    auto family = [](std::string_view key) { return key.substr(0, key.find('@')); };
    for (const char* name : {"formed", "targets", "keyed", "arms_PLACE", "arms_REDUCE", "arms_LAYOUT", "arm_keys", "measured", "proposals", "latency_only", "fast_math", "fast_math_measured", "fm_named_fast",
                             "fm_named_standard", "knob_WORK", "knob_RASTER", "knob_TILE", "knob_REDUCE", "knob_STAGE", "program_nodes"})
        out[name] = 0;
    out["programs"] = static_cast<std::int64_t>(file.programs().size());
    for (const json::value& program : file.programs()) out["program_nodes"] += static_cast<std::int64_t>(program.find("nodes")->size());
    out["kernels"] = static_cast<std::int64_t>(file.kernels().size());
    for (const auto& k : file.kernels()) out["formed"] += k.formed, out["targets"] += k.target(), out["keyed"] += !k.key.empty();
    out["decisions"] = static_cast<std::int64_t>(file.routing().size());
    for (const auto& d : file.routing()) ++out["arms_" + std::string(family(d.arm.front().key))], out["arm_keys"] += static_cast<std::int64_t>(d.arm.size());
    std::set<golden::kernel_index> with_row, measured;
    std::set<std::string> evidence;
    out["rows"] = static_cast<std::int64_t>(file.rows().size());
    for (const auto& r : file.rows()) {
        const bool is_measured = r.state() == golden::row_state::measured;
        out["measured"] += is_measured;
        out["proposals"] += r.state() == golden::row_state::proposal;
        out["latency_only"] += r.state() == golden::row_state::latency_only;
        out["fast_math"] += r.fast_math();
        out["fast_math_measured"] += r.fast_math() && is_measured;
        const std::string dotted = '.' + std::string(r.name) + '.';
        const bool named = dotted.find(".fm.") != dotted.npos;
        out["fm_named_fast"] += named && r.fast_math();
        out["fm_named_standard"] += named && !r.fast_math();
        with_row.insert(r.kernel);
        if (is_measured) {
            measured.insert(r.kernel);
            evidence.insert(std::to_string(r.kernel) + sorted(r.bindings) + '|' + sorted(r.pins) + '|' + sorted(r.knobs));
        }
        for (const auto& knob : r.knobs)
            if (const auto at = out.find("knob_" + std::string(family(knob.key))); at != out.end()) ++at->second;
    }
    out["kernels_with_row"] = static_cast<std::int64_t>(with_row.size());
    out["kernels_measured"] = static_cast<std::int64_t>(measured.size());
    out["evidence_keys"] = static_cast<std::int64_t>(evidence.size());
    const golden::document* one = &file;
    const std::span<const golden::document* const> scope(&one, 1);
    out["walk_groups"] = static_cast<std::int64_t>(golden::walk(file).size());
    out["list"] = static_cast<std::int64_t>(golden::list(scope, {}).size());
    out["behind"] = static_cast<std::int64_t>(golden::list(scope, {.behind = true}).size());
    const auto missing = golden::missing(scope, {});
    out["missing_emmy"] = std::count_if(missing.begin(), missing.end(), [](const auto& e) { return !e.tcompile; });
    out["missing_tcompile"] = std::count_if(missing.begin(), missing.end(), [](const auto& e) { return e.tcompile; });
    return out;
}

}  // namespace emmy::test
