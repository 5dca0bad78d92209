// A GEMM schedule space of 3.3 million raw points: what counting, indexing, ranking and sampling cost beside visiting every raw point
// and testing every rule on it. CPU time, medians of 11; each figure as a ratio to that visit.
#include "yardstick.hpp"

#include "../../test/support/gemm_space.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace emmy::knob;
using namespace emmy::bench;
using namespace emmy::test;

namespace {
template <class Work>
double median_us(int times, Work&& work) {
    std::vector<double> out;
    for (int i = 0; i < times; ++i) {
        const double start = cpu_us();
        work();
        out.push_back(cpu_us() - start);
    }
    std::nth_element(out.begin(), out.begin() + times / 2, out.end());
    return out[static_cast<std::size_t>(times / 2)];
}
volatile std::uint64_t sink;
}  // namespace

int main() {
    const target t = target_of({9, 0});
    const auto space = gemm_space(t, gemm{});
    const auto raw = shown_as(all<catalog::M_UNITS> * all<catalog::N_UNITS> * all<catalog::PRODUCERS>, catalog::as_warps{}) *
                     shown_as(of<catalog::ATOM>(2, 5, 6, 7) * all<catalog::FM> * all<catalog::FN> * all<catalog::K_ATOMS>, catalog::as_warp_tile{}) *
                     (of_text<STAGE, ""> + catalog::rings) * all<RASTER>;
    using all_rules = rules<gpu::K1, gpu::K2, gpu::A1, gpu::T3, gpu::T3r, gpu::G1, gpu::G2, gpu::G3, gpu::G4, gpu::G6, gpu::K6>;
    std::uint64_t visited = 0;
    const double visit = median_us(3, [&] {
        visited = 0;
        raw.each([&](const auto& r) {
            visited += !all_rules::first(r, t) && !rules<CHUNK_DIVIDES, RING_FITS>::first(r, t, gemm{}) && !gpu::catalog_rules::first(r);
        });
        sink = visited;
    });
    const auto index = indexed(space);
    const auto list = freeze(space);
    std::printf("%llu raw points, %llu rows (%s), index of %zu outer rows, list of %zu bytes\n", static_cast<unsigned long long>(space.raw_size()),
                static_cast<unsigned long long>(index.size()), visited == index.size() && visited == list.size() ? "all three agree" : "DISAGREE", index.outer.outers.size(), list.raws.bytes());
    const auto tell = [&](const char* what, double us) { std::printf("%-34s %12.3f us   1/%.0f\n", what, us, visit / us); };
    std::printf("%-34s %12.0f us   1\n", "visit every raw point, every rule", visit);
    tell("size of the expression", median_us(11, [&] { sink = space.size(); }));
    tell("freeze: list of raws", median_us(11, [&] { sink = freeze(space).size(); }));
    tell("index", median_us(11, [&] { sink = indexed(space).size(); }));
    constexpr int many = 10'000;
    std::uint64_t position = 0;
    const auto step = [&] { return position = (position + 7919) % index.size(); };
    tell("unrank by the index", median_us(11, [&] { for (int i = 0; i < many; ++i) sink = static_cast<std::uint64_t>(index.unrank(step()).template get<TILE>().fm); }) / many);
    tell("rank by the index", median_us(11, [&] { for (int i = 0; i < many; ++i) sink = *index.rank(list[step()]); }) / many);
    seed random(7);
    tell("uniform sample by the index", median_us(11, [&] { for (int i = 0; i < many; ++i) sink = static_cast<std::uint64_t>(index.sample(random).template get<TILE>().fm); }) / many);
    tell("unrank by the list", median_us(11, [&] { for (int i = 0; i < many; ++i) sink = static_cast<std::uint64_t>(list.unrank(step()).template get<TILE>().fm); }) / many);
    return visited == index.size() ? 0 : 1;
}
