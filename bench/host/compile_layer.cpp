// Strict compiles of a traced layer under its golden file: fused, every fork decided. CPU time of one compile against 20 ms, and of its
// parts. Then the layer's decisions alone from a store of 10^6 rows, against 50 ms. Yardstick of the run: Python's json.load of the file.
#include "yardstick.hpp"

#include <emmy/evidence.hpp>
#include <emmy/golden/document.hpp>
#include <emmy/program/wire.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace emmy;
using namespace emmy::bench;

namespace {
template <class T>
T must(result<T> done) {
    if (!done) std::fprintf(stderr, "%s\n", done.error().line().c_str()), std::exit(1);
    return std::move(*done);
}
void must(const result<void>& done) {
    if (!done) std::fprintf(stderr, "%s\n", done.error().line().c_str()), std::exit(1);
}
/// Counts what it is asked.
struct counting final : evidence::card_forks {
    std::size_t structural_calls = 0, realised_calls = 0;
    double structural_us = 0, realise_us = 0;
    result<std::vector<evidence::kernel_set_fork>> structural(const evidence::subject& s, std::span<const store::knob_list> recorded) override {
        const double start = cpu_us();
        auto out = card_forks::structural(s, recorded);
        ++structural_calls, structural_us += cpu_us() - start;
        return out;
    }
    result<evidence::realised> realise(const evidence::subject& s, const store::knob_list& arm, std::span<const digest128> expected) override {
        const double start = cpu_us();
        auto out = card_forks::realise(s, arm, expected);
        ++realised_calls, realise_us += cpu_us() - start;
        return out;
    }
};
}  // namespace

