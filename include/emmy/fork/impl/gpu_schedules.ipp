#pragma once
#include <emmy/fork/gpu/schedules.hpp>

#include <emmy/fork/gpu/kernel_rules.hpp>
#include <emmy/fork/impl/gpu_kernel.ipp>
#include <emmy/knob/agree.hpp>
#include <emmy/knob/catalog.hpp>
#include <emmy/knob/pin.hpp>
#include <emmy/knob/row_text.hpp>

#include <algorithm>
#include <mutex>

namespace emmy::fork {
namespace gpu::detail {

/// What one site may do: its tile or the way its reduced axis is shared, and the WORK that this takes. Without a claim any WORK of another
/// site goes.
struct site_choice {
    bool claims = false;
    work claim{};
    tile t{};
    reduce d{};
};

constexpr bool is_offered(const gpu_offer& offer, atom a) {
    const atom_facts& f = facts(a);
    if (!offer.f16_accumulators && f.result == dtype::f16) return false;
    return offer.fp8 || (f.operand != dtype::f8e4m3 && f.operand != dtype::f8e5m2);
}

/// Edit distance, for "did you mean".
inline std::size_t text_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t best = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = row[j], row[j] = best;
        }
    }
    return row[b.size()];
}

}  // namespace gpu::detail

struct gpu_schedules::state {
    gpu::kernel k;
    knob::target t;
    gpu_offer offer;
    knob::schedule_row pins{};
    bool homeless = false;            ///< a pin of a family that the kernel has no place for
    bool bare_over_sites = false;     ///< a bare pin of a family with several sites: asked of whole rows
    std::vector<std::vector<gpu::detail::site_choice>> choices{};  ///< per site, in order

    /// Choices that go together, one per site; in lexicographic order. Made when first asked for.
    mutable std::once_flag made{};
    mutable std::vector<std::uint32_t> combos{};
    mutable std::vector<std::uint64_t> before{};  ///< rows before each; one more at the end

    state(gpu::kernel facts, const knob::target& target, const gpu_offer& what, const knob::schedule_row& pinned)
        : k(std::move(facts)), t(target), offer(what), pins(pinned) {
        using namespace knob;
        schedule_row::families::each([&]<class F>() {
            if constexpr (F::where == scope::node) {
                const auto bare = pins.get<F>();
                bare_over_sites |= bare && gpu::sites_with<F>(k) > 1;
                homeless |= bare && gpu::sites_with<F>(k) == 0 && !(*bare == F::off);
            }
        });
        for (const gpu::site& s : k.sites) choices.push_back(choices_at(s));
    }

    template <class F>
    std::optional<typename F::value_type> pin_at(const gpu::site& s) const {
        if (!gpu::has_family<F>(s)) return std::nullopt;
        if (const auto routed = pins.get<F>(s.at)) return routed;
        return pins.get<F>();
    }
    /// Does a value go with the pins at a site? Over several sites a bare pin leaves OFF open.
    template <class F>
    bool goes(const gpu::site& s, const typename F::value_type& value) const {
        const auto wanted = pin_at<F>(s);
        if (!wanted || value == *wanted) return true;
        return !pins.get<F>(s.at) && gpu::sites_with<F>(k) > 1 && value == F::off;
    }
    bool goes(const knob::work& w) const {
        const auto wanted = pins.get<knob::WORK>();
        return !wanted || *wanted == w;
    }

