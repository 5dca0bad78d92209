// Spellings of every family: accepted ones spell themselves again, refused ones say what was expected and where.
#include <emmy/knob.hpp>

using namespace emmy::knob;
using namespace emmy::knob::literals;

namespace {

template <class F>
constexpr bool spells_itself(std::initializer_list<std::string_view> texts) {
    for (std::string_view text : texts) {
        const auto value = F::parse(text);
        if (!value || F::spell(*value).view() != text) return false;
    }
    return true;
}
template <class F>
constexpr bool refused_at(std::string_view text, std::uint32_t offset) {
    const auto value = F::parse(text);
    return !value && value.error().offset == offset && value.error().found == text && !value.error().expected.empty();
}
template <class F>
constexpr bool refuses_all(std::initializer_list<std::string_view> texts) {
    for (std::string_view text : texts)
        if (F::parse(text)) return false;
    return true;
}

static_assert(spells_itself<WORK>({"", "t128", "t512", "w2x2", "w4x1", "w1x16", "t16x8", "t4x32", "w1x4+p2", "t1", "w65535x65535+p65535"}));
static_assert(refuses_all<WORK>({"t32x1", "w4", "w2x2+p0", "T128", " t128", "t128 ", "t0", "t01", "t", "w", "w0x1", "wx1", "w2x", "t8+p1", "w2x2+p", "w65536x1",
                                 "w99999999999999999999x1", "w2x2+p1x", "x", "t8x", "w-1x2", "w2X2"}));
static_assert(refused_at<WORK>("t32x1", 3) && refused_at<WORK>("w4", 2) && refused_at<WORK>("w2x2+p0", 6) && refused_at<WORK>("T128", 0) && refused_at<WORK>(" t128", 0));
static_assert("w4x1"_work == work{work_form::warps, 4, 1} && "t16x8"_work == work{work_form::threads, 8, 16});
static_assert("w1x4+p2"_work.threads() == 192 && "t16x8"_work.threads() == 128 && ""_work.threads() == 1 && "w65535x65535"_work.threads() == 32ll * 65535 * 65535);
static_assert("t4x32"_work.coop_width() == 4 && "w4x1"_work.coop_width() == 1);

static_assert(spells_itself<TILE>({"", "f1", "f4", "f4x8", "f4x26", "f1x2", "mma_m16n8k16_f16_f32/f1x1", "mma_m16n8k16_f16_f16/f4x8/k8", "mma_m8n8k4_f16_f32/f2x2/k8",
                                   "mma_m16n8k32_e4m3_f32/f26x4/k2", "mma_m16n8k64_e2m1_f32/f1x1/k8", "wgmma_m64n256k16_f16_f32/f1x32/k4",
                                   "mma_m16n8k16_bf16_f32/f2x4/k2", "mma_m16n8k32_e5m2_f32/f1x2", "wgmma_m64n128k16_bf16_f32/f65535x65535/k65535"}));
static_assert(refuses_all<TILE>({"f4x1", "f1x1", "f", "f0", "f4x", "f4/k2", "mma_m16n8k16_f16_f32", "mma_m16n8k16_f16_f32/f4", "mma_m16n8k16_f16_f32/f1x1/k1",
                                 "mma_m16n8k16_f16_f32/f01x1", "mma_m16n8k16_f64_f64/f1x1", "scalar/f1x1", "/f1x1", "mma_m16n8k16_f16_f32/f1x1/k2/k2", "F4", "mma"}));
static_assert(refused_at<TILE>("f4x1", 2) && refused_at<TILE>("mma_m16n8k16_f16_f32/f1x1/k1", 25) && refused_at<TILE>("mma_m16n8k16_f64/f1x1", 0));
static_assert("f4x8"_tile.fn == 4 && "f4x8"_tile.fm == 8 && "mma_m16n8k16_f16_f32/f4x8/k2"_tile.fm == 4);
static_assert("mma_m16n8k16_f16_f32/f4x8/k2"_tile.rows("w2x4"_work) == 128 && "mma_m16n8k16_f16_f32/f4x8/k2"_tile.columns("w2x4"_work) == 256 &&
              "mma_m16n8k16_f16_f32/f4x8/k2"_tile.chunk() == 32);
static_assert("f4x6"_tile.rows("t16x8"_work) == 48 && "f4x6"_tile.columns("t16x8"_work) == 64);
static_assert(!TILE::parse("mma_m16n8k16_f16_f32/f1x1", "t32"_work) && TILE::parse("mma_m16n8k16_f16_f32/f1x1", "w1x1"_work));
static_assert(!TILE::parse("f1", ""_work) && !TILE::parse("f1", "t1"_work) && TILE::parse("f1", "t2"_work) && TILE::parse("f4", ""_work));

static_assert(spells_itself<REDUCE>({"", "coop", "coop/r2", "coop-t", "coop-t/v4", "coop-t/n8/v4", "coop/v2", "r2", "g2k", "g64a", "g4k/coop/r2", "g4a/r2",
                                     "g65535k/coop-t/n8/v65535/r65535"}));
static_assert(refuses_all<REDUCE>({"g4", "coop/v1", "r2/coop", "coop-t/n32", "coop-t/n16", "coop/n8", "n8", "v2", "v2/r2", "r1", "g1k", "g0k", "g4x", "coop/", "/coop", "coop//r2",
                                   "coop/coop", "coop-t/v2/v2", "coop-t/v2/n8", "coopr2", "coop-x", "g2k/", "g2kcoop", "Coop", "r2/g2k"}));
static_assert(refused_at<REDUCE>("g4", 2) && refused_at<REDUCE>("coop/v1", 4) && refused_at<REDUCE>("r2/coop", 2) && refused_at<REDUCE>("coop-t/n32", 6));
static_assert(!REDUCE::parse("coop", ""_work) && !REDUCE::parse("coop", "w4x1"_work) && REDUCE::parse("coop", "t4x32"_work) && !REDUCE::parse("coop", "t1"_work));
static_assert(!REDUCE::parse("coop-t/n8", "t36"_work) && REDUCE::parse("coop-t/n8", "t64"_work) && REDUCE::parse("r2", ""_work));
static_assert(REDUCE::role_of("g4k"_reduce) == role::structural && REDUCE::role_of("coop"_reduce) == role::schedule && "g4k/coop"_reduce.inside() == "coop"_reduce);

static_assert(spells_itself<STAGE>({"", "d1/reg", "d2/smem", "d3/smem-async", "d4/smem-tma", "d8/smem-async/p2", "d1/smem-tma/p3"}));
static_assert(refuses_all<STAGE>({"d2", "d2/smem/p1", "d2/reg", "d1/direct", "smem", "d1/reg/p2", "d0/smem", "d1/", "d1/smemx", "d1/smem-", "d1/smem/p", "d1/smem/p0", "D1/smem", "d01/smem"}));
static_assert(refused_at<STAGE>("d2", 2) && refused_at<STAGE>("d2/smem/p1", 7) && refused_at<STAGE>("d2/reg", 3) && refused_at<STAGE>("smem", 0));
static_assert(offers({8, 0}, transport::async) && !offers({7, 5}, transport::async) && !offers({8, 9}, transport::tma) && offers({9, 0}, transport::tma));

static_assert(spells_itself<RASTER>({"", "gm8", "gn4", "gm2"}) && refuses_all<RASTER>({"gm1", "gm", "g8", "gx2", "gm02", "gm8 ", "GM8"}) && refused_at<RASTER>("gm1", 2));
static_assert(spells_itself<PLACE>({"fuse", "cut"}) && refuses_all<PLACE>({"", "Cut", "cut "}));
static_assert(spells_itself<LAYOUT>({"folded", "source"}) && refuses_all<LAYOUT>({"", "fold"}));
static_assert(spells_itself<LOOPIFY>({"0", "2", "16"}) && refuses_all<LOOPIFY>({"", "1", "00", "02", "-1", "65536"}));
static_assert(spells_itself<SHARED_CARRY>({"0", "1"}) && refuses_all<SHARED_CARRY>({"", "2", "true", "00"}));
static_assert(spells_itself<TEAM>({"1", "2", "64"}) && refuses_all<TEAM>({"", "0", "01", "two"}));
static_assert(spells_itself<UNROLL>({"1", "64"}) && refuses_all<UNROLL>({"", "0"}));
static_assert(spells_itself<FAST_MATH>({"true", "false"}) && refuses_all<FAST_MATH>({"2", "y", "truee", "o n", "TRUE "}));
static_assert(*FP8_MMA::parse("YES") && *FP8_MMA::parse("1") && *FP8_MMA::parse("On") && !*FP8_MMA::parse("") && !*FP8_MMA::parse("OFF") && !*FP8_MMA::parse("No"));
static_assert(effective_gate({}, {}, true) && !effective_gate({}, {}, false) && !effective_gate({}, false, true) && effective_gate(true, false, false));

// The atoms: every name found, gates as the instruction set has them.
constexpr bool atoms_are_found() {
    for (std::size_t i = 0; i < atom_table.size(); ++i)
        if (*parse_atom(atom_table[i].name) != static_cast<atom>(i) || parse_atom(name_of(static_cast<atom>(i))).error().expected.size() != 0) return false;
    return !parse_atom("scalar") && !parse_atom("");
}
static_assert(atoms_are_found());
static_assert("mma_m16n8k16_f16_f32"_atom == static_cast<atom>(2) && facts("mma_m16n8k16_f16_f32"_atom).n == 8);
static_assert(parse_atom("typo").error().sentence() == "atom: found [typo], expected an atom (mma_..., wgmma_...) at offset 0");
static_assert(facts(atom::scalar).m == 1 && facts(static_cast<atom>(14)).operand == emmy::dtype::none && name_of(atom::scalar) == "scalar" && offers({7, 0}, atom::scalar));
constexpr int offered(emmy::capability cc) {
    int out = 0;
    for (std::size_t i = 0; i < atom_table.size(); ++i) out += offers(cc, static_cast<atom>(i));
    return out;
}
static_assert(offered({7, 0}) == 2 && offered({7, 5}) == 2 && offered({8, 0}) == 3 && offered({8, 9}) == 5 && offered({9, 0}) == 11 && offered({10, 0}) == 5 && offered({12, 0}) == 6 &&
              offered({0, 0}) == 0);

// Refusals are sentences; hostile text is cut and made printable.
static_assert(WORK::parse("w4y1").error().sentence() == "WORK: found [w4y1], expected x and the second dimension at offset 2");
static_assert(WORK::parse("w\n\x7f").error().sentence() == "WORK: found [w\?\?], expected a number from 1 up, no leading zero at offset 1");
static_assert(RASTER::parse("gm65536").error().message() == "found [gm65536], expected a number of at most 65535 at offset 2");

}  // namespace
