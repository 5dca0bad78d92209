#pragma once
#include <emmy/fork/gpu/staging.hpp>
#include <emmy/knob/rule.hpp>
#include <emmy/knob/rule/gpu.hpp>

/// Legality at one site of a kernel: what the row and the card alone decide is knob/rule/gpu.hpp, what several sites decide together
/// fork/gpu/kernel_rules.hpp. Ids K, R and T are those of the peer's system, a letter behind them marks the half that asks the kernel.
namespace emmy::fork::gpu {

using namespace knob;  // families, relations of findings

/// A site and the contraction whose results it rescales (none elsewhere): what site rules take for the kernel.
struct place {
    const site* at = nullptr;
    const site* score = nullptr;
    constexpr const site* operator->() const { return at; }
};

namespace detail {
using tiled = row<WORK, TILE>;
using staged = row<WORK, TILE, STAGE>;
constexpr const tile& tile_of(const auto& r) { return r.template get<TILE>(); }
constexpr std::int64_t bytes_of(dtype t) { return static_cast<std::int64_t>(byte_size(t)); }
/// Is there a stage of this path to look at?
constexpr bool takes(const auto& r, const place& p, path wanted) {
    return r.template get<STAGE>().uses_smem() && tile_of(r) != TILE::off && path_of(*p.at, tile_of(r)) == wanted;
}
/// Stored operands are copied by hardware or by cp.async, not looked at.
constexpr bool copies(const auto& r, const place& p) { return takes(r, p, path::copy) || takes(r, p, path::bytes) || takes(r, p, path::packed); }
}  // namespace detail

// Reduces.

struct R2 {
    static constexpr std::string_view id = "R2", means = "Only a fold that produces outputs, or one hoisted before its loop, is shared among threads.";
    using reads = row<REDUCE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        return need<REDUCE>(r, r.template get<REDUCE>() == REDUCE::off || p->root || p->chain, "no text at a fold inside another one");
    }
};
struct R3 {
    static constexpr std::string_view id = "R3", means = "A contraction over a symbolic axis is shared in no other way than by its tile.";
    using reads = row<REDUCE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        return need<REDUCE>(r, r.template get<REDUCE>() == REDUCE::off || !p->tiles() || p->k != 0, "no text over a symbolic axis");
    }
};
struct R4 {
    static constexpr std::string_view id = "R4", means = "A fold inside an output sweep, of a carried state, or of the shares of a split is shared in no way.";
    using reads = row<REDUCE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        return need<REDUCE>(r, r.template get<REDUCE>() == REDUCE::off || !(p->in_sweep || p->carries || p->finalize), "no text at this fold");
    }
};
struct R5 {
    static constexpr std::string_view id = "R5", means = "A scan is shared by coop of 4 to 32 threads and nothing else.";
    using reads = row<WORK, REDUCE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const reduce& d = r.template get<REDUCE>();
        if (!p->observed || d == REDUCE::off) return fine;
        const std::int64_t width = r.template get<WORK>().coop_width();
        return first_of(need<REDUCE>(r, d.coop == coop_mode::interleaved && d.vector == 1 && d.accumulators == 1, "coop or no text at a scan"),
                        at_least("WORK", "threads of a scan", width, 4), at_most("WORK", "threads of a scan", width, 32));
    }
};
struct R6n {
    static constexpr std::string_view id = "R6n", means = "A coop-t stands at a fold that produces outputs, over an output axis of more than one element, without a loop behind it.";
    using reads = row<REDUCE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        if (r.template get<REDUCE>().coop != coop_mode::transposed) return fine;
        return first_of(need<REDUCE>(r, p->root, "coop-t at a fold that produces outputs"), need<REDUCE>(r, p->free_axis, "coop-t where an output axis has two elements or more"),
                        need<REDUCE>(r, !p->loop_in_epilogue, "coop-t where no loop stands behind the fold"));
    }
};

// Tiles.

