#pragma once
#include <emmy/fork/gpu/site_rules.hpp>

/// What the sites of a kernel decide together.
namespace emmy::fork::gpu {

/// Does a site take a family?
template <schedule_family F>
constexpr bool has_family(const site& s) {
    if constexpr (std::is_same_v<F, TILE>) return s.has_tile;
    else if constexpr (std::is_same_v<F, REDUCE>) return s.has_reduce;
    else return std::is_same_v<F, STAGE> && s.has_stage;
}
template <schedule_family F>
constexpr std::size_t sites_with(const kernel& k) {
    std::size_t out = 0;
    for (const site& s : k.sites) out += has_family<F>(s);
    return out;
}
/// Where a row keeps the family of a site: bare where it is the only one.
template <schedule_family F>
constexpr route key_of(const kernel& k, const site& s) { return sites_with<F>(k) == 1 ? route{} : s.at; }
template <schedule_family F>
constexpr typename F::value_type value_at(const schedule_row& r, const kernel& k, const site& s) { return has_family<F>(s) ? r.value<F>(key_of<F>(k, s)) : F::off; }

constexpr row<WORK, TILE, REDUCE, STAGE> part_at(const schedule_row& r, const kernel& k, const site& s) {
    return row<WORK, TILE, REDUCE, STAGE>(knob::detail::as_is{}, r.value<WORK>(), value_at<TILE>(r, k, s), value_at<REDUCE>(r, k, s), value_at<STAGE>(r, k, s));
}
constexpr place place_of(const kernel& k, const site& s) { return {&s, s.score < 0 ? nullptr : &k.sites[static_cast<std::size_t>(s.score)]}; }

/// Fragments of one warp in registers of a lane, 32 bits each: m x k and k x n elements of the operand.
constexpr std::int64_t fragment_registers(const atom_facts& a, std::int64_t columns) { return std::max<std::int64_t>(1, columns * a.k * static_cast<std::int64_t>(byte_size(a.operand)) / (32 * 4)); }

/// Registers of a lane under two contractions of which one feeds the other.
constexpr std::int64_t paired_registers(const tile& t, int channels, int depth, const tile& score, int score_channels) {
    const atom_facts &x = facts(t.atom), &y = facts(score.atom);
    const std::int64_t cells = std::int64_t{t.fm} * t.fn, sums = channels * cells * x.registers;
    const std::int64_t consumer = t.fm * depth * fragment_registers(x, x.m) + channels * t.fn * depth * fragment_registers(x, x.n) + sums;
    const auto both = [&](std::int64_t columns) {
        return sums + t.fm * fragment_registers(y, y.m) + score_channels * (columns * fragment_registers(y, y.n) + t.fm * columns * y.registers);
    };
    return std::max(consumer, both(t.chunk() / y.n));
}

struct W2 {
    static constexpr std::string_view id = "W2", means = "The keys of a row are those of the kernel's sites: bare where a family has one site, else with the full address.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        finding out;
        if (!k.formed) return out;
        schedule_row::families::each([&]<class F>() {
            if constexpr (F::where == scope::node) {
                const std::size_t sites = sites_with<F>(k);
                const auto wrong = [&](std::string_view expected, std::string_view address = {}) {
                    value_text key(F::name);
                    if (!address.empty()) key.append('@').append(address);
                    if (!out) out = {{}, F::name, {}, 0, 0, relation::words, key, expected, true};
                };
                if (r.get<F>() && sites == 0 && !(r.value<F>() == F::off)) wrong("no such key, the kernel has no site for it");
                if (r.get<F>() && sites > 1) wrong("an address in the key, the kernel has several sites for it");
                for (std::size_t i = 0; i < r.sites(); ++i) {
                    if (!r.get<F>(r.site(i))) continue;
                    bool there = false;
                    for (const site& s : k.sites) there = there || (has_family<F>(s) && s.at == r.site(i));
                    if (!there) wrong("the address of a site of the kernel", r.site(i).spell().view());
                    else if (sites == 1) wrong("the bare key, the kernel has one site for it", r.site(i).spell().view());
                }
            }
        });
        return out;
    }
};
struct K4s {
    static constexpr std::string_view id = "K4s", means = "A WORK that no site claims is one row of threads over output sweeps, of which every output has one.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        const work w = r.value<WORK>();
        if (w.form != work_form::threads) return fine;
        for (const site& s : k.sites) {
            const tile t = value_at<TILE>(r, k, s);
            if ((t != TILE::off && s.tiles()) || value_at<REDUCE>(r, k, s).coop != coop_mode::none) return fine;
        }
        const row<WORK> part(knob::detail::as_is{}, w);
        return first_of(need<WORK>(part, k.sweepable, "no text, or a site that claims the threads"), need<WORK>(part, w.m == 1, "one row of threads for output sweeps"));
    }
};
struct K5c {
    static constexpr std::string_view id = "K5c", means = "RASTER orders the tiles of a contraction.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        if (r.value<RASTER>() == RASTER::off) return fine;
        bool tiled = false;
        for (const site& s : k.sites) tiled = tiled || (s.tiles() && value_at<TILE>(r, k, s) != TILE::off);
        return need<RASTER>(row<RASTER>(knob::detail::as_is{}, r.value<RASTER>()), tiled, "a tiled contraction");
    }
};
struct K6f {
    static constexpr std::string_view id = "K6f", means = "Producer warps need operands that TMA alone brings: none that threads compute, none of a rescaled fold, no share of a split.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        if (r.value<WORK>().producers == 0) return fine;
        const row<WORK> part(knob::detail::as_is{}, r.value<WORK>());
        if (k.split_piece) return need<WORK>(part, false, "no producer warps in a share of a split");
        for (const site& s : k.sites) {
            const tile t = value_at<TILE>(r, k, s);
            if (!s.tiles() || t == TILE::off) continue;
            if (s.chunked) return need<WORK>(part, false, "no producer warps at a rescaled fold");
            if (path_of(s, t) == path::fill) return need<WORK>(part, false, "no producer warps beside operands that threads compute");
        }
        return fine;
    }
};
struct K7 {
    static constexpr std::string_view id = "K7", means = "Two tiled sites that share an output axis cut it alike: as many elements, as many units.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        const work w = r.value<WORK>();
        for (std::size_t i = 0; i < k.sites.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const site &x = k.sites[i], &y = k.sites[j];
                if (!x.tiles() || !y.tiles()) continue;
                const tile s = value_at<TILE>(r, k, x), t = value_at<TILE>(r, k, y);
                if (s == TILE::off || t == TILE::off) continue;
                finding out;
                const auto same = [&](axis_id a, axis_id b, std::int64_t here, std::int64_t there, bool units) {
                    if (!out && a != no_axis && a == b) out = first_of(equal_to("TILE", "elements of the tile along an axis that another tiled site shares", here, there), need<WORK>(row<WORK>(knob::detail::as_is{}, w), units, "as many units along an axis that two sites share"));
                };
                same(x.m_axis, y.m_axis, s.rows(w), t.rows(w), true);
                same(x.n_axis, y.n_axis, s.columns(w), t.columns(w), true);
                same(x.m_axis, y.n_axis, s.rows(w), t.columns(w), w.m == w.n);
                same(x.n_axis, y.m_axis, s.columns(w), t.rows(w), w.m == w.n);
                if (out) return out;
            }
        return fine;
    }
};
struct K8 {
    static constexpr std::string_view id = "K8", means = "Of folds that cannot share a block's outputs at most one is tiled, shared among threads, or has several accumulators.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        if (k.shares_outputs) return fine;
        std::int64_t busy = 0;
        for (const site& s : k.sites) busy += s.root && (value_at<TILE>(r, k, s) != TILE::off || value_at<REDUCE>(r, k, s) != REDUCE::off);
        return at_most("REDUCE", "folds that take a block each", busy, 1);
    }
};
struct K9 {
    static constexpr std::string_view id = "K9", means = "Where a fold hoisted before a loop is shared among threads, the fold of the loop has no tile and no coop-t.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        bool shared = false;
        for (const site& s : k.sites) shared = shared || (s.chain && value_at<REDUCE>(r, k, s).coop != coop_mode::none);
        if (!shared) return fine;
        for (const site& s : k.sites) {
            if (!s.root) continue;
            const tile t = value_at<TILE>(r, k, s);
            const reduce d = value_at<REDUCE>(r, k, s);
            const finding out = first_of(need<TILE>(row<TILE>(knob::detail::as_is{}, t), t == TILE::off || !s.tiles(), "no text behind a shared fold"),
                                         need<REDUCE>(row<REDUCE>(knob::detail::as_is{}, d), d.coop != coop_mode::transposed, "no coop-t behind a shared fold"));
            if (out) return out;
        }
        return fine;
    }
};
struct T5 {
    static constexpr std::string_view id = "T5", means = "Under a warp tile of a rescaled fold its scores have a warp tile of the same cell and rows, one warp column that is the fold's chunk.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        const work w = r.value<WORK>();
        for (const site& s : k.sites) {
            const tile t = value_at<TILE>(r, k, s);
            if (!s.chunked || !t.is_warp() || s.score < 0) continue;
            const tile score = value_at<TILE>(r, k, k.sites[static_cast<std::size_t>(s.score)]);
            const row<TILE> part(knob::detail::as_is{}, score);
            if (const finding out = need<TILE>(part, score.is_warp(), "a warp tile of the scores")) return out;
            const atom_facts &x = facts(t.atom), &y = facts(score.atom);
            const finding out = first_of(need<TILE>(part, x.m == y.m && x.n == y.n && x.k == y.k, "scores in cells of the same shape"), equal_to("TILE", "fragment rows of the scores", score.fm, t.fm),
                                         equal_to("WORK", "warps along n at a rescaled fold", w.n, 1), equal_to("TILE", "columns of the scores", score.columns(w), t.chunk()));
            if (out) return out;
        }
        return fine;
    }
};
struct T6 {
    static constexpr std::string_view id = "T6", means = "The fragments of a rescaled fold and of its scores fit the registers of a thread.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target& c, const kernel& k) {
        const work w = r.value<WORK>();
        for (const site& s : k.sites) {
            const tile t = value_at<TILE>(r, k, s);
            if (!s.chunked || !t.is_warp() || s.score < 0) continue;
            const site& from = k.sites[static_cast<std::size_t>(s.score)];
            const tile score = value_at<TILE>(r, k, from);
            if (!score.is_warp()) continue;
            const std::int64_t bound = std::min<std::int64_t>(c.limits.registers_per_thread, c.limits.registers / std::max<std::int64_t>(1, w.threads(c.limits.lanes)));
            const int depth = value_at<STAGE>(r, k, s).pipeline;
            std::int64_t found = paired_registers(t, s.channels, depth, score, from.channels);
            if (found > bound && facts(t.atom).result == dtype::f16) {  // sums go over to f32 chunk by chunk: two columns of them are alive
                tile live = t;
                live.fn = std::min<std::uint16_t>(t.fn, 2);
                found = paired_registers(live, s.channels, depth, score, from.channels);
            }
            if (const finding out = at_most("TILE", "registers of a thread", found, bound)) return out;
        }
        return fine;
    }
};
struct G18 {
    static constexpr std::string_view id = "G18", means = "A kernel whose whole loop runs in fragments has STAGE d1/reg at a warp tile, and no other kernel has it.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r, const target&, const kernel& k) {
        for (const site& s : k.sites) {
            const stage v = value_at<STAGE>(r, k, s);
            const tile t = value_at<TILE>(r, k, s);
            const finding out = need<STAGE>(row<STAGE>(knob::detail::as_is{}, v), v.by != transport::registers || (k.register_program && t.is_warp()), "d1/reg at a warp tile of a carried state only");
            if (out) return out;
        }
        return fine;
    }
};

using kernel_rules = rules<W2, K4s, K5c, K6f, K7, K8, K9, T5, T6, G18>;

}  // namespace emmy::fork::gpu
