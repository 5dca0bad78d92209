// CUDA text to machine code without a card. Where no NVRTC is installed, its cases say so and the rest still runs.
#include <emmy/device/cache.hpp>
#include <emmy/device/cuda/compiler.hpp>
#include <emmy/device/cuda/driver.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace emmy;
using namespace emmy::device;

namespace {

struct scratch_folder {
    std::string path = "/tmp/emmy-cuda-XXXXXX";
    scratch_folder() { BOOST_REQUIRE(::mkdtemp(path.data())); }
    ~scratch_folder() { (void)std::system(("rm -rf " + path).c_str()); }
};

cuda::source reverse(capability target) {
    return {"extern \"C\" __global__ void reverse(float* x, int n) { __shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[63 - threadIdx.x] * n; }", "reverse", target};
}

bool some_compiler() {
    if (!cuda::compilers::of_this_machine().list().empty()) return true;
    std::puts("skipped: no NVRTC on this machine");
    return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_compiler)

BOOST_AUTO_TEST_CASE(a_text_compiles_for_every_target_of_the_compiler_and_says_what_it_needs) {
    if (!some_compiler()) return;
    const cuda::compiler_facts newest = cuda::compilers::of_this_machine().list().front();
    for (const int number : newest.targets) BOOST_TEST_CONTEXT(number) {
        const auto made = cuda::compilers::of_this_machine().compile(reverse({static_cast<std::uint16_t>(number / 10), static_cast<std::uint16_t>(number % 10)}));
        BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().line()));
        BOOST_TEST(made->bytes.starts_with("\177ELF"));
        BOOST_TEST(made->used.known);
        BOOST_TEST(made->used.shared_bytes == 256);
        BOOST_TEST(made->used.registers > 0);
        BOOST_TEST(made->used.barriers == 1);
        BOOST_TEST(made->used.spill_store_bytes == 0);
    }
}

BOOST_AUTO_TEST_CASE(spills_are_seen) {
    if (!some_compiler()) return;
    std::string body;
    for (int i = 0; i < 64; ++i) body += "float v" + std::to_string(i) + " = x[" + std::to_string(i * 37) + "]; ";
    body += "__syncthreads(); ";
    for (int i = 0; i < 64; ++i) body += "x[" + std::to_string(i * 41) + "] = v" + std::to_string(63 - i) + " * v" + std::to_string(i) + "; ";
    cuda::source s{"extern \"C\" __global__ void tight(float* x) { " + body + "}", "tight", {8, 0}};
    s.flags = {"--maxrregcount=24"};
    const auto made = cuda::compilers::of_this_machine().compile(s);
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().line()));
    BOOST_TEST(made->used.spill_store_bytes > 0);
    BOOST_TEST(made->used.spill_load_bytes > 0);
    BOOST_TEST(made->used.stack_bytes > 0);
}