struct A2 {
    static constexpr std::string_view id = "A2", means = "The matrix instruction of a warp tile takes the elements of the first operand, or those that both operands have.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (!t.is_warp()) return fine;
        const dtype wanted = facts(t.atom).operand;
        const auto has = [&](const operand& o) { return wanted == dtype::f4e2m1x2 ? o.raw == wanted : o.type == wanted || o.storage == wanted; };
        return need<TILE>(r, has(p->a) || has(p->b), "an atom that takes the elements of the operands");
    }
};
struct A3 {
    static constexpr std::string_view id = "A3", means = "A warp tile needs a contraction with two output axes and a straight line behind it, and no fold in an operand but a statistic of the row.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (!t.is_warp()) return fine;
        const auto folded = [](const operand& o) { return o.folds && !o.per_row; };
        return first_of(need<TILE>(r, p->tiles(), "a contraction for a warp tile"), at_least("TILE", "output axes under a warp tile", p->free_axes, 2),
                        need<TILE>(r, p->straight_epilogue, "a straight line behind the fold for a warp tile"),
                        need<TILE>(r, p->chunked || !(folded(p->a) || folded(p->b)), "operands without a fold of their own for a warp tile"));
    }
};
struct A4 {
    static constexpr std::string_view id = "A4", means = "A stored first operand of a warp tile runs along k in memory, in rows of whole atoms.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (!t.is_warp() || !p->tiles() || !p->a.stored || p->a.converts) return fine;
        return first_of(need<TILE>(r, p->a.k_last && p->a.unit_stride, "a first operand that runs along k for a warp tile"),
                        p->a.inner == 0 ? fine : multiple_of("TILE", "elements of a row of the first operand", p->a.inner, facts(t.atom).k));
    }
};
struct T1 {
    static constexpr std::string_view id = "T1", means = "A tile of 8-bit floats has a static reduced axis of whole chunks.";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (!t.is_warp() || (facts(t.atom).operand != dtype::f8e4m3 && facts(t.atom).operand != dtype::f8e5m2)) return fine;
        return first_of(need<TILE>(r, p->k != 0, "a static reduced axis for 8-bit floats"), multiple_of("TILE", "elements of the reduced axis", p->k, t.chunk()));
    }
};
struct T2 {
    static constexpr std::string_view id = "T2", means = "A chunk of a rescaled fold is a multiple of the atom's columns, and the atom's results can be its first operand again (16x8x16, m8n8k4).";
    using reads = row<TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (!p->chunked || !t.is_warp()) return fine;
        const atom_facts& a = facts(t.atom);
        const bool repacks = (a.m == 16 && a.n == 8 && a.k == 16) || (a.m == 16 && a.n == 16 && a.k == 4);
        return first_of(need<TILE>(r, repacks, "an atom whose results can be operands again"), multiple_of("TILE", "elements of a chunk", t.chunk(), a.n));
    }
};
struct T3c {
    static constexpr std::string_view id = "T3c", means = "The accumulators of all channels of a wgmma tile and 58 registers beside them fit a thread.";
    using reads = row<WORK, TILE>;
    static constexpr finding test(const auto& r, const target& t, const place& p) {
        const tile& v = detail::tile_of(r);
        if (!v.is_warp() || facts(v.atom).wgmma_n == 0) return fine;
        const std::int64_t threads = std::max<std::int64_t>(1, r.template get<WORK>().threads(t.limits.lanes));
        return at_most("TILE", "registers of a thread", std::int64_t{p->channels} * v.fm * v.fn * facts(v.atom).registers + 58,
                       std::min<std::int64_t>(t.limits.registers_per_thread, t.limits.registers / threads));
    }
};
struct T4 {
    static constexpr std::string_view id = "T4", means = "Under a scalar tile the operands beside the two of the product do not vary along an axis of the tile.";
    using reads = row<WORK, TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (t.form != tile_form::scalar || !p->tiles()) return fine;
        const work& w = r.template get<WORK>();
        return first_of(need<TILE>(r, t.rows(w) == 1 || p->rest_uniform_m, "one row, because another operand varies along it"),
                        need<TILE>(r, t.columns(w) == 1 || p->rest_uniform_n, "one column, because another operand varies along it"));
    }
};
struct T7 {
    static constexpr std::string_view id = "T7", means = "A strip of a pointwise kernel is a run of f<n> outputs that divides the static innermost extent; its WORK is no text.";
    using reads = row<WORK, TILE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (p->tiles() || !p->has_tile || t == TILE::off) return fine;
        return first_of(need<TILE>(r, t.form == tile_form::scalar && t.fm == 1, "f and a number for a strip"), need<TILE>(r, p->strip != 0, "no text where the innermost extent is symbolic"),
                        multiple_of("TILE", "innermost extent", p->strip, t.fn), need<WORK>(r, r.template get<WORK>() == WORK::off, "no text beside a strip"));
    }
};

// Staging.