    std::vector<gpu::detail::site_choice> choices_at(const gpu::site& s) const {
        using namespace knob;
        std::vector<gpu::detail::site_choice> out;
        const gpu::place here = gpu::place_of(k, s);
        const auto add = [&](const gpu::detail::site_choice& c) {
            if (!goes<TILE>(s, c.t) || !goes<REDUCE>(s, c.d)) return;
            const auto wanted = pins.get<WORK>();
            if (wanted && c.claims) {
                work base = *wanted;
                base.producers = 0;
                const bool packed = c.d.coop != coop_mode::none && base.form == work_form::threads && base.n == c.claim.n;
                if (!(base == c.claim) && !packed) return;
            }
            const knob::row<WORK, TILE, REDUCE> part(c.claims ? c.claim : work{}, c.t, c.d);
            // Rules of the node: of the stage nothing is said yet, and one that is not there breaks none but those that ask for one.
            if (rules<gpu::R2, gpu::R3, gpu::R4, gpu::R5, gpu::R6n, gpu::A2, gpu::A3, gpu::A4, gpu::T1, gpu::T2, gpu::T3c, gpu::T4, gpu::T7>::first(part, t, here)) return;
            if (rules<knob::gpu::R1, knob::gpu::R6, knob::gpu::A1, knob::gpu::T3, knob::gpu::T3r>::first(part, t)) return;
            out.push_back(c);
        };
        const auto reduces = [&] {
            if (!s.has_reduce) return add({});
            knob::gpu::reduces(t).each([&](const knob::row<WORK, REDUCE>& r) {
                const reduce& d = r.get<REDUCE>();
                add({d.coop != coop_mode::none, r.get<WORK>(), {}, d});
            });
            const auto wanted = pin_at<REDUCE>(s);  // by name only: coop/v2, v4, v8
            if (wanted && wanted->coop == coop_mode::interleaved && wanted->accumulators == 1 && (wanted->vector == 2 || wanted->vector == 4 || wanted->vector == 8))
                catalog::rows_of_threads.each([&](const knob::row<WORK>& w) { add({true, w.get<WORK>(), {}, *wanted}); });
        };
        if (s.tiles()) {
            const auto wanted = pin_at<TILE>(s);
            for (std::size_t i = 0; i < atom_table.size(); ++i) {
                const auto a = static_cast<atom>(i);
                const bool pinned = wanted && wanted->is_warp() && wanted->atom == a;  // a hand passes the policy of precision
                if (!offers(t.cc, a) || !(gpu::detail::is_offered(offer, a) || pinned)) continue;
                (knob::gpu::warp_tiles(a, t) % holds<gpu::A2, gpu::A3, gpu::A4, gpu::T1, gpu::T2>(t, here)).each([&](const knob::row<WORK, TILE>& r) { add({true, r.template get<WORK>(), r.template get<TILE>(), {}}); });
            }
            knob::gpu::scalar_tiles.each([&](const knob::row<WORK, TILE>& r) {
                if (r.get<TILE>() == TILE::off) reduces();
                else add({true, r.get<WORK>(), r.get<TILE>(), {}});
            });
        } else if (s.has_tile) {
            knob::gpu::strips.each([&](const knob::row<TILE>& r) {
                const bool strip = !(r.get<TILE>() == TILE::off);
                add({strip, {}, r.get<TILE>(), {}});
            });
        } else {
            reduces();
        }
        return out;
    }

    /// Stages of a tiled site in the order of its form, cut where the ring no longer fits.
    std::vector<knob::stage> stages_at(const gpu::site& s, const gpu::detail::site_choice& c) const {
        using namespace knob;
        std::vector<stage> out;
        if (!s.tiles()) return out;
        const gpu::place here = gpu::place_of(k, s);
        const auto add = [&](const stage& v) {
            if (!goes<STAGE>(s, v) || std::find(out.begin(), out.end(), v) != out.end()) return;
            if (v.uses_smem() && gpu::path_of(s, c.t) != gpu::path::scalar && v.depth > gpu::slab_of(s, c.t, c.claim, v.by, here.score).deepest(t.limits.dynamic_smem_bytes)) return;
            const knob::row<WORK, TILE, REDUCE, STAGE> part(knob::detail::as_is{}, c.claims ? c.claim : work{}, c.t, c.d, v);
            if (gpu::site_rules::first(part, t, here) || rules<knob::gpu::G1, knob::gpu::G2, knob::gpu::G3, knob::gpu::G4, knob::gpu::G6>::first(part, t)) return;
            out.push_back(v);
        };
        if (c.t == TILE::off) {
            add({});
            return out;
        }
        const auto whole = [&](auto&& takes) {
            knob::gpu::stages(t).each([&](const knob::row<STAGE>& r) {
                if (takes(r.template get<STAGE>())) add(r.template get<STAGE>());
            });
        };
        const gpu::path path = gpu::path_of(s, c.t);
        if (path == gpu::path::fill || path == gpu::path::bytes || (path == gpu::path::copy && s.channels > 1)) {
            add({transport::smem, 1, 1}), add({transport::smem, 2, 1});
            if (path == gpu::path::fill) whole([](const stage& v) { return v.by == transport::tma && v.depth <= 2; });
            else whole([](const stage& v) { return v.by != transport::direct; });
            if (path == gpu::path::bytes) add({});
        } else if (path == gpu::path::packed && s.channels > 1) {
            whole([](const stage& v) { return v.by == transport::async || v.by == transport::tma; });
        } else {
            whole([](const stage&) { return true; });
        }
        return out;
    }

