// The schedule fork of a GPU kernel as options of a pick: measured rows, pins for one kernel, a legal row that is not offered.
#include <emmy/evidence/gpu_options.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using evidence::gpu_options;
using store::knob_list;

namespace {
fork::gpu_schedules product() {
    fork::gpu::site s;
    s.at = *knob::route::parse("inner"), s.kind = knob::node_kind::inner;
    s.has_tile = s.has_reduce = s.has_stage = s.root = true;
    s.m = 512, s.n = 512, s.k = 1024, s.m_axis = 0, s.n_axis = 1, s.k_axis = 2;
    s.a.storage = s.a.type = s.b.storage = s.b.type = dtype::f16;
    s.a.k_last = true, s.a.inner = 1024, s.b.inner = 512;
    fork::gpu::kernel k;
    k.sites.push_back(s);
    return fork::gpu_schedules::make(k, knob::target_of({9, 0}));
}
const knob_list complete{{"WORK", "w2x2"}, {"TILE", "mma_m16n8k16_f16_f32/f2x4/k2"}, {"REDUCE", ""}, {"STAGE", "d2/smem-tma"}, {"RASTER", ""}};
}  // namespace

BOOST_AUTO_TEST_SUITE(evidence_gpu_options)

BOOST_AUTO_TEST_CASE(a_measured_row_is_followed_where_it_is_offered) {
    const fork::gpu_schedules rows = product();
    const gpu_options options = gpu_options::make(rows).value();
    BOOST_TEST((options.option_for(complete) == complete));
    BOOST_TEST((options.option_for({{"WORK", "w2x2"}, {"TILE", "mma_m16n8k16_f16_f32/f2x4/k2"}, {"STAGE", "d2/smem-tma"}, {"LOOPIFY", "0"}}) == complete));
    BOOST_TEST(!options.option_for({{"WORK", "w8x8"}, {"TILE", "mma_m16n8k16_f16_f32/f2x4/k2"}}).has_value());
    BOOST_TEST(!options.option_for({{"TILE", "no tile"}}).has_value());
    BOOST_TEST(!options.single());
    BOOST_TEST(!options.pinned());
    BOOST_TEST(options.first().value().size() == 5u);
}

BOOST_AUTO_TEST_CASE(pins_narrow_and_reach_the_kernel_that_they_name) {
    const fork::gpu_schedules rows = product();
    const gpu_options whole = gpu_options::make(rows, complete).value();
    BOOST_TEST(whole.single());
    BOOST_TEST(whole.pinned());
    BOOST_TEST((whole.first().value() == complete));
    const knob::pin_list pins = knob::pin_list::parse("WORK@place_ab12=w2x2,WORK@node_other=w4x1").value();
    BOOST_TEST(!gpu_options::make(rows, pins, "k_linear", "linear").value().pinned());
    const gpu_options piece = gpu_options::make(rows, pins, "k_linear__place_ab12", "linear").value();
    BOOST_TEST(piece.pinned());
    BOOST_TEST((piece.first().value()[0] == std::pair<std::string, std::string>("WORK", "w2x2")));
    BOOST_TEST(gpu_options::make(rows, {{"STAGE", "d2/smem-tna"}}).error().line().starts_with("STAGE: found [d2/smem-tna]"));
    BOOST_TEST(gpu_options::make(rows, {{"WORK", "w3x2"}}).error().line().starts_with("WORK: no legal row has [w3x2], expected "));
}

BOOST_AUTO_TEST_CASE(a_legal_row_beyond_the_catalog_is_pinned_by_naming_it_whole) {
    const fork::gpu_schedules rows = product();
    knob_list beyond = complete;
    beyond[0].second = "w2x1", beyond[1].second = "mma_m16n8k16_f16_f32/f2x6/k2";  // no f2x6 in the catalog; 48 columns do not divide 512
    BOOST_TEST(!gpu_options::make(rows, beyond).has_value());
    beyond[3].second = "";  // read in place they need not
    const gpu_options options = gpu_options::make(rows, beyond).value();
    BOOST_TEST((options.first().value() == beyond));
    BOOST_TEST((options.option_for(beyond) == beyond));
    BOOST_TEST(!options.option_for(complete).has_value());
    BOOST_TEST(options.size().value() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
