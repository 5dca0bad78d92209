// On a card: memory, launches, graphs, timing, the yardstick of matrix products, and what a broken context answers.
#define BOOST_TEST_MODULE device_cuda
#include <boost/test/included/unit_test.hpp>  // the whole of it: this executable is carried to machines that have no Boost

#include "card.hpp"

#include <emmy/core/numeric.hpp>
#include <emmy/device/cuda/blas.hpp>
#include <emmy/device/cuda/compiler.hpp>
#include <emmy/device/cuda/driver.hpp>
#include <emmy/device/cuda/measure.hpp>
#include <emmy/device/process.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

using namespace emmy;
using namespace emmy::device;
using namespace emmy::test;

namespace {

constexpr const char* axpy = "extern \"C\" __global__ void axpy(const float* x, float* y, float a, int n) { const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }";

/// Values and their addresses, as a launch wants them.
struct axpy_arguments {
    cuda::device_pointer x, y;
    float a;
    int n;
    void* addresses[4] = {&x, &y, &a, &n};
};

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_card_the_reason_is_one_line) {
    const auto card = cuda::context::open();
    if (card) {
        std::printf("card: %s, driver %s, %d multiprocessors\n", card->identify().card.c_str(), card->driver_text().c_str(), card->multiprocessors());
        BOOST_TEST(card->identify().backend == "cuda");
        BOOST_TEST(card->healthy());
    } else {
        BOOST_TEST(exit_code(card.error().kind()) == 4);
        BOOST_TEST(card.error().line().find('\n') == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_kernel_runs_and_a_graph_of_it_repeats_it) {
    const cuda::context* card = the_card();
    if (!card) return;
    const auto code = cuda::compilers::of_this_machine().compile({axpy, "axpy", target(*card)});
    BOOST_REQUIRE_MESSAGE(code, (code ? "" : code.error().line()));
    const auto kernel = card->load(code->bytes, "axpy");
    BOOST_REQUIRE_MESSAGE(kernel, (kernel ? "" : kernel.error().line()));
    BOOST_TEST(kernel->registers == code->used.registers);
    constexpr int n = 1000;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i), y[static_cast<std::size_t>(i)] = 1;
    const auto dx = card->allocate(4 * n), dy = card->allocate(4 * n);
    BOOST_REQUIRE(dx && dy);
    BOOST_REQUIRE(card->upload(dx->address(), bytes_of(x)));
    BOOST_REQUIRE(card->upload(dy->address(), bytes_of(y)));
    axpy_arguments arguments{dx->address(), dy->address(), 2, n};
    const cuda::launch_step step{&*kernel, {{4, 1, 1}, {256, 1, 1}}, arguments.addresses};
    const auto stream = card->make_stream();
    BOOST_REQUIRE(stream);
    BOOST_REQUIRE(card->launch(step, stream->get()));
    const auto graph = card->capture([&](void* on) -> result<void> {
        for (int i = 0; i < 3; ++i) EMMY_CHECK_OK(card->launch(step, on));
        return {};
    }, stream->get());
    BOOST_REQUIRE_MESSAGE(graph, (graph ? "" : graph.error().line()));
    BOOST_REQUIRE(card->replay(*graph, stream->get()));
    BOOST_REQUIRE(card->replay(*graph, stream->get()));
    BOOST_REQUIRE(card->wait(stream->get()));
    BOOST_REQUIRE(card->download(writable(y), dy->address()));
    for (int i = 0; i < n; ++i) BOOST_REQUIRE(y[static_cast<std::size_t>(i)] == 1 + 7 * 2.0f * static_cast<float>(i));
}

BOOST_AUTO_TEST_CASE(a_block_may_have_all_the_shared_memory_of_the_card) {
    const cuda::context* card = the_card();
    if (!card) return;
    const auto bytes = static_cast<std::uint32_t>(limits_of(target(*card)).dynamic_smem_bytes);
    const auto code = cuda::compilers::of_this_machine().compile({"extern \"C\" __global__ void big(int* out, int n) { extern __shared__ int s[]; for (int i = threadIdx.x; i < n; i += 32) s[i] = i; __syncthreads(); "
                                                                  "if (threadIdx.x == 0) { long long sum = 0; for (int i = 0; i < n; ++i) sum += s[i]; *out = (int)(sum % 1000003); } }", "big", target(*card)});
    BOOST_REQUIRE_MESSAGE(code, (code ? "" : code.error().line()));
    const auto kernel = card->load(code->bytes, "big", bytes);
    BOOST_REQUIRE_MESSAGE(kernel, (kernel ? "" : kernel.error().line()));
    const auto out = card->allocate(4);
    BOOST_REQUIRE(out);
    cuda::device_pointer address = out->address();
    int n = static_cast<int>(bytes / 4);
    void* arguments[] = {&address, &n};
    BOOST_REQUIRE(card->launch({&*kernel, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, bytes}, arguments}));
    std::vector<int> got(1);
    BOOST_REQUIRE(card->download(writable(got), address));
    long long sum = static_cast<long long>(n) * (n - 1) / 2;
    BOOST_TEST(got[0] == static_cast<int>(sum % 1000003));
    const auto too_much = card->launch({&*kernel, {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, bytes + 1024}, arguments});
    BOOST_REQUIRE(!too_much);
    BOOST_TEST((too_much.error().kind() == fault_kind::device_limit));
    BOOST_TEST(card->healthy());
}

