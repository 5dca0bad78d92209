#include "worker.hpp"

#include <emmy/device/cpu/device.hpp>

#include <boost/test/unit_test.hpp>

#include <cstring>

using namespace emmy;
using namespace emmy::device;

// Kernels run one after another over one set of buffers, in this process and in a worker.
namespace {
/// out[i] += in[i] + 1
const kernel_text adds{emmy::test::launch_struct + "extern \"C\" void adds(const emmy_launch* l) { if (l->part) return; const float* x = (const float*)l->buffers[0]; float* y = (float*)l->buffers[1]; for (long long i = 0; i < l->sizes[0]; ++i) y[i] += x[i] + 1; }\n", "adds", 0, false, 1};

/// Input of 4 floats, output of 4, 64 bytes of workspace whose second half is used.
sequence two_steps() {
    sequence s;
    s.kernels = {adds};
    s.steps.push_back({0, {{4}, 1}, {{0, 0, 16}, {2, 32, 16}}, {{2, 32, 16}}});
    s.steps.push_back({0, {{4}, 1}, {{2, 32, 16}, {1, 0, 16}}, {{1, 0, 16}}});
    s.copied.push_back({{1, 0, 8}, {2, 0, 8}});
    return s;
}
tensor_arena buffers() {
    auto arena = tensor_arena::create({{dtype::f32, 4, false}, {dtype::f32, 4, true}, {dtype::u8, 64, true}});
    BOOST_REQUIRE(arena);
    const float x[] = {1, 2, 3, 4};
    std::memcpy((*arena)[0].data(), x, sizeof x);
    return std::move(*arena);
}
std::vector<float> floats(std::span<const std::byte> bytes, std::size_t count) {
    std::vector<float> out(count);
    std::memcpy(out.data(), bytes.data(), count * sizeof(float));
    return out;
}
std::string refusal(sequence s, std::vector<std::uint64_t> sizes = {16, 16, 64}) {
    const auto r = check(s, sizes);
    BOOST_REQUIRE(!r);
    return r.error().line();
}
}  // namespace

BOOST_AUTO_TEST_CASE(steps_run_in_order_over_slices) {
    const emmy::test::cache_folder folder;
    cpu::host_device here(folder.path);
    worker_device apart{emmy::test::own_worker(folder.path)};
    tensor_arena a = buffers(), b = buffers();
    const auto own = here.run(two_steps(), a), other = apart.run(two_steps(), b);
    BOOST_REQUIRE_MESSAGE(own, (own ? "" : own.error().line()));
    BOOST_REQUIRE_MESSAGE(other, (other ? "" : other.error().line()));
    const std::vector<float> wanted{3, 4, 5, 6};
    for (const tensor_arena* one : {&a, &b}) {
        BOOST_TEST(floats((*one)[1], 4) == wanted, boost::test_tools::per_element());
        BOOST_TEST(floats((*one)[2], 2) == (std::vector<float>{3, 4}), boost::test_tools::per_element());  // copied in the end
        BOOST_TEST(((*one)[2][24] == std::byte{0xff}));                                                     // poisoned, written by no step
    }
    measure_request request;
    request.sequences = {two_steps()};
    request.effort = {.warm_up = 1, .least_samples = 3, .most_samples = 3, .budget_seconds = 0.1};
    const auto times = apart.measure(request, b);
    BOOST_REQUIRE_MESSAGE(times, (times ? "" : times.error().line()));
    BOOST_TEST(times->kernels.size() == 1u);
    BOOST_TEST(times->kernels[0].median > 0);
}

BOOST_AUTO_TEST_CASE(sequences_that_leave_their_buffers_are_refused) {
    BOOST_TEST(check(two_steps(), std::vector<std::uint64_t>{16, 16, 64}).has_value());
    sequence s = two_steps();
    s.steps[1].buffers[0].offset = 56;
    BOOST_TEST(refusal(s) == "steps[1].buffers: found 16 bytes at 56, expected to end inside a buffer of 64");
    s = two_steps(), s.steps[0].zeroed[0] = {2, ~std::uint64_t(0), 2};
    BOOST_TEST(refusal(s) == "steps[0].zeroed: found 2 bytes at 18446744073709551615, expected to end inside a buffer of 64");
    s = two_steps(), s.steps[0].buffers[1].buffer = 3;
    BOOST_TEST(refusal(s) == "steps[0].buffers: found buffer 3, expected one of 3");
    s = two_steps(), s.steps[0].kernel = 1;
    BOOST_TEST(refusal(s) == "steps[0]: found kernel 1, expected one of 1");
    s = two_steps(), s.steps[0].how.team = 0;
    BOOST_TEST(refusal(s) == "TEAM: found a team of 0, expected 1 to 1024 threads");
    s = two_steps(), s.copied[0].to.bytes = 4;
    BOOST_TEST(refusal(s) == "copied: found a copy onto itself or of two sizes, expected two buffers of one size");
    s = two_steps(), s.copied[0].to = {1, 4, 8};
    BOOST_TEST(refusal(s) == "copied: found a copy onto itself or of two sizes, expected two buffers of one size");
    // what a process sends its worker is checked there
    const emmy::test::cache_folder folder;
    worker_device apart{emmy::test::own_worker(folder.path)};
    tensor_arena a = buffers();
    s = two_steps(), s.steps[1].buffers[0].offset = 56;
    const auto ran = apart.run(s, a);
    BOOST_REQUIRE(!ran);
    BOOST_TEST(ran.error().message() == "found 16 bytes at 56, expected to end inside a buffer of 64");
}
