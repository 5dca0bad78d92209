#pragma once
// A bench over kernels written by hand: good, hanging, crashing, lying. The executable is its own worker.
#include <emmy-bench/bench.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

namespace emmy::test {

struct folder {
    std::string path = "/tmp/emmy-test-bench-XXXXXX";
    folder() { BOOST_REQUIRE(::mkdtemp(path.data())); }
    ~folder() { BOOST_CHECK_EQUAL(std::system(("rm -rf '" + path + "'").c_str()), 0); }
};

constexpr const char* matmul = "matmul(a: f32[32,48], b: f32[48,32])";

/// C[32,32] = A[32,48] B[48,32] (the kernel declares b before a) with `each` before every cell and `value` as what is stored.
inline kernel::cpu_text matmul_text(const std::string& each, const std::string& value) {
    kernel::cpu_text out;
    out.entry = "mm";
    out.source =
        "struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };\n"
        "extern \"C\" void mm(const emmy_launch* l) {\n"
        "    const float *a = (const float*)l->buffers[1], *b = (const float*)l->buffers[0];\n    float* c = (float*)l->buffers[2];\n"
        "    for (int i = l->part; i < 32; i += l->parts)\n        for (int j = 0; j < 32; ++j) {\n            float s = 0;\n"
        "            for (int k = 0; k < 48; ++k) s += a[i * 48 + k] * b[k * 32 + j];\n            " + each + "\n            c[i * 32 + j] = " + value + ";\n        }\n}\n";
    return out;
}

inline bench::settings settings_of(const std::string& folder) {
    bench::settings out;
    out.common.db = folder + "/store";
    out.common.op = matmul;
    out.common.quiet = true;
    out.seconds = 0.005;
    out.reference = false;
    return out;
}
inline device::worker_options worker_of(const std::string& folder) {
    device::worker_options out;
    out.arguments = {"--", std::string(device::worker_argument)};
    out.cache_directory = folder + "/cache";
    return out;
}

/// No golden file of the machine takes part.
inline void no_goldens() { ::setenv("EMMY_GOLDEN_FILE", "", 1); }

}  // namespace emmy::test