    /// The choices of all sites as a row without stages and RASTER; false where they do not go together.
    bool joined(const std::vector<std::uint32_t>& chosen, knob::schedule_row& out) const {
        using namespace knob;
        out = {};
        work claim;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const gpu::detail::site_choice& c = choices[i][chosen[i]];
            const gpu::site& s = k.sites[i];
            if (c.claims) claim = c.claim;
            if (s.has_tile) out.set<TILE>(c.t, gpu::key_of<TILE>(k, s));
            if (s.has_reduce) out.set<REDUCE>(c.d, gpu::key_of<REDUCE>(k, s));
            if (s.has_stage) out.set<STAGE>({}, gpu::key_of<STAGE>(k, s));
        }
        out.set<WORK>(claim).set<RASTER>({});
        return !rules<gpu::K7, gpu::K8, gpu::K9, gpu::T5>::first(out, t, k);
    }

    /// Rows of one combination: stages of the tiled sites, then WORK, then RASTER.
    struct block {
        knob::schedule_row base;
        std::vector<std::size_t> tiled;                  ///< sites with stages
        std::vector<std::vector<knob::stage>> stages;    ///< of each
        std::vector<knob::work> works;                   ///< with smem-tma everywhere; else those without producers
        std::vector<knob::raster> rasters;
        std::size_t plain_works = 0;                     ///< works without producers
    };
    block block_of(const std::vector<std::uint32_t>& chosen) const {
        using namespace knob;
        block out;
        if (!joined(chosen, out.base)) return out;
        bool tiled = false, claimed = false, packs = false;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const gpu::detail::site_choice& c = choices[i][chosen[i]];
            claimed |= c.claims;
            packs |= c.d.coop == coop_mode::interleaved;
            if (!k.sites[i].tiles()) continue;
            std::vector<stage> list = stages_at(k.sites[i], c);
            if (k.sites[i].chunked)
                std::erase_if(list, [&](const stage& v) {
                    schedule_row with = out.base;
                    return static_cast<bool>(gpu::T6::test(with.set<STAGE>(v, gpu::key_of<STAGE>(k, k.sites[i])), t, k));
                });
            tiled |= !(c.t == TILE::off);
            out.tiled.push_back(i), out.stages.push_back(std::move(list));
        }
        const work claim = out.base.value<WORK>();
        const auto take = [&](const work& w, bool plain) {
            if (!goes(w)) return;
            const schedule_row with = schedule_row(out.base).set<WORK>(w);
            if (rules<knob::gpu::K1, knob::gpu::K2, knob::gpu::K4, gpu::K4s, gpu::K6f>::first(with, t, k)) return;
            if (!tiled && rules<knob::gpu::K3>::first(with, t, k)) return;
            out.works.push_back(w);
            out.plain_works += plain;
        };
        take(claim, true);
        if (!claimed && k.sweepable)
            for (const std::uint16_t n : {128, 16, 256, 32, 4, 512, 64, 8}) take({work_form::threads, 1, n, 0}, true);
        if (claimed && packs && claim.n <= 32 && claim.m == 1) take({work_form::threads, static_cast<std::uint16_t>(128 / claim.n), claim.n, 0}, true);
        if (claim.form == work_form::warps)
            for (const std::uint16_t p : {1, 2}) take({work_form::warps, claim.m, claim.n, p}, false);
        const auto wanted = pins.get<RASTER>();
        const auto raster_of = [&](const raster& r) {
            if (!wanted || *wanted == r) out.rasters.push_back(r);
        };
        raster_of({});
        if (tiled) {
            raster_of({raster_axis::m, 8});
            if (wanted && (*wanted == raster{raster_axis::n, 4} || *wanted == raster{raster_axis::n, 8})) raster_of(*wanted);
        }
        return out;
    }
    static bool all_tma(const block& b, const std::vector<std::size_t>& at) {
        bool out = !at.empty();
        for (std::size_t i = 0; i < at.size(); ++i) {
            const knob::stage& v = b.stages[i][at[i]];
            out = out && v.by == knob::transport::tma;
        }
        return out;
    }
    /// Calls f(row) for each row of a block until it says false.
    template <class Function>
    bool each(const block& b, Function&& f) const {
        using namespace knob;
        for (const auto& list : b.stages)
            if (list.empty()) return true;
        std::vector<std::size_t> at(b.stages.size(), 0);
        for (;;) {
            schedule_row r = b.base;
            bool packable = true;
            for (std::size_t i = 0; i < at.size(); ++i) {
                r.set<STAGE>(b.stages[i][at[i]], gpu::key_of<STAGE>(k, k.sites[b.tiled[i]]));
                packable = packable && b.stages[i][at[i]] == STAGE::off;
            }
            for (const work& w : b.works) {
                if (w.producers != 0 && !all_tma(b, at)) continue;
                r.set<WORK>(w);
                for (const raster& order : b.rasters) {
                    r.set<RASTER>(order);
                    if (bare_over_sites && !honours(r, pins)) continue;
                    if (!f(r)) return false;
                }
            }
            std::size_t i = at.size();
            while (i > 0 && ++at[i - 1] == b.stages[i - 1].size()) at[--i] = 0;
            if (i == 0) return true;
        }
    }
    std::uint64_t count(const block& b) const {
        if (b.works.empty() || b.rasters.empty()) return 0;
        if (bare_over_sites) {
            std::uint64_t out = 0;
            each(b, [&](const knob::schedule_row&) { return ++out, true; });
            return out;
        }
        std::uint64_t all = 1, tma = b.stages.empty() ? 0 : 1;
        for (const auto& list : b.stages) {
            all *= list.size();
            tma *= static_cast<std::uint64_t>(std::count_if(list.begin(), list.end(), [](const knob::stage& v) { return v.by == knob::transport::tma; }));
        }
        return (all * b.plain_works + tma * (b.works.size() - b.plain_works)) * b.rasters.size();
    }

    /// Calls f(choices) for each combination in order until it says false: sites whose claims differ are never completed.
    template <class Function>
    bool combine(Function&& f, std::vector<std::uint32_t>& chosen, bool claimed, const knob::work& claim) const {
        const std::size_t i = chosen.size();
        if (i == choices.size()) return f(chosen);
        for (std::uint32_t c = 0; c < choices[i].size(); ++c) {
            const gpu::detail::site_choice& one = choices[i][c];
            if (one.claims && claimed && !(one.claim == claim)) continue;
            chosen.push_back(c);
            const bool go = combine(f, chosen, claimed || one.claims, one.claims ? one.claim : claim);
            chosen.pop_back();
            if (!go) return false;
        }
        return true;
    }
    template <class Function>
    void combine(Function&& f) const {
        std::vector<std::uint32_t> chosen;
        if (!homeless) combine(f, chosen, false, {});
    }
    void make() const {
        std::call_once(made, [&] {
            std::uint64_t rows = 0;
            combine([&](const std::vector<std::uint32_t>& chosen) {
                const std::uint64_t here = count(block_of(chosen));
                if (here == 0) return true;
                combos.insert(combos.end(), chosen.begin(), chosen.end());
                before.push_back(rows);
                rows += here;
                return true;
            });
            before.push_back(rows);
        });
    }
    std::vector<std::uint32_t> combo(std::size_t i) const {
        const std::size_t n = choices.size();
        return {combos.begin() + static_cast<std::ptrdiff_t>(i * n), combos.begin() + static_cast<std::ptrdiff_t>((i + 1) * n)};
    }

    /// The choices that a row makes, where they are offered.
    std::optional<std::vector<std::uint32_t>> choices_of(const knob::schedule_row& r) const {
        using namespace knob;
        std::vector<std::uint32_t> out;
        work w = r.value<WORK>();
        w.producers = 0;
        for (std::size_t i = 0; i < k.sites.size(); ++i) {
            const tile t_ = gpu::value_at<TILE>(r, k, k.sites[i]);
            const reduce d = gpu::value_at<REDUCE>(r, k, k.sites[i]);
            std::uint32_t c = 0;
            for (; c < choices[i].size(); ++c) {
                const gpu::detail::site_choice& one = choices[i][c];
                if (!(one.t == t_) || !(one.d == d)) continue;
                const bool packed = d.coop != coop_mode::none && w.form == work_form::threads && w.n == one.claim.n;
                if (!one.claims || one.claim == w || packed) break;
            }
            if (c == choices[i].size()) return std::nullopt;
            out.push_back(c);
        }
        return out;
    }
    /// Is a row among those of its combination? Without the table of combinations.
    bool has(const knob::schedule_row& row) const {
        const auto chosen = choices_of(row);
        if (!chosen || homeless) return false;
        bool found = false;
        each(block_of(*chosen), [&](const knob::schedule_row& r) { return !(found = r == row); });
        return found;
    }
    /// Every family of every site; what the row lacks is OFF. Cosmetic families and the carry's place are other decisions.
    knob::schedule_row complete(const knob::schedule_row& r) const {
        using namespace knob;
        schedule_row out;
        out.set<WORK>(r.value<WORK>()).set<RASTER>(r.value<RASTER>());
        for (const gpu::site& s : k.sites) {
            if (s.has_tile) out.set<TILE>(gpu::value_at<TILE>(r, k, s), gpu::key_of<TILE>(k, s));
            if (s.has_reduce) out.set<REDUCE>(gpu::value_at<REDUCE>(r, k, s), gpu::key_of<REDUCE>(k, s));
            if (s.has_stage) out.set<STAGE>(gpu::value_at<STAGE>(r, k, s), gpu::key_of<STAGE>(k, s));
        }
        return out;
    }
};

