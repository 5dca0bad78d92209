// Every rule of GPU schedules: rows and kernels that break exactly what it says, and their twins on the legal side of the bound.
#include <emmy/fork/gpu/kernel_rules.hpp>
#include <emmy/knob/literal.hpp>

#include <boost/test/unit_test.hpp>

#include <random>
#include <string>

using namespace emmy;
using namespace emmy::fork::gpu;
namespace k_ = emmy::knob;
using namespace emmy::knob::literals;

namespace {

using dice = std::mt19937_64;
template <class T>
T any(dice& r, std::initializer_list<T> from) { return *(from.begin() + static_cast<std::ptrdiff_t>(r() % from.size())); }
bool coin(dice& r) { return r() % 2 == 0; }

constexpr k_::atom half = "mma_m16n8k16_f16_f32"_atom;
constexpr k_::atom volta = "mma_m8n8k4_f16_f32"_atom;
constexpr k_::atom fp8 = "mma_m16n8k32_e4m3_f32"_atom;
constexpr k_::atom fp4 = "mma_m16n8k64_e2m1_f32"_atom;
constexpr k_::atom wide = "wgmma_m64n64k16_f16_f32"_atom;

/// A row on a kernel: what a rule is asked about.
struct subject {
    kernel k;
    k_::schedule_row r;
    k_::target t = k_::target_of({9, 0});
};

operand stored(dtype t, std::int64_t inner, bool k_last) {
    operand o;
    o.storage = o.type = t, o.inner = inner, o.k_last = k_last;
    return o;
}
operand computed(dtype t) {
    operand o;
    o.stored = false, o.storage = o.type = t, o.unit_stride = false;
    return o;
}
k_::route at(std::string_view text) { return *k_::route::parse(text); }

/// A product M x N x K of a and b, b along n.
site product(dice& r, dtype type = dtype::f16) {
    site s;
    s.at = at("inner"), s.kind = k_::node_kind::inner;
    s.has_tile = s.has_reduce = s.has_stage = s.root = true;
    s.m = any<std::int64_t>(r, {256, 512, 1024, 4096}), s.n = any<std::int64_t>(r, {1024, 2048, 4096}), s.k = any<std::int64_t>(r, {1024, 2048, 4096});
    s.m_axis = 0, s.n_axis = 1, s.k_axis = 2;
    s.a = stored(type, s.k, true), s.b = stored(type, s.n, false);
    return s;
}
site fold(std::string_view address, std::int64_t size) {
    site s;
    s.at = at(address), s.kind = k_::node_kind::reduce;
    s.has_reduce = s.root = true, s.k = size, s.k_axis = 9;
    return s;
}
k_::tile warp_tile(k_::atom a, int fm, int fn, int k) { return {k_::tile_form::warp, a, static_cast<std::uint16_t>(fm), static_cast<std::uint16_t>(fn), static_cast<std::uint16_t>(k)}; }
k_::tile scalar_tile(int fn, int fm) { return {k_::tile_form::scalar, k_::atom::scalar, static_cast<std::uint16_t>(fm), static_cast<std::uint16_t>(fn), 1}; }
k_::work warps(int m, int n, int p = 0) { return {k_::work_form::warps, static_cast<std::uint16_t>(m), static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(p)}; }
k_::work threads(int n, int m = 1) { return {k_::work_form::threads, static_cast<std::uint16_t>(m), static_cast<std::uint16_t>(n), 0}; }
k_::reduce coop(int v = 1, int acc = 1) {
    k_::reduce d;
    d.coop = k_::coop_mode::interleaved, d.vector = static_cast<std::uint16_t>(v), d.accumulators = static_cast<std::uint16_t>(acc);
    return d;
}
k_::reduce coop_t(int lanes = 32) {
    k_::reduce d;
    d.coop = k_::coop_mode::transposed, d.lanes = static_cast<std::uint16_t>(lanes);
    return d;
}
k_::stage ring(k_::transport by, int depth = 1, int p = 1) { return {by, static_cast<std::uint16_t>(depth), static_cast<std::uint16_t>(p)}; }
constexpr auto smem = k_::transport::smem, async = k_::transport::async, tma = k_::transport::tma;

/// A legal row of one product in warps.
subject gemm(dice& r) {
    subject s;
    s.k.sites = {product(r)};
    const int fm = any(r, {1, 2}), fn = any(r, {2, 4}), k = any(r, {2, 4});
    s.r.set<WORK>(any<k_::work>(r, {warps(2, 2), warps(4, 1), warps(1, 4), warps(2, 4)})).set<TILE>(warp_tile(half, fm, fn, k)).set<REDUCE>({}).set<STAGE>(ring(any(r, {async, tma}), any(r, {1, 2}))).set<RASTER>({});
    return s;
}
/// … in threads.
subject scalar_gemm(dice& r) {
    subject s;
    s.k.sites = {product(r, dtype::f32)};
    s.r.set<WORK>(any<k_::work>(r, {threads(16, 8), threads(32, 8), threads(16, 16)})).set<TILE>(scalar_tile(any(r, {1, 2, 4}), any(r, {2, 4}))).set<REDUCE>({}).set<STAGE>(ring(any(r, {smem, async, tma}), any(r, {1, 2}))).set<RASTER>({});
    return s;
}
/// … without a tile: folds in a row.
subject rows(dice& r) {
    subject s;
    s.k.sites = {fold("map.1/reduce", any<std::int64_t>(r, {512, 4096}))};
    s.r.set<WORK>(threads(any(r, {32, 64, 128, 256}))).set<REDUCE>(coop(1, any(r, {1, 2, 4}))).set<RASTER>({});
    return s;
}
/// Values weighted by exp(scores), a chunk of keys at a time.
subject attention(dice& r, k_::atom cell = half) {
    subject s;
    site value = product(r), score = product(r);
    value.at = at("map.1/twist"), value.kind = k_::node_kind::twist, value.chunked = true, value.score = 1, value.a = computed(dtype::f16);
    value.a.folds = true, value.k = 1024, value.n = 128, value.n_axis = 3, value.k_axis = 1;
    value.b = stored(dtype::f16, 128, false);
    score.at = at("map.1/twist.1/inner"), score.root = false, score.n = 1024, score.k = 64, score.k_axis = 4, score.m = value.m;
    score.a = stored(dtype::f16, 64, true), score.b = stored(dtype::f16, 64, true);
    s.k.sites = {value, score};
    const int chunk = any(r, {2, 4});  // atoms of 16 keys
    const int fm = 1;
    s.r.set<WORK>(warps(any(r, {1, 2, 4}), 1)).set<RASTER>({});
    s.r.set<TILE>(warp_tile(cell, fm, any(r, {4, 8}), chunk), value.at).set<STAGE>(ring(async, 1), value.at).set<REDUCE>({}, value.at);
    s.r.set<TILE>(warp_tile(half, fm, chunk * 2, any(r, {2, 4})), score.at).set<STAGE>(ring(async, any(r, {1, 2})), score.at).set<REDUCE>({}, score.at);
    return s;
}
/// A pointwise kernel.
subject strip(dice& r) {
    subject s;
    site one;
    one.at = at("map"), one.has_tile = true, one.root = true, one.strip = any<std::int64_t>(r, {1024, 4096, 384});
    s.k.sites = {one}, s.k.sweepable = true;
    s.r.set<WORK>({}).set<TILE>(scalar_tile(any(r, {2, 4, 8}), 1)).set<RASTER>({});
    return s;
}

/// Ids of the rules that refuse a subject.
std::string refused_by(const subject& s) {
    std::string out;
    const auto add = [&](const k_::finding& f) {
        const std::string id(f.id);
        if ((";" + out).find(";" + id + ";") == std::string::npos) out += id + ";";
    };
    for (const k_::finding& f : k_::gpu::schedule_rules::all(s.r, s.t)) add(f);
    for (const k_::finding& f : kernel_rules::all(s.r, s.t, s.k)) add(f);
    for (const site& one : s.k.sites)
        for (const k_::finding& f : site_rules::all(part_at(s.r, s.k, one), s.t, place_of(s.k, one))) add(f);
    return out;
}

/// A rule, a legal subject at its bound, what takes the subject over the bound, and rules that say the same of it in their own way.
struct mutation {
    std::string_view id;
    subject (*twin)(dice&);
    void (*over)(subject&, dice&);
    std::string_view also = "";
};

subject direct(dice& r) {
    subject s = gemm(r);
    s.r.set<STAGE>({});
    return s;
}
subject two_products(dice& r) {
    subject s = direct(r);
    site other = s.k.sites[0];
    s.k.sites[0].at = at("map.1/inner"), other.at = at("map.2/inner"), other.k_axis = 7;
    const k_::tile t = s.r.value<TILE>();
    const k_::work w = s.r.value<WORK>();
    s.k.sites.push_back(other);
    s.r = {};
    s.r.set<WORK>(w).set<RASTER>({});
    for (const site& one : s.k.sites) s.r.set<TILE>(t, one.at).set<REDUCE>({}, one.at).set<STAGE>({}, one.at);
    return s;
}
subject two_folds(dice& r) {
    subject s;
    s.k.sites = {fold("map.1/reduce", 1024), fold("map.2/reduce", 1024)};
    s.k.shares_outputs = false;
    s.r.set<WORK>(threads(any(r, {32, 64, 128}))).set<RASTER>({}).set<REDUCE>(coop(1, any(r, {1, 2})), s.k.sites[coin(r)].at);
    for (const site& one : s.k.sites)
        if (!s.r.get<REDUCE>(one.at)) s.r.set<REDUCE>({}, one.at);
    return s;
}
/// A statistic of the row, hoisted before the loop of a product.
subject chained(dice& r) {
    subject s;
    site p = product(r), stat = fold("inner.1/map.2/reduce", 1024);
    stat.root = false, stat.chain = true;
    p.b = stored(dtype::f32, p.n, false), p.a = computed(dtype::f32), p.a.folds = p.a.per_row = true;
    s.k.sites = {p, stat};
    s.r.set<WORK>(threads(any(r, {32, 64, 128}))).set<RASTER>({}).set<TILE>({}).set<STAGE>({}).set<REDUCE>(coop(), p.at).set<REDUCE>(coop(), stat.at);
    return s;
}
subject wgmma(dice& r) {
    subject s = gemm(r);
    s.r.set<WORK>(warps(any(r, {4, 8}), 1)).set<TILE>(warp_tile(wide, 1, 8, 4)).set<STAGE>(ring(tma, any(r, {1, 2})));
    return s;
}
/// Normalised rows of a times stored b: threads fill the slab of a.
subject filled(dice& r) {
    subject s = gemm(r);
    s.k.sites[0].a = computed(dtype::f16);
    s.r.set<STAGE>(ring(any(r, {smem, tma}), any(r, {1, 2})));
    return s;
}
subject eight_bits(dice& r) {
    subject s = gemm(r);
    s.k.sites[0].a = stored(dtype::f8e4m3, s.k.sites[0].k, true), s.k.sites[0].b = stored(dtype::f8e4m3, s.k.sites[0].k, true);
    s.r.set<TILE>(warp_tile(fp8, 1, any(r, {2, 4}), any(r, {1, 2, 4}))).set<STAGE>(ring(async, any(r, {1, 2})));
    return s;
}
subject pairs_of_bits(dice& r) {
    subject s = gemm(r);
    s.t = k_::target_of({12, 0});
    for (operand* o : {&s.k.sites[0].a, &s.k.sites[0].b}) *o = computed(dtype::bf16), o->raw = dtype::f4e2m1x2;
    s.r.set<TILE>(warp_tile(fp4, 1, any(r, {1, 2}), any(r, {4, 8}))).set<STAGE>(ring(any(r, {async, tma}), 1));
    return s;
}
subject scan(dice& r) {
    subject s = rows(r);
    s.k.sites[0].kind = k_::node_kind::scan, s.k.sites[0].observed = true;
    s.r.set<WORK>(threads(any(r, {4, 8, 16, 32}))).set<REDUCE>(coop());
    return s;
}
subject transposed(dice& r) {
    subject s = rows(r);
    s.r.set<WORK>(threads(any(r, {32, 64, 128}))).set<REDUCE>(coop_t());
    return s;
}
subject swept(dice& r) {
    subject s = strip(r);
    s.r.set<WORK>(threads(any(r, {4, 64, 512}))).set<TILE>({});
    return s;
}
void set_all_stages(subject& s, const k_::stage& v) {
    for (const site& one : s.k.sites)
        if (one.has_stage) s.r.set<STAGE>(v, key_of<STAGE>(s.k, one));
}

constexpr mutation mutations[] = {
    // The row and the card.
    {"W1", direct, [](subject& s, dice& r) { k_::schedule_row without; without.set<TILE>(s.r.value<TILE>()); if (coin(r)) without.set<WORK>(s.r.value<WORK>()); s.r = without; }, "K3;K4;"},
    {"K1", direct, [](subject& s, dice& r) { s.r.set<WORK>(any<k_::work>(r, {warps(8, 8), warps(16, 4), warps(4, 16), warps(3, 11)})); }},
    {"K2", [](dice& r) { subject s = gemm(r); const int m = any(r, {1, 2}); s.r.set<WORK>(warps(m, 1, m)); set_all_stages(s, ring(tma, 1)); return s; },
     [](subject& s, dice& r) { k_::work w = s.r.value<WORK>(); w.producers = static_cast<std::uint16_t>(w.m + any(r, {1, 2})); s.r.set<WORK>(w); }},
    {"K3", rows, [](subject& s, dice& r) { s.r.set<WORK>(any<k_::work>(r, {{}, threads(1), threads(64, 4), threads(8, 8)})); }},
    {"K4", rows, [](subject& s, dice& r) { s.r.set<WORK>(warps(any(r, {1, 2}), 2)).set<REDUCE>({}); }},
    {"K4s", swept, [](subject& s, dice& r) { if (coin(r)) s.k.sweepable = false; else s.r.set<WORK>(threads(64, any(r, {2, 4}))); }},
    {"K5", [](dice& r) { subject s = direct(r); s.r.set<RASTER>(any<k_::raster>(r, {{k_::raster_axis::m, 8}, {k_::raster_axis::n, 4}, {k_::raster_axis::n, 8}})); return s; },
     [](subject& s, dice& r) { s.r.set<RASTER>(any<k_::raster>(r, {{k_::raster_axis::m, 4}, {k_::raster_axis::n, 2}, {k_::raster_axis::m, 16}})); }},
    {"K5c", strip, [](subject& s, dice&) { s.r.set<RASTER>({k_::raster_axis::m, 8}); }},
    {"K6", [](dice& r) { subject s = gemm(r); s.r.set<WORK>(warps(2, 2, any(r, {1, 2}))); set_all_stages(s, ring(tma, any(r, {1, 2}))); return s; },
     [](subject& s, dice& r) { set_all_stages(s, any<k_::stage>(r, {ring(async, 1), ring(async, 2), ring(smem, 1), {}})); }},
    {"K6f", [](dice& r) { subject s = gemm(r); s.r.set<WORK>(warps(2, 2, any(r, {1, 2}))); set_all_stages(s, ring(tma, any(r, {1, 2}))); return s; },
     [](subject& s, dice& r) { if (coin(r)) s.k.split_piece = true; else s.k.sites[0].a = computed(dtype::f16); }},
    {"K7", two_products, [](subject& s, dice& r) { k_::tile t = s.r.value<TILE>(s.k.sites[1].at); (coin(r) ? t.fm : t.fn) *= 2; s.r.set<TILE>(t, s.k.sites[1].at); }},
    {"K8", two_folds, [](subject& s, dice& r) { for (const site& one : s.k.sites) s.r.set<REDUCE>(coop(1, any(r, {1, 2, 4})), one.at); }},
    {"K9", chained, [](subject& s, dice&) { s.r.set<WORK>(threads(64)).set<REDUCE>(coop_t(), s.k.sites[0].at); }},
    {"W2", two_products, [](subject& s, dice& r) {
         if (coin(r)) s.r.set<TILE>(s.r.value<TILE>(s.k.sites[0].at));
         else s.r.set<STAGE>({}, at(coin(r) ? "map.3/inner" : "map.1/reduce"));
     }},
    // Reduces.
    {"R1", direct, [](subject& s, dice& r) { k_::reduce d; d.accumulators = static_cast<std::uint16_t>(any(r, {2, 4})); s.r.set<REDUCE>(d); }},
    {"R2", chained, [](subject& s, dice&) { s.k.sites[1].chain = false; }},
    {"R3", [](dice& r) { subject s = direct(r); s.k.sites[0].k = any<std::int64_t>(r, {64, 1024}); s.r.set<WORK>(threads(64)).set<TILE>({}).set<REDUCE>(coop(1, any(r, {1, 2}))); return s; }, [](subject& s, dice&) { s.k.sites[0].k = 0; }},
    {"R4", rows, [](subject& s, dice& r) { s.k.sites[0].*any<bool site::*>(r, {&site::in_sweep, &site::carries, &site::finalize}) = true; }},
    {"R5", scan, [](subject& s, dice& r) { if (coin(r)) s.r.set<WORK>(threads(any(r, {64, 2, 128}))); else s.r.set<REDUCE>(coop(any(r, {2, 4}))); }},
    {"R6", transposed, [](subject& s, dice& r) { if (coin(r)) s.r.set<WORK>(threads(any(r, {16, 48, 8}))); else s.r.set<WORK>(threads(64)).set<REDUCE>(coop_t(8)); }},
    {"R6n", transposed, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].free_axis = false; else s.k.sites[0].loop_in_epilogue = true; }},
    // Tiles.
    {"A1", direct, [](subject& s, dice& r) { s.t = k_::target_of(any<capability>(r, {{7, 0}, {7, 5}})); }},
    {"A2", direct, [](subject& s, dice& r) { const dtype other = any(r, {dtype::f32, dtype::bf16}); for (operand* o : {&s.k.sites[0].a, &s.k.sites[0].b}) o->storage = o->type = other; }},
    {"A3", direct, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].free_axes = static_cast<std::uint8_t>(r() % 2); else s.k.sites[0].straight_epilogue = false; }},
    {"A4", direct, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].a.k_last = false; else s.k.sites[0].a.inner += any(r, {1, 4, 8}); }},
    {"T1", [](dice& r) { subject s = eight_bits(r); s.r.set<STAGE>({}); return s; }, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].k = 0; else s.k.sites[0].k += any(r, {8, 16, 24}); }},
    {"T2", [](dice& r) { return attention(r); }, [](subject& s, dice&) { s.r.set<TILE>(warp_tile(fp8, 1, 4, 1), s.k.sites[0].at); s.k.sites[0].b.type = s.k.sites[0].b.storage = dtype::f8e4m3; }, "T5;A2;T1;G5;"},
    {"T3", wgmma, [](subject& s, dice& r) {
         switch (r() % 4) {
             case 0: s.r.set<WORK>(warps(any(r, {1, 2, 6}), 1)); break;
             case 1: s.r.set<WORK>(warps(4, any(r, {2, 4}))); break;
             case 2: s.r.set<TILE>(warp_tile(wide, 2, 8, 4)); break;
             default: s.r.set<TILE>(warp_tile(wide, 1, any(r, {4, 2}), 4)); break;
         }
     }},
    {"T3r", [](dice& r) { subject s = wgmma(r); s.r.set<WORK>(warps(any(r, {4, 8}), 1)).set<TILE>(warp_tile(wide, 1, 16, 4)).set<STAGE>(ring(tma, 1)); return s; },
     [](subject& s, dice& r) { s.r.set<WORK>(warps(any(r, {20, 24}), 1)); }, "T3c;G10;G5;"},
    {"T3c", [](dice& r) { subject s = wgmma(r); s.k.sites[0].channels = 2; s.r.set<TILE>(warp_tile(wide, 1, any(r, {8, 16}), 4)).set<STAGE>(ring(tma, 1)); s.k.sites[0].n = 4096; return s; },
     [](subject& s, dice& r) { s.r.set<TILE>(warp_tile(wide, 1, 32, 4)); s.k.sites[0].channels = static_cast<std::uint8_t>(any(r, {2, 3})); }, "G5;"},
    {"T4", [](dice& r) { subject s = scalar_gemm(r); s.r.set<STAGE>({}); return s; }, [](subject& s, dice& r) { (coin(r) ? s.k.sites[0].rest_uniform_m : s.k.sites[0].rest_uniform_n) = false; }},
    {"T5", [](dice& r) { return attention(r); }, [](subject& s, dice& r) {
         k_::tile t = s.r.value<TILE>(s.k.sites[1].at);
         if (coin(r)) t.fn = static_cast<std::uint16_t>(t.fn + any(r, {1, 2})); else t = {};
         s.r.set<TILE>(t, s.k.sites[1].at).set<STAGE>({}, s.k.sites[1].at);
     }},
    {"T6", [](dice& r) { return attention(r); }, [](subject& s, dice& r) {
         const int k = any(r, {4, 8});
         s.k.sites[0].n = 4096;
         s.r.set<TILE>(warp_tile(half, 1, any(r, {64, 128}), k), s.k.sites[0].at).set<TILE>(warp_tile(half, 1, k * 2, 2), s.k.sites[1].at).set<STAGE>({}, s.k.sites[0].at).set<STAGE>({}, s.k.sites[1].at);
     }},
    {"T7", strip, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].strip = any<std::int64_t>(r, {0, 1021, 77}); else s.r.set<TILE>(scalar_tile(2, any(r, {2, 4}))); }},
    // Staging.
    {"G1", [](dice& r) { subject s = gemm(r); s.t = k_::target_of({8, 0}); set_all_stages(s, ring(async, any(r, {1, 2}))); return s; }, [](subject& s, dice& r) { set_all_stages(s, ring(tma, any(r, {1, 2}))); }},
    {"G2", [](dice& r) { subject s = gemm(r); s.r.set<WORK>({}).set<TILE>({}).set<STAGE>({}); return s; }, [](subject& s, dice& r) { set_all_stages(s, ring(any(r, {smem, async}), 1)); }},
    {"G3", [](dice& r) { subject s = gemm(r); set_all_stages(s, ring(any(r, {async, tma}), any(r, {1, 2}), 2)); return s; }, [](subject& s, dice&) { k_::tile t = s.r.value<TILE>(); t.k = 1; s.r.set<TILE>(t); }},
    {"G4", [](dice& r) { subject s = wgmma(r); s.r.set<WORK>(warps(4, 1)).set<STAGE>(ring(tma, 8)); return s; }, [](subject& s, dice& r) { s.r.set<TILE>(warp_tile(half, 1, 2, 2)); set_all_stages(s, ring(any(r, {async, tma}), 8)); }},
    {"G6", wgmma, [](subject& s, dice&) { set_all_stages(s, {}); }},
    {"G5", [](dice& r) { subject s = gemm(r); s.r.set<WORK>(warps(2, 2)).set<TILE>(warp_tile(half, 2, 4, 4)).set<STAGE>(ring(async, any(r, {3, 4}))); return s; },
     [](subject& s, dice& r) { s.t = k_::target_of(any<capability>(r, {{8, 9}, {12, 0}, {8, 0}})); s.r.set<TILE>(warp_tile(half, 4, 8, 8)).set<STAGE>(ring(async, 4)); }},
    {"G7", gemm, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].k = 0; else s.k.sites[0].k += any(r, {8, 16, 24}); }},
    {"G8", gemm, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].n = 0; else s.k.sites[0].n += any(r, {8, 1}); }},
    {"G9", filled, [](subject& s, dice& r) { if (coin(r)) set_all_stages(s, ring(async, any(r, {1, 2}))); else s.k.sites[0].b = computed(dtype::f16), set_all_stages(s, ring(tma, 1)); }},
    {"G10", [](dice& r) { subject s = gemm(r); set_all_stages(s, ring(tma, any(r, {1, 2}))); return s; }, [](subject& s, dice& r) {
         operand& b = s.k.sites[0].b;
         switch (r() % 3) {
             case 0: b.rank = static_cast<std::uint8_t>(any(r, {1, 5})); break;
             case 1: b.affine = false; break;
             default: b.inner += any(r, {1, 4}); break;
         }
     }},
    {"G11", filled, [](subject& s, dice& r) { set_all_stages(s, ring(smem, any(r, {3, 4}))); }},
    {"G12", filled, [](subject& s, dice&) { set_all_stages(s, {}); }},
    {"G13", [](dice& r) { subject s = attention(r); s.k.sites[0].k = s.k.sites[1].n = 0; s.r.set<STAGE>({}, s.k.sites[1].at); return s; },
     [](subject& s, dice& r) { if (coin(r)) s.r.set<STAGE>(ring(async, any(r, {2, 3})), s.k.sites[0].at); else s.k.sites[0].b.k_last = true; }},
    {"G14", scalar_gemm, [](subject& s, dice& r) {
         switch (r() % 3) {
             case 0: s.k.sites[0].k = 0; break;
             case 1: s.k.sites[0].a.k_last = false; break;
             default: s.k.sites[0].k = 1022; break;
         }
     }, "G17;"},
    {"G15", [](dice& r) { subject s = scalar_gemm(r); s.k.sites[0].a = computed(dtype::f32); s.r.set<STAGE>(ring(smem, 1)); return s; }, [](subject& s, dice& r) { set_all_stages(s, ring(any(r, {async, tma}), any(r, {1, 2}))); }},
    {"G16", pairs_of_bits, [](subject& s, dice& r) { k_::tile t = s.r.value<TILE>(); t.k = static_cast<std::uint16_t>(any(r, {1, 2})); if (coin(r)) s.r.set<TILE>(t); else s.k.sites[0].k = 0; }, "G7;"},
    {"G17", [](dice& r) { subject s = scalar_gemm(r); set_all_stages(s, ring(any(r, {async, tma}), 1)); return s; }, [](subject& s, dice& r) { if (coin(r)) s.k.sites[0].n += any(r, {1, 2}); else s.r.set<WORK>(threads(64, 8)).set<TILE>(scalar_tile(26, 1)).set<STAGE>(ring(tma, 1)); }},
    {"G18", direct, [](subject& s, dice&) { set_all_stages(s, {k_::transport::registers, 1, 1}); }, "G12;"},
};

