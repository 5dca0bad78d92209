// Ratio of a yardstick's median to ours over alternating windows in one process: OpenBLAS beside matrix products, a copy with
// the same kind of store beside the rest (each input and output counted once). The row is the fastest of a few, measured first.
//   bench_cpu_device [rows to try, default 16] [pairs, default 40] [filter]
#include <emmy-bench/bench.hpp>

#include <cstdio>
#include <cstring>

using namespace emmy;

namespace {

struct target {
    const char* name;
    const char* op;
};
constexpr target targets[] = {
    {"matmul.square.512 f32", "matmul(a: f32[512,512], b: f32[512,512])"},
    {"matmul.square.1024 f32", "matmul(a: f32[1024,1024], b: f32[1024,1024])"},
    {"softmax.k2048 f32", "softmax(x: f32[512,2048], dim=-1)"},
    {"rms_norm.k4096 f32", "rms_norm(x: f32[512,4096], w: f32[4096])"},
    {"pointwise.n4096 f32", "relu(x: f32[512,4096])"},
};

int fail(const char* what, const fault& f) {
    std::printf("%-24s %s\n", what, f.line().c_str());
    return 1;
}

int one(device::cpu::host_device& device, const fork::cpu_target& target, const ::target& what, int team, std::int64_t rows, int pairs) {
    tools::common_options options;
    options.op = what.op;
    const auto subjects = tools::load_subjects(options, {device.identify().card, 0, 0});
    if (!subjects) return fail(what.name, subjects.error());
    const tools::subject& subject = subjects->front();
    const auto schedules = fork::cpu_schedules::make(subject.kernel, target);
    if (!schedules) return fail(what.name, schedules.error());
    const auto answer = device::answer::prepare(subject.kernel, subject.sizes(), subject.program ? &*subject.program : nullptr, subject.ports);
    if (!answer) return fail(what.name, answer.error());
    auto arena = answer->arena();
    if (!arena) return fail(what.name, arena.error());
    const bench::workload work = bench::workload_of(*schedules, subject, *answer);

    device::kernel_text best;
    device::launch how;
    double best_us = 0, default_us = 0;
    store::knob_list best_row;
    std::size_t tried = 0;
    for (const std::size_t i : bench::sample_options(schedules->rows().size(), rows, 1)) {
        const auto text = kernel::lower_cpu(*schedules, schedules->rows()[i]);
        if (!text) return fail(what.name, text.error());
        const device::kernel_text code{text->source, text->entry, text->scratch_bytes(team, subject.launch_sizes(text->symbols))};
        const device::launch launch{subject.launch_sizes(text->symbols), team};
        if (const auto ran = device.run(code, *arena, launch); !ran) return fail(what.name, ran.error());
        if (const std::string wrong = answer->check(*arena); !wrong.empty()) {
            std::printf("%-24s %s: %s\n", what.name, evidence::knobs_text(schedules->pairs(schedules->rows()[i])).c_str(), wrong.c_str());
            return 1;
        }
        device::measure_request request;
        request.kernels = {code}, request.launches = {launch};
        request.effort = {.warm_up = 3, .least_samples = 5, .most_samples = 20, .budget_seconds = 0.05};
        const auto time = device.measure(request, *arena);
        if (!time) return fail(what.name, time.error());
        const double us = time->kernels[0].median;
        if (tried++ == 0) default_us = us;
        if (best_us == 0 || us < best_us) best_us = us, best = code, how = launch, best_row = schedules->pairs(schedules->rows()[i]);
    }
    device::measure_request request;
    request.kernels = {best}, request.launches = {how}, request.against = work.against, request.interleave = true;
    request.effort = {.warm_up = 10, .least_samples = pairs, .most_samples = pairs, .window_seconds = 2e-3, .budget_seconds = 30};
    const auto both = device.measure(request, *arena);
    if (!both) return fail(what.name, both.error());
    if (!both->against) {
        std::printf("%-24s %dt no yardstick: %s\n", what.name, team, both->reference_note.c_str());
        return 1;
    }
    const device::statistics &ours = both->kernels[0], &theirs = *both->against;
    std::printf("%-24s %dt ratio %.3f  ours %.1f us [%.1f, %.1f]  %s %.1f us [%.1f, %.1f]%s%s%s  %d pairs", what.name, team, theirs.median / ours.median, ours.median, ours.low, ours.high,
        both->reference_name.c_str(), theirs.median, theirs.low, theirs.high, both->reference_note.empty() ? "" : " (", both->reference_note.c_str(), both->reference_note.empty() ? "" : ")", ours.samples);
    if (work.least.flops > 0)
        std::printf("  %.1f GFLOP/s", work.least.flops / ours.median * 1e-3);
    else
        std::printf("  %.1f GB/s", static_cast<double>(work.least.bytes) / ours.median * 1e-3);
    std::printf("  %s  (default row %.1f us, best of %zu)\n", evidence::knobs_text(best_row).c_str(), default_us, tried);
    std::fflush(stdout);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 16;
    const int pairs = argc > 2 ? std::max(20, std::atoi(argv[2])) : 40;
    device::cpu::host_device device;
    const device::limits& l = device.identify().limits;
    const fork::cpu_target target = fork::make_cpu_target(l.vector_bytes, l.l1_bytes, l.l2_bytes, l.l3_bytes, l.cores);
    std::printf("%s\n", device.identify().card.c_str());
    int failed = 0;
    for (const ::target& t : targets) {
        if (argc > 3 && !std::strstr(t.name, argv[3])) continue;
        for (int team : {1, 2}) failed |= one(device, target, t, team, rows, pairs);
    }
    return failed;
}
