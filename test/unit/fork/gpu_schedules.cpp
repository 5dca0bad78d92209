// The rows of a GPU kernel: order, ranks, what measured rows and pins make of them. Kernels by hand: no file is needed.
#include <emmy/fork/gpu/schedules.hpp>

#include <emmy/fork/gpu/kernel_rules.hpp>
#include <emmy/knob/pin.hpp>
#include <emmy/knob/row_text.hpp>

#include <boost/test/unit_test.hpp>

#include <set>

using namespace emmy;
using namespace emmy::fork;

namespace {

gpu::site product(std::string_view at, dtype type, std::int64_t m, std::int64_t n, std::int64_t k) {
    gpu::site s;
    s.at = *knob::route::parse(at), s.kind = knob::node_kind::inner;
    s.has_tile = s.has_reduce = s.has_stage = s.root = true;
    s.m = m, s.n = n, s.k = k, s.m_axis = 0, s.n_axis = 1, s.k_axis = 2;
    s.a.storage = s.a.type = s.b.storage = s.b.type = type;
    s.a.k_last = true, s.a.inner = k, s.b.inner = n;
    return s;
}
gpu::kernel one(gpu::site s) {
    gpu::kernel k;
    k.sites.push_back(std::move(s));
    return k;
}
gpu::kernel statistic(std::int64_t size) {
    gpu::site s;
    s.at = *knob::route::parse("map.1/reduce"), s.kind = knob::node_kind::reduce;
    s.has_reduce = s.root = true, s.k = size, s.k_axis = 2;
    return one(s);
}
/// A statistic hoisted before the loop of a product: two sites of REDUCE.
gpu::kernel normalised() {
    gpu::kernel k = one(product("map.1/inner", dtype::f32, 256, 256, 1024));
    k.sites[0].a.stored = false, k.sites[0].a.folds = k.sites[0].a.per_row = true;
    gpu::site s;
    s.at = *knob::route::parse("map.1/inner.1/map.2/reduce"), s.kind = knob::node_kind::reduce;
    s.has_reduce = s.chain = true, s.k = 1024, s.k_axis = 3;
    k.sites.push_back(s);
    return k;
}
knob::target card(std::uint16_t generation, std::uint16_t revision) { return knob::target_of({generation, revision}); }

knob::schedule_row pins_of(std::string_view text) { return knob::pin_list::parse(text).value().schedule_for({}); }
std::string why(const result<gpu_schedules>& s) { return s ? "pinned" : s.error().line(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu_schedule_rows)

BOOST_AUTO_TEST_CASE(a_fold_alone_has_the_catalog_of_reduces) {
    // 47 values on most cards, 67 on 7.0, and the packings of coops of 4, 8, 16 and 32 to 128 threads: 3 values of r each.
    BOOST_TEST(gpu_schedules::make(statistic(4096), card(9, 0)).size() == 47u + 12u);
    BOOST_TEST(gpu_schedules::make(statistic(4096), card(7, 0)).size() == 67u + 12u);
    BOOST_TEST(knob::pin_text(gpu_schedules::make(statistic(4096), card(9, 0)).first().value()) == "RASTER=,REDUCE=,WORK=");
}

BOOST_AUTO_TEST_CASE(every_row_is_legal_distinct_and_has_its_rank) {
    for (const gpu::kernel& k : {one(product("inner", dtype::f32, 256, 256, 512)), normalised(), statistic(512)}) {
        for (const knob::target& t : {card(7, 0), card(8, 0), card(9, 0), card(12, 0)}) {
            const gpu_schedules all = gpu_schedules::make(k, t);
            BOOST_REQUIRE(all.size() > 0u);
            std::set<std::string> seen;
            std::uint64_t at = 0;
            const std::uint64_t step = all.size() / 200 + 1;
            for (; at < all.size(); at += step) {
                const knob::schedule_row r = all.unrank(at);
                BOOST_TEST(all.rank(r).value() == at);
                BOOST_TEST(all.contains(r));
                BOOST_TEST(!all.check(r), all.check(r).sentence().view());
                BOOST_TEST(seen.insert(knob::pin_text(r)).second);
                BOOST_TEST((all.option_for(all.pairs(r)) == r));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(atoms_come_before_threads_and_the_policy_of_precision_filters_offers_only) {
    const gpu::kernel k = one(product("inner", dtype::f16, 512, 512, 1024));
    const gpu_schedules all = gpu_schedules::make(k, card(9, 0)), strict = gpu_schedules::make(k, card(9, 0), {.f16_accumulators = false, .fp8 = false});
    BOOST_TEST(knob::pin_text(all.first().value()) == "RASTER=,REDUCE=,STAGE=,TILE=mma_m16n8k16_f16_f32/f1x1,WORK=w1x1");
    BOOST_TEST(strict.size() < all.size());
    const auto half = pins_of("TILE=mma_m16n8k16_f16_f16/f2x4/k2,WORK=w2x2,STAGE=d2/smem-tma");
    BOOST_TEST(all.option_for(all.pairs(all.pinned(half).value().first().value())).has_value());
    // A followed row does not pass the policy, a hand does.
    BOOST_TEST(!strict.option_for(all.pairs(all.pinned(half).value().first().value())).has_value());
    BOOST_TEST(strict.pinned(half).value().size() == 2u);  // RASTER is left open
}

BOOST_AUTO_TEST_CASE(producer_warps_come_with_tma_everywhere) {
    const gpu_schedules all = gpu_schedules::make(one(product("inner", dtype::f16, 512, 512, 1024)), card(9, 0));
    const gpu_schedules pinned = all.pinned(pins_of("TILE=mma_m16n8k16_f16_f32/f2x4/k2,STAGE=d2/smem-tma,RASTER=")).value();
    std::set<std::string> works;
    pinned.walk([&](const knob::schedule_row& r) { return works.insert(knob::WORK::spell(r.value<knob::WORK>()).str()), true; });
    BOOST_TEST(works.contains("w2x2"));
    BOOST_TEST(works.contains("w2x2+p2"));
    BOOST_TEST(!works.contains("w1x1+p2"));  // more producers than computing warps
    BOOST_TEST(why(all.pinned(pins_of("WORK=w2x2+p1,STAGE=d2/smem-async"))).starts_with("WORK: no legal row has [w2x2+p1] beside the other pins, expected [w2x2]"));
}

BOOST_AUTO_TEST_CASE(a_row_is_read_checked_and_completed) {
    const gpu_schedules all = gpu_schedules::make(one(product("inner", dtype::f16, 512, 512, 1024)), card(9, 0));
    const std::vector<std::pair<std::string, std::string>> texts{{"WORK", "w2x2"}, {"TILE", "mma_m16n8k16_f16_f32/f2x4/k2"}, {"STAGE", "d2/smem-tma"}};
    BOOST_TEST(knob::pin_text(all.row(texts).value()) == "RASTER=,REDUCE=,STAGE=d2/smem-tma,TILE=mma_m16n8k16_f16_f32/f2x4/k2,WORK=w2x2");
    const auto said = [&](std::vector<std::pair<std::string, std::string>> more) { return all.row(more).error().line(); };
    BOOST_TEST(said({{"WORK", "w8x8"}, {"TILE", "mma_m16n8k16_f16_f32/f2x4/k2"}}) == "K1 WORK: threads of a block is 2048, must be at most 1024");
    BOOST_TEST(said({{"WORK", "w2x2"}, {"TILE", "mma_m16n8k16_f16_f32/f8x4/k8"}, {"STAGE", "d8/smem-tma"}}).starts_with("G4 STAGE: found [d8/smem-tma]"));
    BOOST_TEST(said({{"TILE@map.1/inner", "f4"}}) == "W2 TILE: found [TILE@map.1/inner], expected the address of a site of the kernel");
    BOOST_TEST(said({{"TILE", "f4x1"}}).starts_with("TILE: found [f4x1]"));
    BOOST_TEST(said({{"WORK", "w4x4"}, {"TILE", "mma_m16n8k16_f16_f32/f4x8/k8"}, {"STAGE", "d4/smem-async"}}) == "G5 STAGE: bytes of shared memory is 524288, must be at most 232448");
}

BOOST_AUTO_TEST_CASE(a_bare_measured_key_over_several_sites_means_one_of_them) {
    const gpu_schedules all = gpu_schedules::make(normalised(), card(9, 0));
    const auto option = all.option_for(std::vector<std::pair<std::string, std::string>>{{"WORK", "t128"}, {"RASTER", ""}, {"TILE", ""}, {"STAGE", ""}, {"REDUCE", "coop"}});
    BOOST_REQUIRE(option.has_value());
    BOOST_TEST(knob::pin_text(*option) == "RASTER=,REDUCE@map.1/inner=coop,REDUCE@map.1/inner.1/map.2/reduce=,STAGE=,TILE=,WORK=t128");
    // A pin alike: some site carries it, the others too or not at all.
    const gpu_schedules pinned = all.pinned(pins_of("REDUCE=coop,WORK=t128")).value();
    std::size_t rows = 0;
    pinned.walk([&](const knob::schedule_row& r) {
        BOOST_TEST(knob::honours(r, pins_of("REDUCE=coop")));
        return ++rows, true;
    });
    BOOST_TEST(rows == 3u);
    BOOST_TEST(pinned.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_pin_without_a_row_names_the_nearest_legal_values) {
    const gpu_schedules all = gpu_schedules::make(one(product("inner", dtype::f16, 512, 512, 1024)), card(8, 0));
    BOOST_TEST(why(all.pinned(pins_of("STAGE=d2/smem-tma"))) == "STAGE: no legal row has [d2/smem-tma], expected [d2/smem], [d2/smem/p2] or [d1/smem]");
    BOOST_TEST(why(all.pinned(pins_of("WORK=w3x2"))).starts_with("WORK: no legal row has [w3x2], expected [w1x2], [w2x2] or [w4x2]"));
    BOOST_TEST(why(all.pinned(pins_of("TILE@map.3/inner=f4"))) == "TILE@map.3/inner: names no site, expected one of inner");
    BOOST_TEST(why(all.pinned(pins_of("RASTER=gn8,TILE=f4x4"))) == "pinned");  // named only
    const gpu_schedules folds = gpu_schedules::make(statistic(4096), card(8, 0));
    BOOST_TEST(folds.pinned(pins_of("REDUCE=coop/v4,WORK=t128")).value().size() == 1u);  // by name only
    BOOST_TEST(why(folds.pinned(pins_of("TILE=f4"))).ends_with("the kernel has no place for it"));
}

BOOST_AUTO_TEST_CASE(rings_are_cut_where_shared_memory_ends) {
    const gpu::site s = product("inner", dtype::f16, 4096, 4096, 4096);
    const knob::work w{knob::work_form::warps, 2, 2, 0};
    const knob::tile t{knob::tile_form::warp, knob::parse_atom("mma_m16n8k16_f16_f32").operator*(), 4, 8, 4};
    const gpu::slab slab = gpu::slab_of(s, t, w, knob::transport::tma, nullptr);
    BOOST_TEST(slab.slot == (128 + 128) * 64 * 2);
    for (std::int64_t budget = 0; budget < 400000; budget += 1021) {  // the bound is the last depth that fits
        const std::int64_t deepest = slab.deepest(budget);
        BOOST_TEST((deepest == 0 || slab.bytes(deepest) <= budget));
        BOOST_TEST(slab.bytes(deepest + 1) > budget);
    }
}

BOOST_AUTO_TEST_SUITE_END()
