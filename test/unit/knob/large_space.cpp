// A space of millions of raw points: counted, ranked and sampled without visiting them.
#include "support/gemm_space.hpp"

#include <boost/test/unit_test.hpp>

using namespace emmy::knob;
using namespace emmy::test;

BOOST_AUTO_TEST_SUITE(knob_large_space)

BOOST_AUTO_TEST_CASE(is_indexed_without_being_listed) {
    const target t = target_of({9, 0});
    const auto space = gemm_space(t, gemm{});
    BOOST_TEST(space.raw_size() >= 1'000'000u);
    const auto index = indexed(space);
    const auto list = freeze(space);  // the oracle: every row
    BOOST_TEST(index.size() == list.size());
    BOOST_TEST(space.size() == list.size());
    BOOST_TEST_MESSAGE(space.raw_size() << " raw points, " << index.size() << " rows, " << index.outer.outers.size() << " entries in the index");
    BOOST_TEST(index.outer.outers.size() * 10 < list.size());
    for (std::uint64_t i = 0; i < list.size(); i += 37) {
        const auto r = list[i];
        BOOST_REQUIRE(index.unrank(i) == r);
        BOOST_REQUIRE((index.rank(r) == i));
    }
    seed random(3), again(3);
    for (int i = 0; i < 200; ++i) {
        const auto r = index.sample(random);
        BOOST_REQUIRE((list.unrank(*list.rank(r)) == r));
        BOOST_REQUIRE((list.sample(again) == r));
        // A member of the space passes every rule, in whatever order the space asked them.
        BOOST_REQUIRE(check<gpu::row_rules>(r, t));
        BOOST_REQUIRE((check<rules<RING_FITS, CHUNK_DIVIDES>>(r, t, gemm{})));
    }
    // Not a member: no rank, and the rule that says why.
    const auto too_deep = lit_of<row_of<decltype(space)>, "WORK=w4x2,TILE=mma_m16n8k16_f16_f32/f4x8/k8,STAGE=d4/smem,RASTER=gm8">;
    BOOST_TEST(!index.rank(too_deep).has_value());
    BOOST_TEST((check<rules<RING_FITS>>(too_deep, t, gemm{}).sentence() == "M1 STAGE: bytes of the rings is 393216, must be at most 232448"));
}

BOOST_AUTO_TEST_CASE(pins_narrow_it_before_it_is_walked) {
    const auto space = gemm_space(target_of({9, 0}), gemm{});
    const auto pinned_space = pin_by(space, "WORK=w4x2,TILE=mma_m16n8k16_f16_f32/f4x8/k2");
    BOOST_REQUIRE(pinned_space.has_value());
    std::size_t by_hand = 0;
    const auto only = lit_of<row<WORK, TILE>, "WORK=w4x2", "TILE=mma_m16n8k16_f16_f32/f4x8/k2">;
    space.each([&](const auto& r) { by_hand += part<row<WORK, TILE>>(r) == only; });
    BOOST_TEST(pinned_space->size() == by_hand);
    BOOST_TEST(by_hand > 0u);
    BOOST_TEST((space | "WORK=w4x2" | "TILE=mma_m16n8k16_f16_f32/f4x8/k2" | "STAGE=d2/smem-tma").size() == 2u);
    BOOST_TEST(pin_by(space, "WORK=w3x2")->size() == 0u);  // canonical, not offered
    BOOST_TEST(pin_by(space, "WORK=w03x2").error().line() == "WORK: found [w03x2], expected a number from 1 up, no leading zero at offset 1");
    BOOST_TEST(pin_by(space, "PLACE=cut").error().line() == "pin: found [PLACE], expected one of WORK, TILE, STAGE, RASTER at offset 0");
}

BOOST_AUTO_TEST_CASE(catalogs_of_every_atom_have_their_sizes) {  // L14
    for (std::size_t i = 0; i < atom_table.size(); ++i) {
        const atom_facts& a = atom_table[i];
        const std::uint64_t expected = a.name == "mma_m8n8k4_f16_f32" ? 1938 : a.name == "mma_m8n8k4_f16_f16" ? 2508 : a.wgmma_n == 64 ? 9 : a.wgmma_n == 128 ? 6 : a.wgmma_n == 256 ? 3 : 1672;
        const target t = target_of(a.from);
        const std::uint64_t here = gpu::warp_tiles_without_strip(static_cast<atom>(i), t).size();
        BOOST_TEST_INFO(a.name);
        BOOST_TEST(here == expected);
        BOOST_TEST(gpu::warp_tiles(static_cast<atom>(i), t).size() == here + (a.wgmma_n == 0));
    }
}

BOOST_AUTO_TEST_SUITE_END()
