#include "worker.hpp"

#include <emmy/core/file.hpp>
#include <emmy/device/cpu/blas.hpp>
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/cpu/team.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/device/process.hpp>

#include <atomic>
#include <string>
#include <thread>

using namespace emmy;
using namespace emmy::device;
using emmy::test::pointwise;

BOOST_AUTO_TEST_CASE(card_name_from_texts) {
    const std::string v4 = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Intel(R)  Xeon(R)\tProcessor\nphysical id\t: 0\ncore id\t\t: 0\n"
                           "flags\t\t: sse2 cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma movbe avx512f avx512bw avx512cd avx512dq avx512vl\n\n"
                           "processor\t: 1\nphysical id\t: 0\ncore id\t\t: 1\n";
    const auto host = cpu::identify_from(v4, {"48K", "2048K", "266240K"}, 2);
    BOOST_CHECK_EQUAL(host.card, "cpu: Intel(R) Xeon(R) Processor f6m207 x86-64-v4 2c 2M/260M");
    BOOST_CHECK_EQUAL(host.backend, "cpu");
    BOOST_CHECK_EQUAL(host.compute_cap[0] + host.compute_cap[1], 0);
    BOOST_CHECK_EQUAL(host.limits.vector_bytes, 64);
    BOOST_CHECK_EQUAL(host.limits.l1_bytes, 48u << 10);
    BOOST_CHECK_EQUAL(cpu::identify_from("", {"", "", ""}, 1).card, "cpu: unknown processor f0m0 generic 1c ?/?");
    BOOST_CHECK_EQUAL(cpu::identify_from("model name : x\nflags : sse2\n", {"32K", "512K", ""}, 4).card, "cpu: x f0m0 x86-64 4c 512K/?");
}

BOOST_AUTO_TEST_CASE(card_name_of_hostile_texts) {
    std::string hostile = "model name\t: \x01\x1b[31m";
    hostile += std::string(5000, 'A') + "\ncpu family\t: 99999999999999\nmodel\t: -3\nflags\t: " + std::string(100000, 'f') + "\n";
    const auto host = cpu::identify_from(hostile, {"99999999999999999999K", "-1", "\xff"}, 1 << 30);
    BOOST_CHECK_LE(host.card.size(), 140u);
    for (char c : host.card) BOOST_CHECK(c >= 0x20 && c < 0x7f);
    BOOST_CHECK(host.card.find("f0m0") != std::string::npos);
    BOOST_CHECK_LE(host.limits.cores, 4096);
}

BOOST_AUTO_TEST_CASE(this_machine_has_a_name) {
    const auto& host = cpu::identify_host();
    BOOST_CHECK(host.card.starts_with("cpu: "));
    BOOST_TEST_MESSAGE(host.card);
}

BOOST_AUTO_TEST_CASE(team_parts_and_barriers) {
    static std::atomic<int> calls, mistakes;
    static std::atomic<int> shared[8];
    for (int parts : {1, 2, 3, 5}) {
        cpu::thread_team team(parts);
        calls = mistakes = 0;
        for (auto& s : shared) s = 0;
        for (int run = 0; run < 50; ++run)
            team.run(
                [](const emmy_launch* l) {
                    ++calls;
                    for (int step = 0; step < 20; ++step) {
                        ++shared[l->part];
                        l->barrier(l->team);
                        for (int p = 1; p < l->parts; ++p)
                            if (shared[p] != shared[0]) ++mistakes;
                        l->barrier(l->team);
                    }
                },
                nullptr, nullptr, nullptr);
        BOOST_CHECK_EQUAL(calls, 50 * parts);
        BOOST_CHECK_EQUAL(mistakes, 0);
    }
}

BOOST_AUTO_TEST_CASE(objects_are_cached_by_all_that_decides) {
    const emmy::test::cache_folder cache;
    const auto& host = cpu::identify_host();
    const auto text = pointwise("in[i] + 1");
    const auto first = cpu::compile_object(text, cache.path, host);
    BOOST_REQUIRE_MESSAGE(first, (first ? "" : first.error().line()));
    BOOST_CHECK(!first->cached);
    BOOST_CHECK_GT(first->seconds, 0);
    const auto again = cpu::compile_object(text, cache.path, host);
    BOOST_REQUIRE(again);
    BOOST_CHECK(again->cached);
    BOOST_CHECK_EQUAL(again->object, first->object);

    const auto compiler = cpu::find_toolchain();
    BOOST_REQUIRE(compiler);
    const std::string key = cpu::cache_key(text, *compiler, host);
    BOOST_CHECK_EQUAL(first->object, cache.path + "/cpu/" + key + "/kernel.so");
    auto other = text;
    other.fast_math = true;
    BOOST_CHECK_NE(cpu::cache_key(other, *compiler, host), key);
    other = text, other.optimisation = 1;
    BOOST_CHECK_NE(cpu::cache_key(other, *compiler, host), key);
    other = text, other.source += " ";
    BOOST_CHECK_NE(cpu::cache_key(other, *compiler, host), key);
    auto elsewhere = *compiler;
    elsewhere.path = "/opt/other/g++";
    BOOST_CHECK_EQUAL(cpu::cache_key(text, elsewhere, host), key);
    elsewhere.signature += "x";
    BOOST_CHECK_NE(cpu::cache_key(text, elsewhere, host), key);
    auto machine = host;
    machine.features += " amx_tile";
    BOOST_CHECK_NE(cpu::cache_key(text, *compiler, machine), key);

    // A damaged entry is a miss, and is replaced.
    BOOST_REQUIRE(write_file_atomically(first->object, "not an object"));
    const auto repaired = cpu::compile_object(text, cache.path, host);
    BOOST_REQUIRE(repaired);
    BOOST_CHECK(!repaired->cached);
    BOOST_CHECK(cpu::compile_object(text, cache.path, host)->cached);
}

