#include "worker.hpp"

#include <emmy/core/file.hpp>
#include <emmy/device/cpu/toolchain.hpp>

#include <csignal>
#include <cstring>
#include <fcntl.h>

using namespace emmy;
using namespace emmy::device;
using emmy::test::pointwise;

namespace {
struct serve {
    serve() {
        auto& suite = boost::unit_test::framework::master_test_suite();
        if (const int status = serve_if_worker(suite.argc, suite.argv); status >= 0) ::_exit(status);
    }
};
BOOST_TEST_GLOBAL_FIXTURE(serve);

struct fixture : emmy::test::cache_folder {
    worker_device device{emmy::test::own_worker(path)};
    tensor_arena arena = tensor_arena::create({{dtype::f32, 1000, false}, {dtype::f32, 1000, true}}).value();
    float* in() { return reinterpret_cast<float*>(arena[0].data()); }
    float* out() { return reinterpret_cast<float*>(arena[1].data()); }
    fixture() {
        for (int i = 0; i < 1000; ++i) in()[i] = static_cast<float>(i);
    }
    void check_good() {
        BOOST_REQUIRE(device.run(pointwise("in[i] * 2"), arena, {{1000}, 2}));
        for (int i = 0; i < 1000; ++i) BOOST_REQUIRE_EQUAL(out()[i], 2.0f * static_cast<float>(i));
    }
};
}  // namespace

BOOST_FIXTURE_TEST_CASE(runs_in_another_process, fixture) {
    check_good();
    BOOST_CHECK_EQUAL(device.started(), 1);
    BOOST_CHECK_NE(device.process(), static_cast<int>(::getpid()));
    BOOST_CHECK(device.last_loss() == loss::none);
}

BOOST_FIXTURE_TEST_CASE(hang_is_killed_and_costs_one_request, fixture) {
    auto options = emmy::test::own_worker(path);
    options.run_seconds = 0.5;
    device = worker_device(options);
    check_good();
    const int first = device.process();
    auto hung = device.run(pointwise("0", "for (volatile int forever = 1; forever;) {}"), arena, {{1000}, 2});
    BOOST_REQUIRE(!hung);
    BOOST_CHECK(device.last_loss() == loss::hung);
    BOOST_TEST_MESSAGE(hung.error().line());
    BOOST_CHECK_EQUAL(::kill(first, 0), -1);
    check_good();
    BOOST_CHECK_EQUAL(device.started(), 2);
}

BOOST_FIXTURE_TEST_CASE(crash_is_named_and_costs_one_request, fixture) {
    auto crashed = device.run(pointwise("0", "*(volatile int*)8 = 1;"), arena, {{1000}, 1});
    BOOST_REQUIRE(!crashed);
    BOOST_CHECK(device.last_loss() == loss::crashed);
    BOOST_CHECK_MESSAGE(crashed.error().message().find("SIGSEGV") != std::string::npos, crashed.error().line());
    check_good();
    // A kernel that leaves the process politely is lost as well.
    auto polite = pointwise("0", "_exit(0);");
    polite.source = "extern \"C\" void _exit(int);\n" + polite.source;
    auto left = device.run(polite, arena, {{1000}, 1});
    BOOST_CHECK(!left);
    BOOST_CHECK(device.last_loss() == loss::crashed);
    check_good();
    BOOST_CHECK_EQUAL(device.started(), 3);
}

BOOST_FIXTURE_TEST_CASE(text_that_does_not_compile_is_refused_with_its_line, fixture) {
    auto refused = device.compile(pointwise("nonsense("));
    BOOST_REQUIRE(!refused);
    BOOST_CHECK(refused.error().kind() == fault_kind::device_limit);
    BOOST_CHECK(kernels_doing(device.last_loss(), refused.error().kind()));
    BOOST_CHECK_MESSAGE(refused.error().message().find("error") != std::string::npos, refused.error().line());
    BOOST_CHECK_EQUAL(device.started(), 1);
}