BOOST_AUTO_TEST_CASE(machine_code_of_another_target_is_a_limit_and_not_a_crash) {
    const cuda::context* card = the_card();
    if (!card) return;
    const capability other = target(*card) == capability{12, 0} ? capability{9, 0} : capability{12, 0};
    const auto code = cuda::compilers::of_this_machine().compile({axpy, "axpy", other});
    BOOST_REQUIRE_MESSAGE(code, (code ? "" : code.error().line()));
    const auto kernel = card->load(code->bytes, "axpy");
    BOOST_REQUIRE(!kernel);
    BOOST_TEST((kernel.error().kind() == fault_kind::device_limit));
    BOOST_TEST(card->healthy());
}

// Times are printed, not asserted; that rounds are replayed graphs and hot beats cold is.
BOOST_AUTO_TEST_CASE(rounds_are_timed_on_the_cards_clock) {
    const cuda::context* card = the_card();
    if (!card) return;
    const auto code = cuda::compilers::of_this_machine().compile({axpy, "axpy", target(*card)});
    BOOST_REQUIRE(code);
    const auto kernel = card->load(code->bytes, "axpy");
    BOOST_REQUIRE(kernel);
    constexpr int small = 1 << 10, large = 1 << 22;
    const auto dx = card->allocate(4 * large), dy = card->allocate(4 * large);
    BOOST_REQUIRE(dx && dy);
    BOOST_REQUIRE(card->fill(dx->address(), 0, 4 * large));
    BOOST_REQUIRE(card->fill(dy->address(), 0, 4 * large));
    axpy_arguments few{dx->address(), dy->address(), 2, small}, many{dx->address(), dy->address(), 2, large};
    const std::vector<cuda::subject> both{cuda::subject_of(*card, {{&*kernel, {{small / 256, 1, 1}, {256, 1, 1}}, few.addresses}}),
                                          cuda::subject_of(*card, {{&*kernel, {{large / 256, 1, 1}, {256, 1, 1}}, many.addresses}})};
    effort how;
    how.window_seconds = 1e-3;
    const auto hot = cuda::time_rounds(*card, both, how);
    BOOST_REQUIRE_MESSAGE(hot, (hot ? "" : hot.error().line()));
    how.cold = true;
    const auto cold = cuda::time_rounds(*card, both, how);
    BOOST_REQUIRE_MESSAGE(cold, (cold ? "" : cold.error().line()));
    for (const auto* all : {&*hot, &*cold})
        for (const statistics& s : all->subjects)
            std::printf("axpy %s: median %.3f us [%.3f, %.3f], %d samples of %d\n", s.cold ? "cold" : "hot", s.median, s.low, s.high, s.samples, s.batch);
    BOOST_TEST(hot->replayed);
    BOOST_TEST(hot->subjects[0].median < hot->subjects[1].median);
    BOOST_TEST(hot->subjects[1].median < cold->subjects[1].median);
}

