// What the catalog of a kernel costs and what it spans:
//  - CPU time of lift + catalog and of one row's text, beside reading the kernel's own JSON once (the yardstick);
//  - slowest ÷ fastest measured row over a sample of matmul.512: the knobs are real.
//   bench_cpu_kernels [rows of the sample, default 32]
#include <emmy/device.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/op_text.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

using namespace emmy;

namespace {

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
/// Median CPU µs of 21 calls.
template <class F>
double cost_us(F&& f) {
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) {
        const double start = cpu_seconds();
        f();
        times.push_back((cpu_seconds() - start) * 1e6);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
}

loop::kernel kernel_of(const char* op) {
    auto graph = program::parse_op(op);
    auto made = graph ? loop::lower_single_op(*graph) : result<loop::single_op_kernel>(refuse(graph.error()));
    if (!made) std::printf("%s: %s\n", op, made.error().line().c_str()), std::exit(1);
    return std::move(made->kernel);
}
std::string spelled(const fork::cpu_schedules& s, const fork::cpu_row& row) {
    std::string out;
    for (const auto& [key, value] : s.pairs(row))
        if (!value.empty()) out += (out.empty() ? "" : ",") + key + "=" + value;
    return out.empty() ? "(all off)" : out;
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t sample = argc > 1 ? static_cast<std::size_t>(std::max(2, std::atoi(argv[1]))) : 32;
    device::cpu::host_device device;
    const fork::cpu_target target = device::cpu::schedule_target(device.identify());
    std::printf("%s\n", device.identify().card.c_str());
    for (const char* op : {"relu(x: f32[512,4096])", "softmax(x: f32[512,2048], dim=-1)", "rms_norm(x: f32[512,4096], weight: f32[4096])", "matmul(f32[512,512],f32[512,512])"}) {
        const loop::kernel k = kernel_of(op);
        const std::string json = loop::kernel_text(k);
        const double read = cost_us([&] { (void)loop::parse_kernel(json); });
        const double catalog = cost_us([&] { (void)fork::cpu_schedules::make(k, target); });
        const auto s = fork::cpu_schedules::make(k, target);
        if (!s) return std::printf("%s: %s\n", op, s.error().line().c_str()), 1;
        const double text = cost_us([&] { (void)kernel::lower_cpu(*s, s->rows()[0]); });
        std::printf("%-46s %5zu rows  lift and catalog %.0f us, one text %.0f us: %.1f x reading the body (%.0f us)\n", op, s->rows().size(), catalog, text, (catalog + text) / read, read);
    }

    const auto s = fork::cpu_schedules::make(kernel_of("matmul(f32[512,512],f32[512,512])"), target);
    auto arena = device::tensor_arena::create({{dtype::f32, 512 * 512, false}, {dtype::f32, 512 * 512, false}, {dtype::f32, 512 * 512, true}});
    if (!s || !arena) return 1;
    for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < 512 * 512; ++i) reinterpret_cast<float*>((*arena)[b].data())[i] = static_cast<float>(i * 7919 % 2001) / 1000.0f - 1.0f;
    std::mt19937_64 random(1);
    double fastest = 0, slowest = 0;
    std::string best, worst;
    for (std::size_t i = 0; i < sample; ++i) {
        const fork::cpu_row& row = s->rows()[i == 0 ? 0 : random() % s->rows().size()];
        const auto text = kernel::lower_cpu(*s, row);
        if (!text) return 1;
        device::measure_request request;
        request.kernels = {{text->source, text->entry, text->scratch_bytes(1, {})}};
        request.launches = {{{}, 1}};
        request.effort = {.warm_up = 2, .least_samples = 5, .most_samples = 15, .budget_seconds = 0.2};
        const auto time = device.measure(request, *arena);
        if (!time) return std::printf("%s: %s\n", spelled(*s, row).c_str(), time.error().line().c_str()), 1;
        const double us = time->kernels[0].median;
        if (fastest == 0 || us < fastest) fastest = us, best = spelled(*s, row);
        if (us > slowest) slowest = us, worst = spelled(*s, row);
    }
    std::printf("matmul.square.512 f32 1t, %zu of %zu rows: slowest / fastest %.1f  (%.0f us %s; %.0f us %s)\n", sample, s->rows().size(), slowest / fastest, slowest, worst.c_str(), fastest, best.c_str());
    return slowest >= 3 * fastest ? 0 : 1;
}
