#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <emmy/device/cuda/library.hpp>

/// The functions of the CUDA driver that we call, by its documented interface. Versioned names are the interface since CUDA 12.
namespace emmy::device::cuda::detail {

using status = int;  // 0: success
constexpr status not_ready = 600;

/// One attribute of a launch (cluster, dependent start): 64 bytes of value behind an id.
struct launch_attribute {
    std::int32_t id = 0;
    char pad[4] = {};
    union {
        char all[64];
        struct { std::uint32_t x, y, z; } cluster;
        std::int32_t flag;
    } value = {};
};
static_assert(sizeof(launch_attribute) == 72);
struct launch_config {
    std::uint32_t grid[3], block[3], shared;
    void* stream;
    launch_attribute* attributes;
    std::uint32_t count;
};
static_assert(sizeof(launch_config) == 56);
constexpr std::int32_t attribute_cluster = 4, attribute_dependent = 6;

// Device and function attributes.
constexpr int sms = 16, capability_major = 75, capability_minor = 76, l2_size = 38;
constexpr int function_most_threads = 0, function_shared = 1, function_local = 3, function_registers = 4, function_dynamic_shared = 8;

#define EMMY_CUDA_DRIVER(X)                                                                                       \
    X(init, "cuInit", (std::uint32_t))                                                                            \
    X(driver_version, "cuDriverGetVersion", (int*))                                                               \
    X(device_count, "cuDeviceGetCount", (int*))                                                                   \
    X(device_get, "cuDeviceGet", (int*, int))                                                                     \
    X(device_name, "cuDeviceGetName", (char*, int, int))                                                          \
    X(device_attribute, "cuDeviceGetAttribute", (int*, int, int))                                                 \
    X(primary_retain, "cuDevicePrimaryCtxRetain", (void**, int))                                                  \
    X(primary_release, "cuDevicePrimaryCtxRelease_v2", (int))                                                     \
    X(set_current, "cuCtxSetCurrent", (void*))                                                                    \
    X(synchronize, "cuCtxSynchronize", ())                                                                        \
    X(allocate, "cuMemAlloc_v2", (std::uint64_t*, std::size_t))                                                   \
    X(free, "cuMemFree_v2", (std::uint64_t))                                                                      \
    X(upload, "cuMemcpyHtoD_v2", (std::uint64_t, const void*, std::size_t))                                       \
    X(download, "cuMemcpyDtoH_v2", (void*, std::uint64_t, std::size_t))                                           \
    X(fill, "cuMemsetD8Async", (std::uint64_t, unsigned char, std::size_t, void*))                                \
    X(load_code, "cuModuleLoadData", (void**, const void*))                                                       \
    X(unload_code, "cuModuleUnload", (void*))                                                                     \
    X(find_function, "cuModuleGetFunction", (void**, void*, const char*))                                         \
    X(function_attribute, "cuFuncGetAttribute", (int*, int, void*))                                               \
    X(set_function_attribute, "cuFuncSetAttribute", (void*, int, int))                                            \
    X(launch, "cuLaunchKernelEx", (const launch_config*, void*, void**, void**))                                  \
    X(stream_create, "cuStreamCreate", (void**, std::uint32_t))                                                   \
    X(stream_destroy, "cuStreamDestroy_v2", (void*))                                                              \
    X(stream_wait, "cuStreamSynchronize", (void*))                                                                \
    X(event_create, "cuEventCreate", (void**, std::uint32_t))                                                     \
    X(event_destroy, "cuEventDestroy_v2", (void*))                                                                \
    X(event_record, "cuEventRecord", (void*, void*))                                                              \
    X(event_query, "cuEventQuery", (void*))                                                                       \
    X(event_elapsed, "cuEventElapsedTime", (float*, void*, void*))                                                \
    X(capture_begin, "cuStreamBeginCapture_v2", (void*, int))                                                     \
    X(capture_end, "cuStreamEndCapture", (void*, void**))                                                         \
    X(graph_instantiate, "cuGraphInstantiateWithFlags", (void**, void*, std::uint64_t))                           \
    X(graph_destroy, "cuGraphDestroy", (void*))                                                                   \
    X(graph_exec_destroy, "cuGraphExecDestroy", (void*))                                                          \
    X(graph_launch, "cuGraphLaunch", (void*, void*))                                                              \
    X(encode_map, "cuTensorMapEncodeTiled", (void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int, int, int, int)) \
    X(error_name, "cuGetErrorName", (status, const char**))                                                       \
    X(error_text, "cuGetErrorString", (status, const char**))

struct driver_functions {
#define EMMY_DECLARE(name, symbol, arguments) status(*name) arguments = nullptr;
    EMMY_CUDA_DRIVER(EMMY_DECLARE)
#undef EMMY_DECLARE

    /// Name of a function that the driver lacks; null when it has them all.
    const char* take(const shared_library& from) {
#define EMMY_TAKE(name, symbol, arguments)                                 \
    name = reinterpret_cast<status(*) arguments>(from.find(symbol));       \
    if (name == nullptr) return symbol;
        EMMY_CUDA_DRIVER(EMMY_TAKE)
#undef EMMY_TAKE
        return nullptr;
    }

    std::string describe(status code) const {
        const char *name = nullptr, *text = nullptr;
        error_name(code, &name), error_text(code, &text);
        return std::string(name ? name : "error ") + (name ? "" : std::to_string(code)) + (text ? std::string(" (") + text + ")" : "");
    }
};
#undef EMMY_CUDA_DRIVER

}  // namespace emmy::device::cuda::detail
