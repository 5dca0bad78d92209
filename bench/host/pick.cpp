// A pick from 10^5 rows in 2 contexts, 10^3 of them on this kernel at 5 sizes; nothing is kept between two picks, the report line is
// part of it. CPU time of one pick against 100 us.
#include "yardstick.hpp"

#include <emmy/evidence.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>

using namespace emmy;
using namespace emmy::bench;

namespace {
store::knob_list row(std::uint32_t i) {
    static const char* const reduce[] = {"", "coop", "coop/r2", "coop/r4"};
    return {{"RASTER", ""}, {"REDUCE", reduce[i % 4]}, {"WORK", "t" + std::to_string(32 * (1 + i / 4))}};
}
void must(const result<void>& done) {
    if (done) return;
    std::fprintf(stderr, "%s\n", done.error().line().c_str());
    std::exit(1);
}
constexpr std::uint32_t kernels = 100, sizes = 5, rows_per_size = 100;  // in each of 2 contexts: 10^5 rows
digest128 kernel_of(std::uint32_t k) { return {0x9e3779b97f4a7c15u * (k + 1), k}; }
store::binding_list size_of(std::uint32_t s) { return {{"seq_len", std::int64_t{128} << s}}; }
}  // namespace

int main() {
    const auto db = store::environment::temporary(store::store_kind::tuning);
    if (!db) return std::fprintf(stderr, "%s\n", db.error().line().c_str()), 1;
    store::context standard{"cuda", "NVIDIA H100 80GB", 90, 3, false, ""}, fast = standard;
    fast.flags = "--use_fast_math";
    must(db->write([&](store::write_transaction& txn) -> result<void> {
        EMMY_TRY(here, store::put_source(txn, {"measured:host:emmy-cpp/1", "emmy-cpp/1", "", 0, 0, 0, 0, 0}));
        EMMY_TRY(peer, store::put_source(txn, {"golden:0123456789ab", "peer", "", 0, 0, 0, 0, 0}));
        std::uint32_t random = 1;
        for (const auto* c : {&standard, &fast}) {
            EMMY_TRY(ctx, store::put_context(txn, *c));
            for (std::uint32_t k = 0; k < kernels; ++k) {
                EMMY_CHECK_OK(store::put_kernel(txn, {kernel_of(k), {k, k}, "k_" + std::to_string(k), "{}", true}));
                for (std::uint32_t s = 0; s < sizes; ++s) {
                    EMMY_TRY(bind, store::put_bindings(txn, size_of(s)));
                    for (std::uint32_t r = 0; r < rows_per_size; ++r) {
                        random = random * 1664525u + 1013904223u;
                        const double us = 5 + (random >> 8) * 1e-6;
                        EMMY_TRY(id, store::put_row(txn, store::row_kind::schedule, row(r)));
                        EMMY_TRY(stored, store::put_measurement(txn, ctx, kernel_of(k), bind, id, r % 3 == 0 ? peer : here, {us, us, us, us, 0, 20, 0, store::outcome::captured}));
                        (void)stored;
                    }
                }
            }
        }
        return {};
    }));
    // Half of the rows are offered, in an order of their own.
    std::vector<store::knob_list> options;
    for (std::uint32_t r = 0; r < rows_per_size; r += 2) options.push_back(row((r * 37) % rows_per_size & ~1u));
    std::sort(options.begin(), options.end());
    options.erase(std::unique(options.begin(), options.end()), options.end());
    const evidence::listed_options space(options);

    const auto once = [&](std::uint32_t k, std::uint32_t s, evidence::tier expected) {
        const double start = cpu_us();
        const auto evidence_now = evidence::snapshot::open(*db, standard, {"golden:0123456789ab"}, "emmy-cpp/1");
        const auto picked = evidence::pick_schedule(&*evidence_now, {"k_" + std::to_string(k), kernel_of(k), s < sizes ? size_of(s) : store::binding_list{{"seq_len", 3000}}, "schedule", &space});
        const std::string line = evidence::line(*picked);
        const double spent = cpu_us() - start;
        if (!picked || picked->decided != expected) {
            std::fprintf(stderr, "unexpected pick: %s\n", line.c_str());
            std::exit(1);
        }
        return spent;
    };
    const auto median = [](std::vector<double> v) {
        std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
        return v[v.size() / 2];
    };
    std::printf("first pick of the process: %.1f us CPU\n", once(0, 0, evidence::tier::own_row));
    std::vector<double> exact, nearest;
    for (std::uint32_t i = 0; i < 1000; ++i) exact.push_back(once((i * 37) % kernels, i % sizes, evidence::tier::own_row));
    for (std::uint32_t i = 0; i < 200; ++i) nearest.push_back(once((i * 37) % kernels, sizes, evidence::tier::nearest_own));
    const double e = median(exact), n = median(nearest);
    std::printf("pick at an exact size:  median %.1f us CPU, worst of 1000 %.1f; ratio to 100 us: %.3f\n", e, *std::max_element(exact.begin(), exact.end()), e / 100);
    std::printf("pick at the nearest size: median %.1f us CPU; ratio to 100 us: %.3f\n", n, n / 100);
    return 0;
}