EMMY_DECL result<gpu_schedules> gpu_schedules::make(const fold::kernel_form& k, const knob::target& target, const gpu_offer& offer) {
    if (target.cc.is_cpu()) return refuse(fault_kind::device_limit, "schedules of a GPU: found a processor, expected a card's compute capability");
    return make(gpu::facts_of(k), target, offer);
}
EMMY_DECL gpu_schedules gpu_schedules::make(gpu::kernel facts, const knob::target& target, const gpu_offer& offer) {
    gpu_schedules out;
    out.state_ = std::make_shared<const state>(std::move(facts), target, offer, knob::schedule_row{});
    return out;
}
EMMY_DECL const gpu::kernel& gpu_schedules::kernel() const { return state_->k; }
EMMY_DECL const knob::target& gpu_schedules::target() const { return state_->t; }

EMMY_DECL std::uint64_t gpu_schedules::size() const {
    state_->make();
    return state_->before.back();
}
EMMY_DECL bool gpu_schedules::single() const {
    int seen = 0;
    state_->combine([&](const std::vector<std::uint32_t>& chosen) {
        return state_->each(state_->block_of(chosen), [&](const knob::schedule_row&) { return ++seen < 2; });
    });
    return seen == 1;
}
EMMY_DECL knob::schedule_row gpu_schedules::unrank(std::uint64_t i) const {
    state_->make();
    knob::schedule_row out;
    if (i >= state_->before.back()) return out;
    const auto at = std::upper_bound(state_->before.begin(), state_->before.end(), i) - state_->before.begin() - 1;
    std::uint64_t left = i - state_->before[static_cast<std::size_t>(at)];
    state_->each(state_->block_of(state_->combo(static_cast<std::size_t>(at))), [&](const knob::schedule_row& r) { return left-- == 0 ? (out = r, false) : true; });
    return out;
}
EMMY_DECL std::optional<std::uint64_t> gpu_schedules::rank(const knob::schedule_row& row) const {
    const auto chosen = state_->choices_of(row);
    if (!chosen) return std::nullopt;
    state_->make();
    const std::size_t n = state_->choices.size(), combos = state_->before.size() - 1;
    std::size_t low = 0, high = combos;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        state_->combo(middle) < *chosen ? void(low = middle + 1) : void(high = middle);
    }
    if (low == combos || (n > 0 && state_->combo(low) != *chosen)) return std::nullopt;
    std::uint64_t place = state_->before[low];
    bool found = false;
    state_->each(state_->block_of(*chosen), [&](const knob::schedule_row& r) { return r == row ? !(found = true) : (++place, true); });
    if (!found) return std::nullopt;
    return place;
}
EMMY_DECL bool gpu_schedules::contains(const knob::schedule_row& row) const { return state_->has(row); }
EMMY_DECL result<knob::schedule_row> gpu_schedules::first() const {
    std::optional<knob::schedule_row> out;
    state_->combine([&](const std::vector<std::uint32_t>& chosen) {
        return state_->each(state_->block_of(chosen), [&](const knob::schedule_row& r) { return out = r, false; });
    });
    if (!out) return refuse(fault_kind::user, "schedule: no row of this kernel, expected one at least" + std::string(state_->pins.empty() ? "" : " (pins " + knob::pin_text(state_->pins) + " leave none)"));
    return *out;
}
EMMY_DECL std::vector<knob::finding> gpu_schedules::findings(const knob::schedule_row& row) const {
    using namespace knob;
    std::vector<finding> out;
    const gpu::kernel& k = state_->k;
    const auto add = [&](const finding& f) {
        if (std::none_of(out.begin(), out.end(), [&](const finding& there) { return there.id == f.id; })) out.push_back(f);
    };
    if (const finding keys = judge<gpu::W2>(row, state_->t, k)) return {keys};  // of other sites nothing can be said
    for (const finding& f : knob::gpu::schedule_rules::all(row, state_->t)) add(f);
    for (const finding& f : gpu::kernel_rules::all(row, state_->t, k)) add(f);
    for (const gpu::site& s : k.sites)
        for (const finding& f : gpu::site_rules::all(gpu::part_at(row, k, s), state_->t, gpu::place_of(k, s))) add(f);
    return out;
}
EMMY_DECL knob::finding gpu_schedules::check(const knob::schedule_row& row) const {
    const auto all = findings(row);
    return all.empty() ? knob::finding{} : all.front();
}
EMMY_DECL result<knob::schedule_row> gpu_schedules::row(std::span<const std::pair<std::string, std::string>> pairs) const {
    std::vector<knob::knob_pair> views;
    for (const auto& [key, value] : pairs) views.push_back({key, value});
    auto read = knob::schedule_row::parse(std::span<const knob::knob_pair>(views));
    if (!read) return refuse(fault_kind::user, read.error().line());
    if (const knob::finding keys = knob::judge<gpu::W2>(*read, state_->t, state_->k)) return refuse(fault_kind::user, keys.sentence().str());
    const knob::schedule_row whole = state_->complete(*read);
    if (const knob::finding why = check(whole)) return refuse(fault_kind::user, why.sentence().str());
    return whole;
}
EMMY_DECL std::optional<knob::schedule_row> gpu_schedules::option_for(std::span<const std::pair<std::string, std::string>> measured) const {
    using namespace knob;
    std::vector<knob_pair> views;
    for (const auto& [key, value] : measured) views.push_back({key, value});
    const auto read = schedule_row::parse(std::span<const knob_pair>(views), row_check::values_alone);
    if (!read) return std::nullopt;
    // A bare key where the family has several sites: each of them may be meant.
    std::vector<schedule_row> meant{*read};
    schedule_row::families::each([&]<class F>() {
        if constexpr (F::where == scope::node) {
            const auto bare = read->get<F>();
            if (!bare || gpu::sites_with<F>(state_->k) < 2) return;
            std::vector<schedule_row> more;
            for (const schedule_row& r : meant)
                for (const gpu::site& s : state_->k.sites)
                    if (gpu::has_family<F>(s)) more.push_back(schedule_row(r).set<F>(*bare, s.at));
            if (more.size() <= 64) meant = std::move(more);
        }
    });
    for (const schedule_row& r : meant) {
        const schedule_row whole = state_->complete(r);
        if (!agrees(whole, *read) || !state_->has(whole)) continue;
        return whole;
    }
    return std::nullopt;
}
EMMY_DECL std::vector<std::pair<std::string, std::string>> gpu_schedules::pairs(const knob::schedule_row& row) const {
    std::vector<std::pair<std::string, std::string>> out;
    row.each([&](std::string_view key, std::string_view value) { out.emplace_back(key, value); });
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
        const int left = knob::canonical_rank(a.first), right = knob::canonical_rank(b.first);
        return left != right ? left < right : a.first < b.first;
    });
    return out;
}