/// All but one of the ids, and those that say the same.
std::string others(std::string ids, std::string_view own, std::string_view also) {
    std::string out;
    for (std::size_t from = 0; from < ids.size();) {
        const std::size_t to = ids.find(';', from);
        const std::string one = ids.substr(from, to - from);
        if (one != own && (";" + std::string(also)).find(";" + one + ";") == std::string::npos) out += one + ";";
        from = to + 1;
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_rules)

BOOST_AUTO_TEST_CASE(each_rule_refuses_its_mutants_and_passes_their_twins) {
    for (const mutation& m : mutations) {
        dice r(7);
        int twins = 0, mutants = 0;
        std::string wrong_twin, wrong_mutant;
        for (int i = 0; i < 120; ++i) {
            subject s = m.twin(r);
            const std::string before = refused_by(s);
            twins += before.empty();
            if (!before.empty() && wrong_twin.empty()) wrong_twin = before;
            m.over(s, r);
            const std::string after = refused_by(s);
            const bool there = (";" + after).find(";" + std::string(m.id) + ";") != std::string::npos && others(after, m.id, m.also).empty();
            mutants += there;
            if (!there && wrong_mutant.empty()) wrong_mutant = "[" + after + "] " + [&] { std::string t; s.r.each([&](std::string_view k, std::string_view v) { ((((t += k) += "=") += v) += " "); }); return t; }();
        }
        BOOST_TEST(twins == 120, m.id << ": twins refused by " << wrong_twin);
        BOOST_TEST(mutants >= 100, m.id << ": " << mutants << " of 120 mutants, others are refused by " << wrong_mutant);
    }
}

BOOST_AUTO_TEST_CASE(no_rule_is_without_mutants) {
    const auto there = [](std::string_view id) {
        for (const mutation& m : mutations)
            if (m.id == id) return true;
        return false;
    };
    std::size_t rules = 0;
    const auto look = [&]<class R>() {
        ++rules;
        BOOST_TEST(there(R::id), R::id);
    };
    k_::gpu::schedule_rules::each(look);
    kernel_rules::each(look);
    site_rules::each(look);
    BOOST_TEST(rules == std::size(mutations));
}

BOOST_AUTO_TEST_SUITE_END()