BOOST_FIXTURE_TEST_CASE(killed_worker_is_replaced, fixture) {
    check_good();
    ::kill(device.process(), SIGKILL);
    auto lost = device.run(pointwise("in[i] * 2"), arena, {{1000}, 1});
    BOOST_CHECK(!lost);
    check_good();
}

BOOST_FIXTURE_TEST_CASE(inherits_nothing, fixture) {
    const int leaked = ::open("/dev/null", O_RDONLY);  // not close-on-exec
    ::setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    check_good();
    const std::string proc = "/proc/" + std::to_string(device.process());
    BOOST_CHECK_NE(::access((proc + "/fd/3").c_str(), F_OK), -1);
    for (int fd = 4; fd < 64; ++fd) {
        char target[256] = {};
        const std::string link = proc + "/fd/" + std::to_string(fd);
        if (::readlink(link.c_str(), target, sizeof target - 1) > 0) BOOST_CHECK_MESSAGE(false, "worker holds " << link << " -> " << target);
    }
    const auto environment = read_file(proc + "/environ");
    BOOST_REQUIRE(environment);
    BOOST_CHECK(environment->find("OPENBLAS") == std::string::npos);
    ::unsetenv("OPENBLAS_CORETYPE");
    ::close(leaked);
}

BOOST_FIXTURE_TEST_CASE(measures_alone_and_beside_a_copy, fixture) {
    measure_request request;
    request.kernels = {pointwise("in[i] * 2")};
    request.launches = {{{1000}, 1}};
    request.effort = {.warm_up = 5, .least_samples = 20, .most_samples = 40, .budget_seconds = 0.2};
    const auto alone = device.measure(request, arena);
    BOOST_REQUIRE_MESSAGE(alone, (alone ? "" : alone.error().line()));
    const statistics& s = alone->kernels.at(0);
    BOOST_CHECK_GE(s.samples, 20);
    BOOST_CHECK_LE(s.min, s.low);
    BOOST_CHECK_LE(s.low, s.median);
    BOOST_CHECK_LE(s.median, s.high);
    BOOST_CHECK_LE(s.high, s.max);
    BOOST_CHECK_GT(s.batch, 1);
    BOOST_CHECK(!alone->against);
    request.interleave = true;
    request.against = {.what = reference::kind::copy, .read_bytes = 4000, .write_bytes = 4000};
    const auto beside = device.measure(request, arena);
    BOOST_REQUIRE(beside);
    BOOST_REQUIRE(beside->against);
    BOOST_CHECK_EQUAL(beside->reference_name, "copy 1t");
    BOOST_CHECK_EQUAL(beside->against->samples, beside->kernels.at(0).samples);
    request.effort.cold = true;
    const auto cold = device.measure(request, arena);
    BOOST_REQUIRE(cold);
    BOOST_CHECK(cold->kernels.at(0).cold);
    BOOST_CHECK_EQUAL(cold->kernels.at(0).batch, 1);
}

BOOST_FIXTURE_TEST_CASE(ceilings_are_measured_once_and_kept, fixture) {
    const auto first = device.measure_ceilings(1);
    BOOST_REQUIRE_MESSAGE(first, (first ? "" : first.error().line()));
    BOOST_CHECK_GT(first->flops_f32, 1e8);
    BOOST_CHECK_GE(first->flops_f32, first->flops_f64);
    BOOST_REQUIRE_EQUAL(first->bandwidth.size(), 3u);
    for (std::size_t i = 1; i < 3; ++i) BOOST_CHECK_GE(first->bandwidth[i - 1].bytes_per_second, first->bandwidth[i].bytes_per_second);
    BOOST_TEST_MESSAGE("f32 " << first->flops_f32 / 1e9 << " GFLOP/s, f64 " << first->flops_f64 / 1e9 << ", bandwidth " << first->bandwidth[0].bytes_per_second / 1e9 << " " << first->bandwidth[1].bytes_per_second / 1e9 << " " << first->bandwidth[2].bytes_per_second / 1e9);
    device.retire();
    const auto second = device.measure_ceilings(1);
    BOOST_REQUIRE(second);
    BOOST_CHECK_EQUAL(second->flops_f32, first->flops_f32);
}