namespace gpu::detail {
/// Values of a family that some row of these schedules has, in order.
template <class F>
std::vector<std::string> values_of(const gpu_schedules::state& s) {
    std::vector<std::string> out;
    const auto add = [&](const typename F::value_type& v) {
        const std::string text = F::spell(v).str();
        if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
    };
    for (std::size_t i = 0; i < s.choices.size(); ++i)
        for (const site_choice& c : s.choices[i]) {
            if constexpr (std::is_same_v<F, WORK>) {
                work w = c.claims ? c.claim : work{};
                for (w.producers = 0; w.producers <= (w.form == work_form::warps ? 2 : 0); ++w.producers) add(w);
            }
            else if constexpr (std::is_same_v<F, TILE>) { if (s.k.sites[i].has_tile) add(c.t); }
            else if constexpr (std::is_same_v<F, REDUCE>) { if (s.k.sites[i].has_reduce) add(c.d); }
            else if constexpr (std::is_same_v<F, STAGE>) {
                if (s.k.sites[i].tiles())
                    for (const stage& v : s.stages_at(s.k.sites[i], c)) add(v);
            } else if constexpr (std::is_same_v<F, RASTER>) {
                add({});
                if (s.k.has_product()) add({raster_axis::m, 8}), add({raster_axis::n, 4}), add({raster_axis::n, 8});
            }
        }
    return out;
}
}  // namespace gpu::detail

