#pragma once
#include <emmy/fork/structure/impl/cut.ipp>
#include <emmy/fork/structure/impl/relay.ipp>
#include <emmy/fork/structure/impl/split_site.hpp>
#include <emmy/fork/structure/options.hpp>
#include <emmy/knob/catalog/gpu.hpp>

namespace emmy::fork {
namespace structure {

inline knob::routing_row row_of(const std::vector<std::pair<std::string, std::string>>& choices) {
    std::vector<knob::knob_pair> pairs;
    for (const auto& [key, value] : choices) pairs.push_back({key, value});
    auto made = knob::routing_row::parse(pairs);
    return made ? *made : knob::routing_row{};
}

/// Every branch with its outputs, every contraction, and the folds that are evaluated once ahead of a sweep: where branches part the
/// outputs, but some branch has not exactly one fold. Fewer than two: none.
inline std::vector<std::size_t> full_projection(const forest& f, const std::vector<seam>& offered) {
    const auto parts = fold::closed::regions(f);
    if (parts.empty() || std::all_of(parts.begin(), parts.end(), [](const auto& r) { return r.producer != no_term; })) return {};
    const auto ahead = [&](const seam& s) {
        for (const auto& r : parts) {
            if (!below_of(f, r.operand, s.term)) continue;
            for (const std::uint32_t i : r.stores)
                for (const loop::axis& a : f.stores[i].sweeps)
                    if (!holds(f[s.term].free, a.name)) return true;
        }
        return false;
    };
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < offered.size(); ++i) {
        const seam& s = offered[i];
        const auto kind = f.kind(s.term);
        if (s.owned || kind == fold::term_kind::inner || (kind != fold::term_kind::map && ahead(s))) out.push_back(i);
    }
    return out.size() < 2 ? std::vector<std::size_t>{} : out;
}

inline structural_fork place_fork(const forest& f, const structural_request& request) {
    structural_fork out{"PLACE", {{}}};
    const std::vector<seam> offered = fold::closed::seams(f);
    const auto arm = [&](const std::vector<std::size_t>& which) {
        std::vector<std::pair<std::string, std::string>> keys;
        for (const std::size_t i : which) keys.emplace_back("PLACE@" + offered[i].address, "cut");
        const structural_arm made{row_of(keys)};
        for (const structural_arm& a : out.arms)
            if (a.row == made.row) return;
        out.arms.push_back(made);
    };
    for (std::size_t i = 0; i < offered.size(); ++i) arm({i});
    if (const auto full = full_projection(f, offered); !full.empty()) arm(full);
    for (const knob::routing_row& route : request.routes) {
        std::vector<std::size_t> named;
        bool all = route.size() > 0;
        for (const auto& c : route) {
            const auto at = c.family() == "PLACE" && c.value == "cut" ? cutter::find_seam(f, offered, c.address()) : std::nullopt;
            all = all && at;
            if (at) add_once(named, *at);
        }
        if (all && named.size() > 1) arm(named);
    }
    return out;
}

inline structural_fork layout_fork(const forest& f, const structural_request& request) {
    structural_fork out{"LAYOUT", {{}}};
    for (const std::string_view name : request.transposed) {
        const loop::buffer* b = input_of(f, name);
        if (!b || b->shape.size() != 2) continue;
        const auto reads = reads_of(f, b->name);
        if (!reads) continue;
        out.arms.push_back({row_of({{"LAYOUT@" + std::string(name), "source"}})});
        std::vector<std::pair<std::string, std::string>> alike;
        for (const std::string_view other : request.transposed) {
            const loop::buffer* o = input_of(f, other);
            if (o && o->shape.size() == 2 && reads_of(f, o->name) == reads) alike.emplace_back("LAYOUT@" + std::string(other), "source");
        }
        if (alike.size() > 1) out.arms.push_back({row_of(alike)});
        break;
    }
    return out;
}

inline structural_fork reduce_fork(const forest& f, const structural_request& request) {
    structural_fork out{"REDUCE", {{}}};
    const auto folds = fold_sites(f);
    for (const fold::closed::site& s : folds) {
        knob::split_facts facts = split_facts_of(f, s.term);
        facts.of_split = !request.splits;
        for (std::uint64_t i = 0; i < knob::gpu::splits.size(); ++i) {
            const auto row = knob::gpu::splits.unrank(i);
            if (row.get<knob::gpu::SPLIT>().crosses_ctas() && knob::check<knob::split_rules>(row, knob::no_target{}, facts))
                out.arms.push_back({row_of({{reduce_key(folds, s), std::string(knob::gpu::SPLIT::spell(row.get<knob::gpu::SPLIT>()).view())}})});
        }
    }
    return out;
}

}  // namespace structure

EMMY_DECL result<std::vector<structural_fork>> structural_options(const fold::kernel_form& k, const structural_request& request) {
    std::vector<structural_fork> out;
    const bool carried = k.terms.step != no_name;
    const auto offer = [&](structural_fork f) {
        if (f.arms.size() > 1) out.push_back(std::move(f));
    };
    if (!carried) {
        offer(structure::place_fork(k.terms, request));
        offer(structure::layout_fork(k.terms, request));
    }
    offer(structure::reduce_fork(k.terms, request));
    return out;
}

}  // namespace emmy::fork
