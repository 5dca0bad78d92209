#pragma once
#include <emmy/knob/families.hpp>
#include <emmy/knob/rule/form.hpp>
#include <emmy/knob/target.hpp>

/// Legality of a schedule row on a card, as far as the row alone decides it. What a kernel adds (sizes, operands, axes) comes as further
/// rules of the same form. Ids K, R and T are those of the peer's system; A (atoms), G (staging) and C (catalog) are ours.
namespace emmy::knob::gpu {

// Whole kernel.

struct K1 {
    static constexpr std::string_view id = "K1", means = "A block has at most as many threads as the card allows.";
    using reads = row<WORK>;
    static constexpr finding test(const auto& r, const target& t) {
        return at_most("WORK", "threads of a block", r.template get<WORK>().threads(t.limits.lanes), t.limits.threads);
    }
};
struct K2 {
    static constexpr std::string_view id = "K2", means = "A block has at most as many producer warps as computing warps.";
    using reads = row<WORK>;
    static constexpr finding test(const auto& r) {
        const work w = r.template get<WORK>();
        return at_most("WORK", "producer warps", w.producers, w.units());
    }
};
struct K3 {
    static constexpr std::string_view id = "K3",
                                      means = "What a site does fits WORK: a warp tile w..., a scalar tile t... or no text, a coop of width c exactly t<c> or its packing to 128 "
                                              "threads, which takes no stage and no coop-t.";
    using reads = row<WORK, TILE, REDUCE, STAGE>;
    static constexpr finding test(const auto& r) {
        const work w = r.template get<WORK>();
        const tile& t = r.template get<TILE>();
        const reduce& d = r.template get<REDUCE>();
        const bool coop = d.coop != coop_mode::none, packed = coop && w.m > 1;
        return first_of(fits<TILE>(r),
                        need<TILE>(r, t.form != tile_form::scalar || w.form != work_form::warps, "WORK t... or no text for a scalar tile"),
                        fits<REDUCE>(r),
                        need<WORK>(r, !packed || (w.n <= 32 && w.units() == 128), "128 threads where outputs are packed, at most 32 a coop"),
                        need<REDUCE>(r, !packed || d.coop == coop_mode::interleaved, "coop where outputs are packed"),
                        need<STAGE>(r, !packed || r.template get<STAGE>() == STAGE::off, "no stage where outputs are packed"));
    }
};
struct K4 {
    static constexpr std::string_view id = "K4", means = "A WORK of warps is claimed by a warp tile.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r) {
        bool tiled = r.value<TILE>().is_warp();
        for (std::size_t i = 0; i < r.sites(); ++i) tiled = tiled || r.value<TILE>(r.site(i)).is_warp();
        return need<WORK>(row<WORK>(knob::detail::as_is{}, r.value<WORK>()), r.value<WORK>().form != work_form::warps || tiled, "a warp tile that claims the warps");
    }
};
struct K5 {
    static constexpr std::string_view id = "K5", means = "RASTER is no text, gm8, gn4 or gn8; anything but no text needs a tile.";
    using reads = schedule_row;
    static constexpr finding test(const schedule_row& r) {
        const raster order = r.value<RASTER>();
        const row<RASTER> part(order);
        bool tiled = r.value<TILE>() != TILE::off;
        for (std::size_t i = 0; i < r.sites(); ++i) tiled = tiled || r.value<TILE>(r.site(i)) != TILE::off;
        const bool known = order == RASTER::off || order == raster{raster_axis::m, 8} || order == raster{raster_axis::n, 4} || order == raster{raster_axis::n, 8};
        return first_of(need<RASTER>(part, known, "no text, gm8, gn4 or gn8"), need<RASTER>(part, tiled || order == RASTER::off, "a tiled contraction"));
    }
};
struct K6 {
    static constexpr std::string_view id = "K6", means = "Producer warps need smem-tma at every tiled consumer.";
    using reads = row<WORK, TILE, STAGE>;
    static constexpr finding test(const auto& r) {
        const bool tiled = r.template get<TILE>() != TILE::off;
        return need<STAGE>(r, r.template get<WORK>().producers == 0 || !tiled || r.template get<STAGE>().by == transport::tma, "smem-tma beside producer warps");
    }
};

// Reduces.

struct R1 {
    static constexpr std::string_view id = "R1", means = "A tiled site shares its reduced axis in no other way.";
    using reads = row<TILE, REDUCE>;
    static constexpr finding test(const auto& r) {
        return need<REDUCE>(r, r.template get<TILE>() == TILE::off || r.template get<REDUCE>() == REDUCE::off, "no text at a tiled site");
    }
};
struct R6 {
    static constexpr std::string_view id = "R6", means = "A coop-t sweeps whole warps, or 8 output lanes on 7.0 only.";
    using reads = row<WORK, REDUCE>;
    static constexpr finding test(const auto& r, const target& t) {
        const reduce& d = r.template get<REDUCE>();
        if (d.coop != coop_mode::transposed) return fine;
        return first_of(multiple_of("WORK", "width under coop-t", r.template get<WORK>().coop_width(), t.limits.lanes),
                        need<REDUCE>(r, d.lanes == 32 || t.cc == capability{7, 0}, "32 output lanes on this card"));
    }
};

// Tiles.

