#pragma once
#include <emmy/knob/families.hpp>
#include <emmy/knob/own/choice.hpp>
#include <emmy/knob/rule/gpu.hpp>
#include <emmy/knob/rule/holds.hpp>
#include <emmy/knob/site.hpp>
#include <emmy/knob/space.hpp>

// Catalogs of the built-in families, whatever the card: what `all<F>` lists. What one card is offered: catalog/gpu.hpp.
namespace emmy::knob {

namespace catalog {

// The sizes that catalogs are products of: families of their own, so that WORK, TILE and STAGE lists are spaces with ranks by formula.
struct M_UNITS : choice<"M_UNITS", 1, 2, 4, 8, 16> {};
struct N_UNITS : choice<"N_UNITS", 1, 2, 4, 8, 16> {};
struct FM : choice<"FM", 1, 2, 3, 4, 8> {};
struct FN : choice<"FN", 1, 2, 4, 8, 16, 32> {};
struct K_ATOMS : choice<"K_ATOMS", 1, 2, 4, 8, 16, 32> {};
struct TRANSPORT : named<"TRANSPORT", transport, "", "reg", "smem", "smem-async", "smem-tma"> {};
struct DEPTH : choice<"DEPTH", 1, 2, 3, 4, 8> {};
struct PIPELINE : choice<"PIPELINE", 1, 2> {};
struct PRODUCERS : choice<"PRODUCERS", 0, 1, 2> {};
struct ATOM : choice<"ATOM", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13> {};

constexpr std::uint16_t u16(int value) { return static_cast<std::uint16_t>(value); }

/// Grids of warps, and producer warps beside them.
struct as_warps {
    using sizes = row<M_UNITS, N_UNITS, PRODUCERS>;
    static constexpr row<WORK> show(const sizes& r) { return row<WORK>(knob::detail::as_is{}, {work_form::warps, u16(r.get<M_UNITS>()), u16(r.get<N_UNITS>()), u16(r.get<PRODUCERS>())}); }
    static constexpr std::optional<sizes> read(const row<WORK>& r) {
        const work& w = r.get<WORK>();
        if (w.form != work_form::warps) return std::nullopt;
        return sizes(knob::detail::as_is{}, w.m, w.n, w.producers);
    }
};
/// Fragments and chunks of an atom.
struct as_warp_tile {
    using sizes = row<ATOM, FM, FN, K_ATOMS>;
    static constexpr row<TILE> show(const sizes& r) {
        return row<TILE>(knob::detail::as_is{}, {tile_form::warp, static_cast<knob::atom>(r.get<ATOM>()), u16(r.get<FM>()), u16(r.get<FN>()), u16(r.get<K_ATOMS>())});
    }
    static constexpr std::optional<sizes> read(const row<TILE>& r) {
        const tile& t = r.get<TILE>();
        if (!t.is_warp()) return std::nullopt;
        return sizes(knob::detail::as_is{}, static_cast<int>(t.atom), t.fm, t.fn, t.k);
    }
};
/// Rings through shared memory.
struct as_stage {
    static constexpr row<STAGE> show(const row<TRANSPORT, DEPTH, PIPELINE>& r) { return row<STAGE>(knob::detail::as_is{}, {r.get<TRANSPORT>(), u16(r.get<DEPTH>()), u16(r.get<PIPELINE>())}); }
    static constexpr std::optional<row<TRANSPORT, DEPTH, PIPELINE>> read(const row<STAGE>& r) {
        const stage& s = r.get<STAGE>();
        if (!s.uses_smem()) return std::nullopt;
        return row<TRANSPORT, DEPTH, PIPELINE>(knob::detail::as_is{}, s.by, s.depth, s.pipeline);
    }
};

/// One atom; none where it is `scalar`.
struct one_atom : knob::detail::listed_base<one_atom, ATOM> {
    struct list {
        knob::atom of;
        constexpr std::size_t size() const { return of != atom::scalar; }
        constexpr int operator[](std::size_t) const { return static_cast<int>(of); }
    } values;
    constexpr explicit one_atom(knob::atom of) : values{of} {}
};

/// Grids of 1 to 256 warps.
inline constexpr auto warp_grids = shown_as(all<M_UNITS> * all<N_UNITS> * of<PRODUCERS>(0), as_warps{});
/// Tiles of some atoms: `all<ATOM>`, or one_atom(a). The long strip f26x4/k2 comes last.
template <row_space Atoms>
constexpr auto tiles_of_atoms(const Atoms& atoms) {
    return shown_as(atoms * all<FM> * all<FN> * all<K_ATOMS>, as_warp_tile{}) % holds<gpu::catalog_rules>();
}
template <row_space Atoms>
constexpr auto long_tiles_of_atoms(const Atoms& atoms) { return shown_as(atoms * listed<FM, 1>({26}) * of<FN>(4) * of<K_ATOMS>(2), as_warp_tile{}); }  // 26 is of this strip alone: no FM of the lists
/// Rings through shared memory: transports × slots × fragments in flight.
inline constexpr auto rings = shown_as(of<TRANSPORT>(transport::smem, transport::async, transport::tma) * all<DEPTH> * all<PIPELINE>, as_stage{});

namespace detail {
/// f<fn>x<fm> over lists, fn outer.
template <std::size_t Ns, std::size_t Ms>
constexpr auto scalar_grid(const int (&fns)[Ns], const int (&fms)[Ms]) {
    std::array<tile, Ns * Ms> out{};
    for (std::size_t i = 0; i < Ns * Ms; ++i) out[i] = {tile_form::scalar, atom::scalar, u16(fms[i % Ms]), u16(fns[i / Ms]), 1};
    return listed<TILE, Ns * Ms>(out);
}
template <std::size_t Ns, std::size_t Ms>
constexpr auto thread_grid(const int (&ns)[Ns], const int (&ms)[Ms]) {
    std::array<work, Ns * Ms> out{};
    for (std::size_t i = 0; i < Ns * Ms; ++i) out[i] = {work_form::threads, u16(ms[i % Ms]), u16(ns[i / Ms]), 0};
    return listed<WORK, Ns * Ms>(out);
}
}  // namespace detail

/// Registers of one thread without a grid of threads, and with one.
inline constexpr auto register_tiles = detail::scalar_grid({1, 2, 3, 4}, {1, 2, 4}) % where<TILE>([](const tile& t) { return t.fm * t.fn > 1; });
inline constexpr auto grid_tiles = detail::scalar_grid({1, 2, 4, 26}, {1, 2, 4, 6, 8, 10, 12, 14, 26});
inline constexpr auto grids_of_threads = detail::thread_grid({16, 32, 64}, {8, 16});
/// Rows of threads: of a scalar tile, of a coop or of an output sweep; grids that pack the outputs of short coops.
inline constexpr auto rows_of_threads = of_text<WORK, "t4", "t8", "t16", "t32", "t64", "t128", "t256", "t512">;
inline constexpr auto packings = of_text<WORK, "t4x32", "t8x16", "t16x8", "t32x4">;

/// Every WORK that a list here implies, warps with none, one and two producers, sorted by text: the order in which forks offer it.
template <class Nothing>
struct works {
    static constexpr auto unsorted = of_text<WORK, ""> + rows_of_threads + packings + grids_of_threads +
                                     shown_as(all<M_UNITS> * all<N_UNITS> * all<PRODUCERS>, as_warps{}) % holds<gpu::K1, gpu::K2>(target{});
    static constexpr std::array<work, static_cast<std::size_t>(unsorted.size())> values = [] {
        std::array<work, static_cast<std::size_t>(unsorted.size())> out{};
        std::size_t n = 0;
        unsorted.each([&](const row<WORK>& r) {
            const value_text text = WORK::spell(r.template get<WORK>());
            std::size_t at = n++;
            for (; at > 0 && text.view() < WORK::spell(out[at - 1]).view(); --at) out[at] = out[at - 1];
            out[at] = r.template get<WORK>();
        });
        return out;
    }();
};

}  // namespace catalog

// What all<F> lists. Open families (TEAM, UNROLL, LOOPIFY) list powers of two.
template <>
struct catalog_of<WORK> : catalog::works<void> {};
template <>
struct catalog_of<TILE> {
    /// One cell, scalar tiles, then the tiles of each atom.
    static constexpr auto space() {
        return of_text<TILE, "", "f1", "f8"> + catalog::register_tiles + catalog::grid_tiles + catalog::tiles_of_atoms(all<catalog::ATOM>) + catalog::long_tiles_of_atoms(all<catalog::ATOM>);
    }
};
template <>
struct catalog_of<REDUCE> {
    static constexpr auto space() {
        return of_text<REDUCE, "", "r2", "r4", "coop", "coop/r2", "coop/r4", "coop-t", "coop-t/v2", "coop-t/v4", "coop-t/v8", "coop-t/n8", "coop-t/n8/v2", "coop-t/n8/v4", "coop-t/n8/v8">;
    }
};
template <>
struct catalog_of<STAGE> {
    static constexpr auto space() { return of_text<STAGE, "", "d1/reg"> + catalog::rings; }
};
template <>
struct catalog_of<RASTER> {
    static constexpr auto space() { return of_text<RASTER, "", "gm8">; }
};
template <>
struct catalog_of<PLACE> {
    static constexpr auto space() { return of<PLACE>(place::fuse, place::cut); }
};
template <>
struct catalog_of<LAYOUT> {
    static constexpr auto space() { return of<LAYOUT>(layout::folded, layout::source); }
};
template <>
struct catalog_of<LOOPIFY> {
    static constexpr auto space() { return of<LOOPIFY>(0, 2, 4, 8); }
};
template <>
struct catalog_of<TEAM> {
    static constexpr auto space() { return of<TEAM>(1, 2, 4, 8, 16, 32, 64, 128); }
};
template <>
struct catalog_of<UNROLL> {
    static constexpr auto space() { return of<UNROLL>(1, 2, 4, 8, 16, 32, 64, 128); }
};

}  // namespace emmy::knob
