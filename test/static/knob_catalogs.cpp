// Catalogs of cards have their stated sizes (law L14), at compile time.
#include <emmy/knob.hpp>

using namespace emmy;
using namespace emmy::knob;

namespace {
constexpr target volta = target_of({7, 0}), turing = target_of({7, 5}), ampere = target_of({8, 0}), hopper = target_of({9, 0});

/// Warp tiles of an atom, listed first: asking for each grid anew which tiles there are takes clang beyond its limit. The run asks
/// gpu::warp_tiles_without_strip itself (test/unit/knob/large_space.cpp).
template <int Atom>
constexpr auto shapes = catalog::tiles_of_atoms(of<catalog::ATOM>(Atom));
template <int Atom>
constexpr std::uint64_t tiles_of(const target& t) { return (catalog::warp_grids * frozen_at_compile_time<shapes<Atom>> % holds<gpu::K1, gpu::T3>(t)).size(); }
static_assert(tiles_of<0>(volta) == 1938);
static_assert(tiles_of<1>(volta) == 2508);
static_assert(tiles_of<2>(ampere) == 1672);
static_assert(tiles_of<5>(hopper) == 9);
static_assert(tiles_of<6>(hopper) == 6);
static_assert(tiles_of<7>(hopper) == 3);
static_assert(gpu::scalar_tiles.size() == 233 && gpu::strips.size() == 5);
static_assert(gpu::reduces(hopper).size() == 47 && gpu::reduces(volta).size() == 67);
static_assert(gpu::splits.size() == 1 + 12);

/// Stages beside one tile, without "no stage".
template <fixed_string Tile>
constexpr std::uint64_t rings_of(const target& t) { return gpu::staged(of_text<TILE, Tile>, t).size() - 1; }
static_assert(rings_of<"mma_m8n8k4_f16_f32/f1x1/k2">(volta) == 8 && rings_of<"mma_m16n8k16_f16_f32/f1x1/k2">(ampere) == 16 && rings_of<"mma_m16n8k16_f16_f32/f1x1/k2">(hopper) == 24);
static_assert(rings_of<"f4x4">(turing) == 4 && rings_of<"f4x4">(ampere) == 8 && rings_of<"f4x4">(hopper) == 12);
static_assert(rings_of<"mma_m16n8k16_f16_f32/f1x1">(hopper) == 12);                     // a chunk of one atom cannot be double-buffered
static_assert(gpu::staged(of_text<TILE, "wgmma_m64n64k16_f16_f32/f1x8/k4">, hopper).size() == 30);  // eight slots too, but never direct
static_assert(gpu::staged(of_text<TILE, "">, hopper).size() == 1);

// What all<F> lists.
static_assert(all<WORK>.size() == 66 && all<REDUCE>.size() == 14 && all<STAGE>.size() == 32 && all<RASTER>.size() == 2 && all<PLACE>.size() == 2 && all<FAST_MATH>.size() == 2);
static_assert(all<at<"map.1/inner", STAGE>>.size() == 32);
}  // namespace
