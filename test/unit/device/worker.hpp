#pragma once
// A test executable that is its own worker: `<executable> -- --emmy-device-worker`.
#include <emmy/device/worker.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>
#include <unistd.h>

namespace emmy::test {

/// Fresh cache folder of one test, removed afterwards.
struct cache_folder {
    std::string path = "/tmp/emmy-test-cache-XXXXXX";
    cache_folder() { BOOST_REQUIRE(::mkdtemp(path.data())); }
    ~cache_folder() { BOOST_CHECK_EQUAL(std::system(("rm -rf '" + path + "'").c_str()), 0); }
};

inline device::worker_options own_worker(const std::string& cache) {
    device::worker_options out;
    out.arguments = {"--", std::string(device::worker_argument)};
    out.cache_directory = cache;
    return out;
}

inline const std::string launch_struct =
    "struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };\n";

/// out[i] = body, for i in this part of sizes[0] cells of one f32 input `in` and one f32 output `out`.
inline device::kernel_text pointwise(const std::string& body, const std::string& before = {}) {
    device::kernel_text text;
    text.entry = "k";
    text.source = launch_struct + "extern \"C\" void k(const emmy_launch* l) {\n    const float* in = (const float*)l->buffers[0];\n    float* out = (float*)l->buffers[1];\n    const long long n = l->sizes[0];\n    " +
                  before + "\n    for (long long i = n * l->part / l->parts; i < n * (l->part + 1) / l->parts; ++i) out[i] = " + body + ";\n}\n";
    return text;
}

}  // namespace emmy::test
