#pragma once
#include <emmy/knob/catalog/built_in.hpp>

/// What a card is offered: the lists of each fork, in the order in which they are offered. One definition: literal in a static_assert,
/// or for a card that is known at run time.
namespace emmy::knob::gpu {

/// Warp tiles of one atom with their WORK: 1938, 2508 and, for most atoms, 1672 rows before the long strip; wgmma % T3: 9, 6, 3; none of
/// `scalar`. warp_tiles("mma_m16n8k16_f16_f32"_atom, target).
constexpr auto warp_tiles_without_strip(atom of, const target& t) {
    return catalog::warp_grids * catalog::tiles_of_atoms(catalog::one_atom(of)) % holds<K1, T3>(t);
}
constexpr auto warp_tiles(atom of, const target& t) {
    return warp_tiles_without_strip(of, t) + of_text<WORK, "w1x1"> * catalog::long_tiles_of_atoms(catalog::one_atom(of)) % holds<T3>(t);
}

/// Scalar tiles of a contraction with their WORK: one cell, f1 under rows of threads, registers alone, grids of threads. 233 rows.
inline constexpr auto scalar_tiles = of_text<WORK, ""> * of_text<TILE, ""> + of_text<WORK, "t32", "t64", "t128", "t256", "t512"> * of_text<TILE, "f1"> +
                                     of_text<WORK, ""> * catalog::register_tiles + catalog::grids_of_threads * catalog::grid_tiles;

/// Strips of a pointwise kernel; a strip is legal where it divides the static innermost extent.
inline constexpr auto strips = of_text<TILE, "", "f2", "f3", "f4", "f8">;

/// How a reduced axis is shared inside one block, with the WORK that it takes: 47 rows, 67 on 7.0. The coop width lives in WORK, so the
/// list of REDUCE values depends on it.
constexpr auto reduces(const target& t) {
    const auto interleaved = of_text<WORK, "", "t4", "t8", "t16", "t32", "t64", "t128", "t256", "t512"> >> [](const row<WORK>& r) {
        return of_text<REDUCE, "", "r2", "r4", "coop", "coop/r2", "coop/r4"> %
               where<REDUCE>([alone = r.get<WORK>() == WORK::off](const reduce& d) { return alone == (d.coop == coop_mode::none); });
    };
    const auto transposed = of_text<WORK, "t32", "t64", "t128", "t256", "t512"> *
                            of_text<REDUCE, "coop-t", "coop-t/v2", "coop-t/v4", "coop-t/v8", "coop-t/n8", "coop-t/n8/v2", "coop-t/n8/v4", "coop-t/n8/v8"> % holds<R6>(t);
    return interleaved + transposed;
}

/// The cross-CTA half of REDUCE: a structural family of its own, keyed REDUCE in routing rows. "" = unsplit.
struct SPLIT : REDUCE {
    static constexpr role meaning = role::structural;
    static constexpr role role_of(const reduce&) { return role::structural; }
    static constexpr parsed<reduce> parse(std::string_view text) {
        const parsed<reduce> out = REDUCE::parse(text);
        if (out && !(*out == REDUCE::off) && !(out->crosses_ctas() && out->inside() == REDUCE::off)) return refusal{REDUCE::name, text, "g and a number of CTAs alone", 0};
        return out;
    }
    static const char* misfit(const reduce&, const work&) = delete;
};
/// Unsplit, then 12 splits: widths 2 to 64, each through a workspace, then by atomic addition.
inline constexpr auto splits = of_text<SPLIT, "", "g2k", "g2a", "g4k", "g4a", "g8k", "g8a", "g16k", "g16a", "g32k", "g32a", "g64k", "g64a">;

/// How operands reach a tile: nothing, then transports × slots × fragments in flight. 8, 16 or 24 rings for a warp tile on a card of
/// 7, 8 or 9 and later, 4, 8 or 12 for a scalar one; eight slots for wgmma only.
constexpr auto stages(const target& t) { return of_text<STAGE, ""> + catalog::rings % holds<G1>(t); }
/// The same beside tiles: each tile with the stages that it takes.
template <row_space Tiles>
constexpr auto staged(const Tiles& tiles, const target& t) {
    return (tiles >> [t](const auto&) { return stages(t); }) % holds<G2, G3, G4, G6>();
}

}  // namespace emmy::knob::gpu
