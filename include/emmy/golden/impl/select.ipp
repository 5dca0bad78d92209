#pragma once
#include <emmy/golden/select.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace emmy::golden {
namespace detail {

/// Sorted compact JSON of a map: equal maps have equal texts.
inline std::string sorted_text(map_view map) {
    std::vector<const json::member*> order;
    for (const json::member& m : map) order.push_back(&m);
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->key < b->key; });
    std::string out;
    json::writer w(out);
    w.begin_object();
    for (const json::member* m : order) w.key(m->key).copy(m->item);
    w.end_object();
    return out;
}

inline std::string listed(const std::set<std::string_view>& names) {
    std::string out;
    for (std::string_view name : names) out += (out.empty() ? "" : ", ") + std::string(name);
    return out;
}

/// Two kernels are one when their bodies have one identity; bodies without one are told apart by file and reference.
inline bool same_kernel(const match& a, const match& b) {
    const kernel_index ka = a.get().kernel, kb = b.get().kernel;
    if (a.file == b.file && ka == kb) return true;
    const auto ia = a.file->identity(ka), ib = b.file->identity(kb);
    return ia && ib && *ia == *ib;
}

/// Rows by exact name, else by a part of it.
inline std::vector<match> rows_named(std::span<const document* const> files, std::string_view name) {
    std::vector<match> exact, part;
    for (const document* file : files)
        for (row_index i = 0; i < file->rows().size(); ++i) {
            const std::string_view have = file->rows()[i].name;
            if (have == name) exact.push_back({file, i});
            else if (have.find(name) != have.npos) part.push_back({file, i});
        }
    return exact.empty() ? part : exact;
}

inline result<realization> realize(std::vector<match> rows, std::string_view asked) {
    std::set<std::string_view> names;
    for (const match& m : rows) names.insert(m.get().name);
    if (names.size() > 1)
        return refuse(fault_kind::user, "found " + std::to_string(names.size()) + " realizations whose name contains \"" + std::string(asked) + "\", expected one of: " + listed(names), "--realization");
    std::vector<match> kernels{rows.front()};
    for (const match& m : rows)
        if (std::none_of(kernels.begin(), kernels.end(), [&](const match& k) { return same_kernel(k, m); })) kernels.push_back(m);
    if (kernels.size() > 1) {
        std::string refs;
        for (const match& m : kernels) refs += (refs.empty() ? "" : ", ") + std::string(m.file->kernels()[m.get().kernel].ref());
        return refuse(fault_kind::user, "found rows named \"" + std::string(*names.begin()) + "\" on several kernels (" + refs + "), expected one kernel", "--realization");
    }
    realization out;
    out.name = *names.begin();
    out.kernel = rows.front().get().kernel;
    out.path = rows.front().file->path(out.kernel);
    out.root = rows.front().file->root(out.kernel);
    out.rows = std::move(rows);
    return out;
}

inline fault no_such_realization(std::span<const document* const> files, std::string_view name) {
    std::set<std::string_view> names;
    for (const document* file : files)
        for (const row& r : file->rows()) names.insert(r.name);
    const std::string where = files.size() == 1 && !files.front()->file().empty() ? files.front()->file() : std::string();
    return fault(fault_kind::user, "found no realization \"" + std::string(name) + "\", expected " + (names.empty() ? "a golden file with rows" : "one of: " + listed(names)), "--realization", where);
}
}  // namespace detail

EMMY_DECL std::vector<match> realization::pinned() const {
    std::vector<match> out;
    for (const match& m : rows)
        if (!(m.get().state() == row_state::latency_only && m.get().knobs.empty())) out.push_back(m);
    return out;
}

EMMY_DECL result<realization> select(std::span<const document* const> files, std::string_view name) {
    auto rows = detail::rows_named(files, name);
    if (name.empty() || rows.empty()) return refuse(detail::no_such_realization(files, name));
    return detail::realize(std::move(rows), name);
}

EMMY_DECL result<search> open_search(const std::string& named, const card_id& live) {
    search out;
    std::vector<std::string> taken;
    auto stage = [&](const std::vector<std::string>& paths) -> result<void> {
        std::vector<const document*> files;
        for (const std::string& path : paths) {
            if (std::find(taken.begin(), taken.end(), path) != taken.end()) continue;
            EMMY_TRY(file, load_in_place(path));
            taken.push_back(path);
            out.files.push_back(std::make_shared<const document>(std::move(file)));
            files.push_back(out.files.back().get());
        }
        if (!files.empty()) out.stages.push_back(std::move(files));
        return {};
    };
    EMMY_TRY(own, evidence_files(named, live));
    EMMY_CHECK_OK(stage(own));
    if (!named.empty()) return out;
    if (const std::string standard = standard_file(); !standard.empty()) EMMY_CHECK_OK(stage({standard}));
    if (own.empty()) EMMY_CHECK_OK(stage(repository_files()));
    return out;
}

EMMY_DECL result<realization> select(const search& in, std::string_view name) {
    // A full name in a later stage wins over a part of a name in an earlier one.
    for (const bool exact : {true, false})
        for (const auto& files : in.stages) {
            auto rows = detail::rows_named(files, name);
            if (name.empty() || rows.empty() || (exact && rows.front().get().name != name)) continue;
            return detail::realize(std::move(rows), name);
        }
    std::vector<const document*> all;
    for (const auto& files : in.stages) all.insert(all.end(), files.begin(), files.end());
    return refuse(detail::no_such_realization(all, name));
}

EMMY_DECL std::vector<walk_group> walk(const document& file) {
    std::vector<walk_group> out;
    std::map<std::pair<kernel_index, std::string>, std::size_t> known;
    for (row_index i = 0; i < file.rows().size(); ++i) {
        const row& r = file.rows()[i];
        const kernel_index root = file.root(r.kernel);
        std::string pins = detail::sorted_text(r.pins);
        const auto [at, fresh] = known.emplace(std::make_pair(root, pins), out.size());
        if (fresh) out.push_back({root, std::move(pins), {}, {}});
        out[at->second].rows.push_back(i);
    }
    for (walk_group& g : out) {
        bool on_target = false;
        for (row_index i : g.rows) on_target = on_target || file.rows()[i].kernel == g.root;
        for (row_index i : g.rows) {
            const std::string_view name = file.rows()[i].name;
            if (on_target && file.rows()[i].kernel != g.root) continue;
            if (g.name.empty() || name.size() < g.name.size() || (name.size() == g.name.size() && name < g.name)) g.name = name;
        }
    }
    return out;
}

}  // namespace emmy::golden