int main(int argc, char** argv) {
    const char* shared = std::getenv("EMMY_SHARED_DATA");
    const std::string path = argc > 1 ? argv[1] : std::string(shared ? shared : EMMY_SHARED_DATA) + "/golden/gemma-4-12B-it/rtx5090_sm120.json";
    if (!std::filesystem::exists(path)) return std::printf("skipped: no %s\n", path.c_str()), 0;
    const double yardstick = json_load_ms({path});
    const auto file = must(golden::document::load(path));
    const auto db = must(evidence::temporary_store());
    const auto report = must(evidence::import_file(db, path));
    evidence::regime lane;
    lane.fast_math = true;
    const auto context = evidence::make_context(file.head().gpu_name.value(), file.head().compute_major, file.head().compute_minor, lane);

    // The layer: the program whose decided kernel set is largest.
    golden::program_index layer = 0;
    std::size_t most = 0;
    for (golden::program_index p = 0; p < file.programs().size(); ++p) {
        const auto graph = must(program::read_program(file.programs()[p]));
        const auto seen = must(evidence::snapshot::open(db, context, {report.label}, "emmy-cpp/1"));
        evidence::stored_forks forks(seen);
        const auto done = evidence::compile_program(graph, {}, &seen, forks);
        if (done && done->decided.leaves.size() > most && done->decided.expected_us(false)) most = done->decided.leaves.size(), layer = p;
    }
    const auto graph = must(program::read_program(file.programs()[layer]));
    std::printf("%s program %u: %zu nodes, %zu kernels run\n", path.c_str(), layer, graph.nodes.size(), most);

    evidence::resolve_options strict;
    strict.strict = evidence::strictness::measured;
    const auto once = [&](auto&& make, const char* what) {
        std::vector<double> all, fused, decided;
        std::size_t forks_met = 0, realised = 0;
        double realise_ms = 0, structural_ms = 0;
        for (int i = 0; i < 7; ++i) {
            const double start = cpu_ms();
            const auto seen = must(evidence::snapshot::open(db, context, {report.label}, "emmy-cpp/1"));
            auto source = make(seen);
            const auto lowered = must(program::lower(graph));
            const auto formed = must(loop::fuse(lowered));
            std::vector<evidence::subject> targets;
            for (const loop::formed& f : formed) targets.push_back(evidence::make_subject(f.kernel));
            const double middle = cpu_ms();
            const auto r = must(evidence::resolve(targets, &seen, *source, strict));
            const double end = cpu_ms();
            all.push_back(end - start), fused.push_back(middle - start), decided.push_back(end - middle);
            forks_met = r.decisions().size();
            if constexpr (requires { source->realised_calls; }) realised = source->realised_calls, realise_ms = source->realise_us / 1000, structural_ms = source->structural_us / 1000;
        }
        std::printf("%-28s %6.2f ms CPU (fused %.2f, %zu forks decided %.2f); ratio to 20 ms: %.3f, to json.load of the file: %.3f\n", what, median(all), median(fused), forks_met, median(decided),
                    median(all) / 20, yardstick > 0 ? median(all) / yardstick : 0);
        if (realised) std::printf("    of the last: %zu arms taken in %.2f ms, options in %.2f ms\n", realised, realise_ms, structural_ms);
    };
    once([](const auto& seen) { return std::make_unique<evidence::stored_forks>(seen); }, "stored routes:");
    once([](const auto&) { return std::make_unique<counting>(); }, "arms formed here:");

    // 10^6 rows more: every kernel of the file gets as many of another producer and size.
    auto routed = must(db.read());
    std::vector<digest128> kernels;
    {
        auto at = must(routed.open_cursor(store::layout::table::kernel));
        for (bool more = must(at.first()); more; more = must(at.next())) kernels.push_back(store::layout::read_digest(at.key().data()));
    }
    { auto gone = std::move(routed); }
    const std::size_t each = 1'000'000 / kernels.size() + 1;
    must(db.write([&](store::write_transaction& txn) -> result<void> {
        EMMY_TRY(src, store::put_source(txn, {"measured:host:emmy-cpp/0", "emmy-cpp/0", "", 0, 0, 0, 0, 0}));
        EMMY_TRY(ctx, store::put_context(txn, context));
        std::vector<store::row_id> rows;
        for (std::size_t r = 0; r < 500; ++r) {
            EMMY_TRY(id, store::put_row(txn, store::row_kind::schedule, {{"RASTER", ""}, {"REDUCE", r % 2 ? "coop" : ""}, {"WORK", "t" + std::to_string(r + 1)}}));
            rows.push_back(id);
        }
        std::vector<std::uint64_t> binds;
        for (std::int64_t n : {512, 64, 1, 16, 2048, 128, 256}) {
            EMMY_TRY(b, store::put_bindings(txn, {{"num_tokens", n}}));
            binds.push_back(b);
        }
        for (const digest128& k : kernels)
            for (std::size_t i = 0; i < each; ++i) {
                const double us = 1e6 + static_cast<double>(i);
                EMMY_TRY(stored, store::put_measurement(txn, ctx, k, binds[i / rows.size() % binds.size()], rows[i % rows.size()], src, {us, us, us, us, 0, 20, 0, store::outcome::captured}));
                (void)stored;
            }
        return {};
    }));
    const auto lowered = must(program::lower(graph));
    const auto formed = must(loop::fuse(lowered));
    std::vector<evidence::subject> targets;
    for (const loop::formed& f : formed) targets.push_back(evidence::make_subject(f.kernel));
    std::vector<double> picks;
    for (int i = 0; i < 9; ++i) {
        const double start = cpu_ms();
        const auto seen = must(evidence::snapshot::open(db, context, {report.label}, "emmy-cpp/1"));
        evidence::stored_forks source(seen);
        const auto r = must(evidence::resolve(targets, &seen, source, strict));
        picks.push_back(cpu_ms() - start);
        if (r.leaves.size() != most) return std::fprintf(stderr, "another kernel set: %zu\n", r.leaves.size()), 1;
    }
    std::printf("pick from %zu rows:   %.2f ms CPU; ratio to 50 ms: %.3f\n", kernels.size() * each, median(picks), median(picks) / 50);
    return 0;
}