struct A1 {
    static constexpr std::string_view id = "A1", means = "The card has the matrix instruction of a warp tile.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r, const target& t) {
        const tile& v = r.template get<TILE>();
        return need<TILE>(r, !v.is_warp() || offers(t.cc, v.atom), "an atom that this card has");
    }
};
struct T3 {
    static constexpr std::string_view id = "T3", means = "A wgmma tile has WORK w<4j>x1, one fragment row, whole instructions along n, and chunks of 128 bytes.";
    using reads = row<WORK, TILE>;
    static constexpr finding test(const auto& r) {
        const work w = r.template get<WORK>();
        const tile& v = r.template get<TILE>();
        if (!v.is_warp() || facts(v.atom).wgmma_n == 0) return fine;
        return first_of(multiple_of("WORK", "warps along m under wgmma", w.m, 4), equal_to("WORK", "warps along n under wgmma", w.n, 1),
                        equal_to("TILE", "fragment rows under wgmma", v.fm, 1), multiple_of("TILE", "fragment columns under wgmma", v.fn, facts(v.atom).wgmma_n / 8),
                        equal_to("TILE", "bytes of a chunk under wgmma", v.chunk() * static_cast<std::int64_t>(byte_size(facts(v.atom).operand)), 128));
    }
};
struct T3r {
    static constexpr std::string_view id = "T3r", means = "The accumulators of a wgmma tile and 58 registers beside them fit a thread.";
    using reads = row<WORK, TILE>;
    static constexpr finding test(const auto& r, const target& t) {
        const work w = r.template get<WORK>();
        const tile& v = r.template get<TILE>();
        if (!v.is_warp() || facts(v.atom).wgmma_n == 0) return fine;
        const std::int64_t share = t.limits.registers / (w.threads(t.limits.lanes) > 0 ? w.threads(t.limits.lanes) : 1);
        return at_most("TILE", "registers of a thread", std::int64_t{v.fm} * v.fn * facts(v.atom).registers + 58, share < t.limits.registers_per_thread ? share : t.limits.registers_per_thread);
    }
};

// Staging.

struct G1 {
    static constexpr std::string_view id = "G1", means = "The card has the transport: smem-async from 8.0, smem-tma from 9.0.";
    using reads = row<STAGE>;
    static constexpr finding test(const auto& r, const target& t) { return need<STAGE>(r, offers(t.cc, r.template get<STAGE>().by), "a transport that this card has"); }
};
struct G2 {
    static constexpr std::string_view id = "G2", means = "Only a tiled consumer is staged.";
    using reads = row<TILE, STAGE>;
    static constexpr finding test(const auto& r) {
        return need<STAGE>(r, r.template get<STAGE>() == STAGE::off || r.template get<TILE>() != TILE::off, "no text at an untiled consumer");
    }
};
struct G3 {
    static constexpr std::string_view id = "G3", means = "Double-buffered fragments (/p2) belong to warp tiles and need as many atoms in a chunk.";
    using reads = row<TILE, STAGE>;
    static constexpr finding test(const auto& r) {
        const std::uint16_t p = r.template get<STAGE>().pipeline;
        if (p == 1) return fine;
        return first_of(need<STAGE>(r, r.template get<TILE>().is_warp(), "a warp tile for /p"), at_most("STAGE", "fragments in flight", p, r.template get<TILE>().k));
    }
};
struct G4 {
    static constexpr std::string_view id = "G4", means = "A ring of 8 slots belongs to wgmma tiles.";
    using reads = row<TILE, STAGE>;
    static constexpr finding test(const auto& r) {
        const tile& v = r.template get<TILE>();
        return need<STAGE>(r, r.template get<STAGE>().depth < 8 || (v.is_warp() && facts(v.atom).wgmma_n != 0), "at most 4 slots without wgmma");
    }
};
struct G6 {
    static constexpr std::string_view id = "G6", means = "A wgmma tile reads its operands from shared memory.";
    using reads = row<TILE, STAGE>;
    static constexpr finding test(const auto& r) {
        const tile& v = r.template get<TILE>();
        return need<STAGE>(r, !v.is_warp() || facts(v.atom).wgmma_n == 0 || r.template get<STAGE>().uses_smem(), "a transport through shared memory for wgmma");
    }
};

/// What the row and the card decide. A row that lacks a family passes, as if it were at OFF there: of a finished row ask schedule_rules.
using row_rules = rules<K1, K2, K3, K4, K5, K6, R1, R6, A1, T3, T3r, G1, G2, G3, G4, G6>;
/// The same of a finished row: its form first.
using schedule_rules = joined<form_rules, row_rules>;

// Catalog: what is offered, not what is legal.

struct C1 {
    static constexpr std::string_view id = "C1", means = "A warp owns at most 32 fragments.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r) {
        const tile& v = r.template get<TILE>();
        return at_most("TILE", "fragments of a warp", v.is_warp() ? v.fm * v.fn : 1, 32);
    }
};
struct C2 {
    static constexpr std::string_view id = "C2", means = "The accumulators of a warp tile take at most 128 registers of a thread.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r) {
        const tile& v = r.template get<TILE>();
        return at_most("TILE", "registers of accumulators", v.is_warp() ? v.fm * v.fn * facts(v.atom).registers : 1, 128);
    }
};
struct C3 {
    static constexpr std::string_view id = "C3", means = "A chunk is at most 8 atoms or 128 elements.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r) {
        const tile& v = r.template get<TILE>();
        return v.k <= 8 ? fine : at_most("TILE", "elements of a chunk", v.chunk(), 128);
    }
};
using catalog_rules = rules<C1, C2, C3>;

}  // namespace emmy::knob::gpu
