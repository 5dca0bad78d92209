#pragma once
#include <emmy/golden/list.hpp>
#include <emmy/golden/select.hpp>

#include <algorithm>

namespace emmy::golden {

EMMY_DECL std::vector<list_entry> list(std::span<const document* const> files, const list_filter& filter) {
    std::vector<list_entry> out;
    auto contains = [](std::string_view text, const std::string& part) { return part.empty() || text.find(part) != text.npos; };
    for (const document* file : files)
        for (row_index i = 0; i < file->rows().size(); ++i) {
            const row& r = file->rows()[i];
            if (!contains(r.name, filter.kernel) && !contains(file->kernels()[r.kernel].ref(), filter.kernel)) continue;
            const std::string_view own = file->head().gpu_name.value_or("");
            bool own_listed = false;
            auto add = [&](list_entry e) {
                if (!contains(e.card, filter.card) || (filter.behind && !(e.vs_tcompile() > 1))) return;
                out.push_back(e);
            };
            for (const latency& block : r.latency) {
                const bool is_own = r.measurements && block.card == own;
                own_listed = own_listed || is_own;
                add({file, i, block.card, is_own, &block});
            }
            if (r.measurements && !own_listed) add({file, i, own, true, nullptr});
        }
    auto time = [](const list_entry& e) {
        const row& r = e.file->rows()[e.row];
        return e.own_card ? r.measurements->emmy_us.value : e.whole->emmy_us.value;
    };
    std::stable_sort(out.begin(), out.end(), [&](const list_entry& a, const list_entry& b) {
        if (a.vs_tcompile() != b.vs_tcompile()) return a.vs_tcompile() > b.vs_tcompile();
        return time(a) > time(b);
    });
    return out;
}

EMMY_DECL std::vector<missing_entry> missing(std::span<const document* const> files, const list_filter& filter) {
    std::vector<missing_entry> proposals, groups;
    for (const document* file : files) {
        if (!filter.card.empty() && file->head().gpu_name.value_or("").find(filter.card) == std::string_view::npos) continue;
        for (const walk_group& g : walk(*file)) {
            bool proposed = false, compared = false;
            row_index shortest = g.rows.front();
            for (row_index i : g.rows) {
                const row& r = file->rows()[i];
                const std::string_view best = file->rows()[shortest].name;
                if (r.name.size() < best.size() || (r.name.size() == best.size() && r.name < best)) shortest = i;
                for (const latency& block : r.latency) compared = compared || block.tcompile_us;
                if (r.state() != row_state::proposal) continue;
                proposed = true;
                proposals.push_back({file, i, false, !file->kernels()[r.kernel].target()});
            }
            if (!proposed && !compared) groups.push_back({file, shortest, true, !file->kernels()[file->rows()[shortest].kernel].target()});
        }
    }
    proposals.insert(proposals.end(), groups.begin(), groups.end());
    std::erase_if(proposals, [&](const missing_entry& e) { return e.file->rows()[e.row].name.find(filter.kernel) == std::string_view::npos; });
    return proposals;
}

}  // namespace emmy::golden