EMMY_DECL result<gpu_schedules> gpu_schedules::pinned(const knob::schedule_row& pins) const {
    using namespace knob;
    schedule_row all = state_->pins;
    result<void> twice;
    // Cosmetic choices and the carry's place are no part of the space.
    const auto put = [&]<class F>(const route& at) {
        if (const auto v = pins.get<F>(at)) all.set<F>(*v, at);
    };
    schedule_row::families::each([&]<class F>() {
        if constexpr (std::is_same_v<F, LOOPIFY> || std::is_same_v<F, SHARED_CARRY>) return;
        else {
            put.template operator()<F>(route{});
            if constexpr (F::where == scope::node)
                for (std::size_t i = 0; i < pins.sites(); ++i) put.template operator()<F>(pins.site(i));
        }
    });
    // An address that names no site is a mistake, not an empty choice.
    if (state_->k.formed)
        for (std::size_t i = 0; i < all.sites(); ++i) {
            std::optional<std::string> wrong;
            schedule_row::families::each([&]<class F>() {
                if constexpr (F::where == scope::node) {
                    if (wrong || !all.get<F>(all.site(i))) return;
                    std::string known;
                    for (const gpu::site& s : state_->k.sites)
                        if (gpu::has_family<F>(s)) {
                            if (s.at == all.site(i)) return;
                            known += (known.empty() ? "" : ", ") + s.at.spell().str();
                        }
                    wrong = std::string(F::name) + "@" + all.site(i).spell().str() + ": names no site, expected " + (known.empty() ? "none, the kernel has no place for it" : "one of " + known);
                }
            });
            if (wrong) return refuse(fault_kind::user, *wrong);
        }
    gpu_schedules out;
    out.state_ = std::make_shared<const state>(state_->k, state_->t, state_->offer, all);
    if (out.first()) return out;
    // Which pin is it? The first without which, or with which alone, nothing is left.
    std::string said;
    const auto blame = [&]<class F>(const route& at, bool alone) {
        const auto wanted = all.get<F>(at);
        if (!said.empty() || !wanted) return;
        schedule_row others;
        if (!alone) {
            others = all;
            schedule_row less;
            others.each([&](std::string_view key, std::string_view value) {
                const split_key name(key);
                if (name.family != F::name || name.addressed == at.bare() || (name.addressed && name.address != at.spell().view())) less.put(key, value);
            });
            others = less;
        }
        const state without(state_->k, state_->t, state_->offer, others);
        gpu_schedules rest;
        if (alone) {
            schedule_row only;
            rest.state_ = std::make_shared<const state>(state_->k, state_->t, state_->offer, only.set<F>(*wanted, at));
            if (rest.first()) return;
        } else {
            rest.state_ = std::make_shared<const state>(state_->k, state_->t, state_->offer, others);
            if (!rest.first()) return;
        }
        const std::string text = F::spell(*wanted).str();
        std::vector<std::string> near = gpu::detail::values_of<F>(without);
        std::erase(near, text);
        const auto far = [&](const std::string& a) { return !a.empty() && text.starts_with(a) ? 0 : gpu::detail::text_distance(a, text); };  // less of the same is nearest
        std::stable_sort(near.begin(), near.end(), [&](const std::string& a, const std::string& b) { return far(a) < far(b); });
        // Of the nearest those that a row has, beside the other pins if they are to blame.
        std::vector<std::string> legal;
        for (std::size_t i = 0; i < near.size() && i < 16 && legal.size() < 3; ++i) {
            schedule_row with = alone ? schedule_row{} : others;
            gpu_schedules tried;
            tried.state_ = std::make_shared<const state>(state_->k, state_->t, state_->offer, with.set<F>(*F::parse(near[i]), at));
            if (tried.first()) legal.push_back(near[i]);
        }
        said = std::string(F::name) + (at.bare() ? "" : "@" + at.spell().str()) + ": no legal row has [" + text + "]" + (alone ? "" : " beside the other pins");
        if (near.empty()) said += ", the kernel has no place for it";
        else if (!legal.empty()) said += ", expected ";
        for (std::size_t i = 0; i < legal.size(); ++i) said += (i == 0 ? "[" : i + 1 == legal.size() ? " or [" : ", [") + legal[i] + "]";
    };
    for (const bool alone : {true, false})
        schedule_row::families::each([&]<class F>() {
            if constexpr (!std::is_same_v<F, LOOPIFY> && !std::is_same_v<F, SHARED_CARRY>) {
                blame.template operator()<F>(route{}, alone);
                if constexpr (F::where == scope::node)
                    for (std::size_t i = 0; i < all.sites(); ++i) blame.template operator()<F>(all.site(i), alone);
            }
        });
    if (said.empty()) said = "pins " + pin_text(all) + ": no legal row has them all";
    return refuse(fault_kind::user, said);
}

}  // namespace emmy::fork
