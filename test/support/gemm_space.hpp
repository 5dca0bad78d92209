#pragma once
// The schedule space of one matrix product on a card: what a fork offers, with two rules of the kernel beside those of the row.
#include <emmy/knob.hpp>

namespace emmy::test {

struct gemm {
    std::int64_t k = 4096;
    int element_bytes = 2;
};
struct RING_FITS {
    static constexpr std::string_view id = "M1", means = "The rings of both operands fit the shared memory of a block.";
    using reads = knob::row<knob::WORK, knob::TILE, knob::STAGE>;
    static constexpr knob::finding test(const auto& r, const knob::target& t, const gemm& kernel) {
        const knob::work w = r.template get<knob::WORK>();
        const knob::tile& v = r.template get<knob::TILE>();
        const knob::stage& s = r.template get<knob::STAGE>();
        if (!s.uses_smem()) return knob::fine;
        return knob::at_most("STAGE", "bytes of the rings", s.depth * (v.rows(w) + v.columns(w)) * v.chunk() * kernel.element_bytes, t.limits.dynamic_smem_bytes);
    }
};
struct CHUNK_DIVIDES {
    static constexpr std::string_view id = "M2", means = "Chunks divide the reduced axis.";
    using reads = knob::row<knob::TILE>;
    static constexpr knob::finding test(const auto& r, const knob::target&, const gemm& kernel) {
        return knob::equal_to("TILE", "elements left over by chunks", kernel.k % r.template get<knob::TILE>().chunk(), 0);
    }
};

/// Four atoms × 75 grids with up to two producers × 180 tiles × 31 stages × 2 rasters = 3,348,000 raw points.
constexpr auto gemm_space(const knob::target& t, const gemm& kernel) {
    using namespace knob;
    const auto tiles = shown_as(all<catalog::M_UNITS> * all<catalog::N_UNITS> * all<catalog::PRODUCERS>, catalog::as_warps{}) *
                       catalog::tiles_of_atoms(of<catalog::ATOM>(2, 5, 6, 7)) % holds<gpu::K1, gpu::K2, gpu::A1, gpu::T3, gpu::T3r>(t) % holds<CHUNK_DIVIDES>(t, kernel);
    return gpu::staged(tiles, t) % holds<gpu::K6>() % holds<RING_FITS>(t, kernel) * all<RASTER>;
}

}  // namespace emmy::test