struct G5 {
    static constexpr std::string_view id = "G5", means = "The slabs of all slots fit the dynamic shared memory of a block.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target& t, const place& p) {
        const stage& v = r.template get<STAGE>();
        if (!v.uses_smem() || detail::tile_of(r) == TILE::off || path_of(*p.at, detail::tile_of(r)) == path::scalar) return fine;
        return at_most("STAGE", "bytes of shared memory", slab_of(*p.at, detail::tile_of(r), r.template get<WORK>(), v.by, p.score).bytes(v.depth), t.limits.dynamic_smem_bytes);
    }
};
struct G7 {
    static constexpr std::string_view id = "G7", means = "Staged operands have a static reduced axis of whole chunks (a first operand that threads compute may have a symbolic one).";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        if (!detail::copies(r, p) && !detail::takes(r, p, path::fill)) return fine;
        if (p->k == 0) return need<STAGE>(r, detail::takes(r, p, path::fill) && !p->a.stored && !p->b.k_last, "no stage over a symbolic axis");
        return multiple_of("TILE", "elements of the reduced axis", p->k, detail::tile_of(r).chunk());
    }
};
struct G8 {
    static constexpr std::string_view id = "G8", means = "Copied operands have a static output axis of whole tiles along n (threads that copy rows of k may stop short).";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const bool guarded = r.template get<STAGE>().by == transport::smem && p->b.k_last;  // threads copy its rows one by one
        const bool copied = (detail::copies(r, p) && !guarded) || (detail::takes(r, p, path::fill) && !is_filled(p->b) && !p->b.k_last);
        if (!copied) return fine;
        return first_of(need<STAGE>(r, p->n != 0, "no copies along a symbolic axis"), multiple_of("TILE", "elements of the inner output axis", p->n, detail::tile_of(r).columns(r.template get<WORK>())));
    }
};
struct G9 {
    static constexpr std::string_view id = "G9", means = "Where threads compute or convert an operand of a warp tile the stage is smem, or smem-tma if the other operand is copied.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const stage& v = r.template get<STAGE>();
        if (!detail::takes(r, p, path::fill) || v.by == transport::smem) return fine;
        return need<STAGE>(r, v.by == transport::tma && (!is_filled(p->a) || !is_filled(p->b)), "smem, or smem-tma beside an operand that is copied");
    }
};
struct G10 {
    static constexpr std::string_view id = "G10", means = "A box of TMA has 2 to 4 dimensions of at most 256 elements, one coordinate each, and runs and rows of whole 16 bytes.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        const stage& v = r.template get<STAGE>();
        if (v.by != transport::tma || !t.is_warp() || detail::takes(r, p, path::packed) || detail::takes(r, p, path::chunk)) return fine;
        const work& w = r.template get<WORK>();
        const auto box = [&](const operand& o, std::int64_t outer, std::int64_t inner) {
            if (is_filled(o)) return fine;
            const std::int64_t e = detail::bytes_of(o.storage);
            return first_of(at_least("STAGE", "dimensions of a box of TMA", o.rank, 2), at_most("STAGE", "dimensions of a box of TMA", o.rank, 4),
                            need<STAGE>(r, o.affine, "an operand with one coordinate a dimension for smem-tma"), at_most("TILE", "elements of a box of TMA", std::max(outer, inner), 256),
                            multiple_of("TILE", "bytes of a run of TMA", inner * e, 16), o.inner == 0 ? fine : multiple_of("STAGE", "bytes of a row under TMA", o.inner * e, 16));
        };
        return first_of(box(p->a, t.rows(w), t.chunk()), p->b.k_last ? box(p->b, t.columns(w), t.chunk()) : box(p->b, t.chunk(), t.columns(w)));
    }
};
struct G11 {
    static constexpr std::string_view id = "G11", means = "What threads copy or compute has at most two slots (several channels of stored operands excepted).";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target& t, const place& p) {
        const stage& v = r.template get<STAGE>();
        if (v.by != transport::smem || detail::tile_of(r) == TILE::off) return fine;
        const bool stored_channels = p->channels > 1 && !is_filled(p->a) && !is_filled(p->b) && t.cc >= capability{8, 0};
        const bool one = t.cc < capability{8, 0} && detail::takes(r, p, path::fill) && (!p->a.stored || !p->b.stored);
        if (stored_channels || detail::takes(r, p, path::bytes) || detail::takes(r, p, path::chunk)) return fine;
        return at_most("STAGE", "slots", v.depth, one ? 1 : 2);
    }
};
struct G12 {
    static constexpr std::string_view id = "G12", means = "A warp tile reads from registers alone only one stored second operand; computed ones and several channels go through shared memory.";
    using reads = row<TILE, STAGE>;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        const tile& t = detail::tile_of(r);
        if (!t.is_warp() || !p->tiles() || p->chunked) return fine;
        const bool direct = path_of(*p.at, t) == path::copy && p->channels == 1;
        return need<STAGE>(r, direct || r.template get<STAGE>() != STAGE::off || path_of(*p.at, t) == path::bytes || path_of(*p.at, t) == path::packed, "a stage for what cannot be read in place");
    }
};
struct G13 {
    static constexpr std::string_view id = "G13", means = "Values of a rescaled fold over a symbolic axis have one slot and run along the output in memory.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        if (!detail::takes(r, p, path::chunk) || p->k != 0) return fine;
        return first_of(at_most("STAGE", "slots over a symbolic axis", r.template get<STAGE>().depth, 1), need<STAGE>(r, !p->b.k_last, "no stage of values that run along the reduced axis"));
    }
};
struct G14 {
    static constexpr std::string_view id = "G14", means = "A staged scalar tile has threads, a static reduced axis that a chunk of 4 to 128 elements divides, no rescaling, elements of 2 bytes or more, and a first "
                                                          "operand that runs along k.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target& t, const place& p) {
        if (!detail::takes(r, p, path::scalar)) return fine;
        const stage& v = r.template get<STAGE>();
        const work& w = r.template get<WORK>();
        return first_of(need<STAGE>(r, w.form == work_form::threads && w.units() > 1, "no stage without a grid of threads"), need<STAGE>(r, p->k != 0, "no stage over a symbolic axis"),
                        need<STAGE>(r, p->kind != node_kind::twist, "no stage of a rescaled fold under a scalar tile"),
                        at_least("STAGE", "bytes of an element", std::min(detail::bytes_of(p->a.storage), detail::bytes_of(p->b.storage)), 2),
                        need<STAGE>(r, !p->a.stored || p->a.k_last, "no stage of a first operand that does not run along k"),
                        at_least("STAGE", "elements of a chunk that divides the reduced axis and fits the ring", scalar_chunk(*p.at, detail::tile_of(r), w, v.depth, t.limits.dynamic_smem_bytes), 4));
    }
};
struct G15 {
    static constexpr std::string_view id = "G15", means = "A scalar tile whose operands are computed has d1/smem; copies of several channels are blocking.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        if (!detail::takes(r, p, path::scalar)) return fine;
        const stage& v = r.template get<STAGE>();
        return first_of(need<STAGE>(r, (p->a.stored && p->b.stored) || v == stage{transport::smem, 1, 1}, "d1/smem for computed operands"),
                        need<STAGE>(r, p->channels == 1 || v.by == transport::smem, "smem for several channels"));
    }
};
struct G16 {
    static constexpr std::string_view id = "G16", means = "Rows of 4-bit pairs and of their scales are whole 16 bytes: chunks of a multiple of 256 elements that divide the reduced axis.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        if (!detail::takes(r, p, path::packed)) return fine;
        return first_of(multiple_of("TILE", "elements of a chunk", detail::tile_of(r).chunk(), 256), need<STAGE>(r, p->k != 0, "no stage over a symbolic axis"), multiple_of("STAGE", "elements of the reduced axis", p->k, 256));
    }
};
struct G17 {
    static constexpr std::string_view id = "G17", means = "A scalar tile copies rows of whole 16 bytes, and boxes of TMA of at most 256 elements a side.";
    using reads = detail::staged;
    static constexpr finding test(const auto& r, const target&, const place& p) {
        if (!detail::takes(r, p, path::scalar) || !p->a.stored || !p->b.stored) return fine;
        const stage& v = r.template get<STAGE>();
        const work& w = r.template get<WORK>();
        const tile& t = detail::tile_of(r);
        return first_of(v.by == transport::smem ? fine : multiple_of("STAGE", "bytes of a row of the first operand", p->k * detail::bytes_of(p->a.storage), 16),
                        v.by == transport::smem ? fine : multiple_of("STAGE", "bytes of a row of the second operand", (p->b.k_last ? p->k : p->n) * detail::bytes_of(p->b.storage), 16),
                        v.by != transport::tma ? fine : at_most("TILE", "elements of a box of TMA", std::max(t.rows(w), t.columns(w)), 256));
    }
};

/// In the order in which they are reported.
using site_rules = rules<R2, R3, R4, R5, R6n, A2, A3, A4, T1, T2, T3c, T4, T7, G5, G7, G8, G9, G10, G11, G12, G13, G14, G15, G16, G17>;

}  // namespace emmy::fork::gpu