BOOST_AUTO_TEST_CASE(refusals_are_one_line_and_the_kernels_own) {
    if (!some_compiler()) return;
    const auto made = cuda::compilers::of_this_machine().compile({"extern \"C\" __global__ void broken(float* x) { y = 3; }", "broken", {9, 0}});
    BOOST_REQUIRE(!made);
    BOOST_TEST((made.error().kind() == fault_kind::device_limit));
    BOOST_TEST(made.error().line().find("broken: the CUDA compiler refused the text: broken.cu(1): error: identifier \"y\" is undefined") == 0u);
    BOOST_TEST(made.error().line().find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_target_that_no_compiler_has_is_refused_with_what_was_found) {
    cuda::source s = reverse({3, 0});
    const auto made = cuda::compilers::of_this_machine().compile(s);
    BOOST_REQUIRE(!made);
    BOOST_TEST((made.error().kind() == fault_kind::device));
    BOOST_TEST(made.error().line().starts_with("no CUDA compiler for sm_30; found "));
    const auto none = cuda::compilers::of({}).compile(s);
    BOOST_REQUIRE(!none);
    BOOST_TEST(none.error().line().find("no libnvrtc.so in") != std::string::npos);
    BOOST_TEST(none.error().line().find("EMMY_CUDA_PATH") != std::string::npos);
    const auto broken = cuda::compilers::of({"/etc/passwd"}).compile(s);
    BOOST_REQUIRE(!broken);
    BOOST_TEST(broken.error().line().find("/etc/passwd (does not load)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_cache_answers_and_a_damaged_entry_is_compiled_again) {
    if (!some_compiler()) return;
    const scratch_folder cache;
    const auto& all = cuda::compilers::of_this_machine();
    const auto first = all.compile_cached(reverse({9, 0}), cache.path), second = all.compile_cached(reverse({9, 0}), cache.path);
    BOOST_REQUIRE(first);
    BOOST_REQUIRE(second);
    BOOST_TEST(!first->cached);
    BOOST_TEST(second->cached);
    BOOST_TEST((first->bytes == second->bytes));
    BOOST_TEST((first->used == second->used));
    for (cuda::source other : {reverse({8, 0}), [] { auto s = reverse({9, 0}); s.fast_math = true; return s; }(), [] { auto s = reverse({9, 0}); s.optimisation = 1; return s; }(),
                               [] { auto s = reverse({9, 0}); s.specific = true; return s; }()}) {
        const auto made = all.compile_cached(other, cache.path);
        BOOST_REQUIRE(made);
        BOOST_TEST(!made->cached);
    }
    BOOST_REQUIRE(std::system(("for f in " + cache.path + "/cuda/*; do printf x | dd of=$f bs=1 seek=200 conv=notrunc status=none; done").c_str()) == 0);
    const auto third = all.compile_cached(reverse({9, 0}), cache.path);
    BOOST_REQUIRE(third);
    BOOST_TEST(!third->cached);
    BOOST_TEST((third->bytes == first->bytes));
}

// A report as the assembler writes it, with two kernels.
BOOST_AUTO_TEST_CASE(reports_are_read_by_kernel) {
    const std::string log = "ptxas info    : 0 bytes gmem\n"
                            "ptxas info    : Compiling entry function 'k_other' for 'sm_90a'\n"
                            "ptxas info    : Function properties for k_other\n"
                            "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
                            "ptxas info    : Used 255 registers, used 3 barriers, 8 bytes cumulative stack size, 1024 bytes smem\n"
                            "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
                            "ptxas info    : Function properties for k\n"
                            "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                            "ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem, 364 bytes cmem[0]\n";
    const cuda::resources k = cuda::read_resources(log, "k"), other = cuda::read_resources(log, "k_other"), none = cuda::read_resources(log, "k_absent");
    BOOST_TEST(k.registers == 12);
    BOOST_TEST(k.shared_bytes == 256);
    BOOST_TEST(k.spill_store_bytes == 0);
    BOOST_TEST(other.registers == 255);
    BOOST_TEST(other.stack_bytes == 8);
    BOOST_TEST(other.spill_load_bytes == 4);
    BOOST_TEST(other.barriers == 3);
    BOOST_TEST(!none.known);
    const std::string note = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions defining accumulator registers of a wgmma in function 'k'\n";
    BOOST_TEST(cuda::read_resources(note + log, "k").serialised.find("C7510") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sealed_files_of_another_key_or_cut_short_read_as_absent) {
    const scratch_folder folder;
    const std::string path = folder.path + "/a/b/c";
    BOOST_REQUIRE(write_sealed(path, "key", std::string("line\n\0rest", 10)));
    BOOST_REQUIRE(read_sealed(path, "key"));
    BOOST_TEST((*read_sealed(path, "key") == std::string("line\n\0rest", 10)));
    BOOST_TEST(!read_sealed(path, "other"));
    BOOST_REQUIRE(::truncate(path.c_str(), 40) == 0);
    BOOST_TEST(!read_sealed(path, "key"));
    BOOST_TEST(!read_sealed(folder.path + "/absent", "key"));
}

BOOST_AUTO_TEST_CASE(without_a_driver_the_message_says_what_was_looked_for) {
    const auto cards = cuda::context::count();
    if (cards) {
        std::puts("skipped: this machine has a CUDA driver");
        return;
    }
    BOOST_TEST((cards.error().kind() == fault_kind::device));
    BOOST_TEST(cards.error().line().find("libcuda.so.1") != std::string::npos);
    BOOST_TEST(exit_code(cards.error().kind()) == 4);
}

BOOST_AUTO_TEST_SUITE_END()