BOOST_AUTO_TEST_CASE(publishing_at_once_leaves_one_good_entry) {
    const emmy::test::cache_folder cache;
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            if (cpu::compile_object(pointwise("in[i] - 7"), cache.path, cpu::identify_host())) ++good;
        });
    for (auto& t : threads) t.join();
    BOOST_CHECK_EQUAL(good, 4);
    BOOST_CHECK(cpu::compile_object(pointwise("in[i] - 7"), cache.path, cpu::identify_host())->cached);
    const auto listing = run_process({"ls", "-A", cache.path + "/cpu"}, 10);
    BOOST_REQUIRE(listing);
    BOOST_CHECK_EQUAL(std::count(listing->output.begin(), listing->output.end(), '\n'), 1);
}

BOOST_AUTO_TEST_CASE(absent_compiler_is_named) {
    ::setenv("EMMY_CXX", "/nowhere/g++", 1);
    const auto found = cpu::find_toolchain();
    ::unsetenv("EMMY_CXX");
    BOOST_REQUIRE(!found);
    BOOST_CHECK(found.error().kind() == fault_kind::device);
    BOOST_CHECK(found.error().line().find("/nowhere/g++") != std::string::npos);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", "/nowhere", 1);
    const auto none = cpu::find_toolchain();
    ::setenv("PATH", path.c_str(), 1);
    BOOST_REQUIRE(!none);
    BOOST_CHECK_MESSAGE(none.error().message().find("g++, g++-14") != std::string::npos, none.error().line());
}

BOOST_AUTO_TEST_CASE(unwritten_cells_stay_poisoned) {
    const emmy::test::cache_folder cache;
    cpu::host_device device(cache.path);
    auto arena = tensor_arena::create({{dtype::f32, 100, false}, {dtype::f32, 100, true}}).value();
    BOOST_REQUIRE(device.run(pointwise("1"), arena, {{60}, 1}));
    const auto* out = reinterpret_cast<const float*>(arena[1].data());
    BOOST_CHECK_EQUAL(out[59], 1.0f);
    BOOST_CHECK(out[60] != out[60]);
}

BOOST_AUTO_TEST_CASE(process_limits) {
    const auto slow = run_process({"sleep", "10"}, 0.2);
    BOOST_REQUIRE(slow);
    BOOST_CHECK(slow->overran);
    const auto quick = run_process({"sh", "-c", "echo hello; exit 3"}, 10);
    BOOST_REQUIRE(quick);
    BOOST_CHECK_EQUAL(quick->exit_code, 3);
    BOOST_CHECK_EQUAL(quick->output, "hello\n");
    BOOST_CHECK(!run_process({"/nowhere/at/all"}, 1));
}

BOOST_AUTO_TEST_CASE(interval_of_the_median) {
    std::vector<double> samples;
    for (int i = 1; i <= 100; ++i) samples.push_back(i);
    const auto s = summarise(samples);
    BOOST_CHECK_EQUAL(s.median, 50.5);
    BOOST_CHECK_EQUAL(s.min, 1);
    BOOST_CHECK_EQUAL(s.max, 100);
    BOOST_CHECK_EQUAL(s.low, 41);
    BOOST_CHECK_EQUAL(s.high, 61);
    BOOST_CHECK_CLOSE(s.variance, 833.25, 1e-9);
    BOOST_CHECK_EQUAL(summarise({}).samples, 0);
    BOOST_CHECK_EQUAL(summarise({5}).high, 5);
}

BOOST_AUTO_TEST_CASE(generic_cores_are_no_yardstick) {
    identification host;
    host.isa = "x86-64-v4";
    for (const char* core : {"Prescott", "Generic", "", "Nehalem"}) BOOST_CHECK(cpu::generic_core(core, host));
    for (const char* core : {"SkylakeX", "Cooperlake", "Zen", "Haswell"}) BOOST_CHECK(!cpu::generic_core(core, host));
}