BOOST_AUTO_TEST_CASE(the_yardstick_of_matrix_products_multiplies) {
    const cuda::context* card = the_card();
    if (!card) return;
    const auto blas = cuda::blas::open(*card);
    BOOST_REQUIRE_MESSAGE(blas, (blas ? "" : blas.error().line()));
    for (const dtype type : {dtype::f32, dtype::f16, dtype::bf16})
        for (const bool transposed : {false, true}) BOOST_TEST_CONTEXT(token(type) << (transposed ? " transposed" : "")) {
            constexpr int m = 48, n = 64, k = 32;
            const auto narrow = [&](double v) -> std::uint32_t { return type == dtype::f16 ? f64_to_f16(v) : type == dtype::bf16 ? f64_to_bf16(v) : std::bit_cast<std::uint32_t>(static_cast<float>(v)); };
            const auto wide = [&](const std::byte* at) -> double {
                std::uint32_t bits = 0;
                std::memcpy(&bits, at, byte_size(type));
                return type == dtype::f16 ? f16_to_f64(static_cast<std::uint16_t>(bits)) : type == dtype::bf16 ? bf16_to_f64(static_cast<std::uint16_t>(bits)) : double{std::bit_cast<float>(bits)};
            };
            const std::size_t size = byte_size(type);
            const auto value_a = [](int i, int l) { return (i * 3 + l * 5) % 7 - 3; };
            const auto value_b = [](int l, int j) { return (l * 2 + j * 3) % 5 - 2; };
            std::vector<std::byte> a(m * k * size), b(k * n * size), c(m * n * size);
            for (int i = 0; i < m; ++i)
                for (int l = 0; l < k; ++l) {
                    const std::uint32_t v = narrow(value_a(i, l));
                    std::memcpy(&a[static_cast<std::size_t>(i * k + l) * size], &v, size);
                }
            for (int l = 0; l < k; ++l)
                for (int j = 0; j < n; ++j) {
                    const std::uint32_t v = narrow(value_b(l, j));
                    std::memcpy(&b[static_cast<std::size_t>(transposed ? j * k + l : l * n + j) * size], &v, size);
                }
            const auto da = card->allocate(a.size()), db = card->allocate(b.size()), dc = card->allocate(c.size());
            BOOST_REQUIRE(da && db && dc);
            BOOST_REQUIRE(card->upload(da->address(), a));
            BOOST_REQUIRE(card->upload(db->address(), b));
            const auto all = blas->algorithms({m, n, k, 1, transposed, type, type}, da->address(), db->address(), dc->address());
            BOOST_REQUIRE_MESSAGE(all, (all ? "" : all.error().line()));
            const auto stream = card->make_stream();
            BOOST_REQUIRE(stream);
            for (const cuda::subject& one : *all) {
                BOOST_REQUIRE(card->fill(dc->address(), 0xff, c.size()));
                BOOST_REQUIRE(card->wait());
                BOOST_REQUIRE(one.put(stream->get()));
                BOOST_REQUIRE(card->wait(stream->get()));
                BOOST_REQUIRE(card->download(c, dc->address()));
                for (int i = 0; i < m; ++i)
                    for (int j = 0; j < n; ++j) {
                        int wanted = 0;
                        for (int l = 0; l < k; ++l) wanted += value_a(i, l) * value_b(l, j);
                        BOOST_REQUIRE(wide(&c[static_cast<std::size_t>(i * n + j) * size]) == wanted);
                    }
            }
        }
    // What the yardstick reaches here, for whoever reads the log.
    constexpr long long side = 4096;
    const auto a = card->allocate(2 * side * side), b = card->allocate(2 * side * side), c = card->allocate(2 * side * side);
    BOOST_REQUIRE(a && b && c);
    std::vector<std::uint16_t> noise(static_cast<std::size_t>(side * side));
    std::uint32_t state = 1;
    for (std::uint16_t& v : noise) v = f64_to_f16(static_cast<double>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0 - 1.0);
    BOOST_REQUIRE(card->upload(a->address(), bytes_of(noise)));
    BOOST_REQUIRE(card->upload(b->address(), bytes_of(noise)));
    const auto all = blas->algorithms({side, side, side, 1, true, dtype::f16, dtype::f16}, a->address(), b->address(), c->address(), 4);
    BOOST_REQUIRE(all);
    const auto times = cuda::time_rounds(*card, *all, {});
    BOOST_REQUIRE_MESSAGE(times, (times ? "" : times.error().line()));
    for (const statistics& s : times->subjects)
        std::printf("%s f16 4096^3: median %.2f us [%.2f, %.2f] = %.0f TFLOP/s\n", blas->version().c_str(), s.median, s.low, s.high, 2.0 * side * side * side / s.median * 1e-6);
}

// An illegal address breaks the context of its process and no other: this executable runs itself once more to see it.
BOOST_AUTO_TEST_CASE(a_broken_context_says_so) {
    if (!the_card()) return;
    const auto& suite = boost::unit_test::framework::master_test_suite();
    if (suite.argc > 1 && std::string(suite.argv[1]) == "break") {
        const cuda::context* card = the_card();
        const auto code = cuda::compilers::of_this_machine().compile({"extern \"C\" __global__ void wild(float* x) { x[threadIdx.x] = 1; }", "wild", target(*card)});
        BOOST_REQUIRE(code);
        const auto kernel = card->load(code->bytes, "wild");
        BOOST_REQUIRE(kernel);
        cuda::device_pointer nowhere = 0x10;
        void* arguments[] = {&nowhere};
        BOOST_REQUIRE(card->launch({&*kernel, {{1, 1, 1}, {32, 1, 1}}, arguments}));
        BOOST_TEST(!card->wait());
        BOOST_TEST(!card->healthy());
        BOOST_TEST(!card->allocate(16));
        return;
    }
    const auto broken = run_process({"/proc/self/exe", "--run_test=a_broken_context_says_so", "--", "break"}, 60);
    BOOST_REQUIRE(broken);
    BOOST_TEST(broken->exit_code == 0, broken->output);
    BOOST_TEST(the_card()->healthy());
}
