// Rounding and packing of narrow types: the answers for every f32 whose lower 16 bits are one of a few patterns, as digests, and the answers that surprise.
#include "check.hpp"
#include "dump.hpp"

#include <cstdint>
#include <vector>

namespace lane_maps {
namespace {

enum class to { e4m3, e5m2, f16, bf16 };
constexpr const char* names[] = {"e4m3", "e5m2", "f16", "bf16"};

__device__ std::uint32_t narrow(to t, float high, float low) {
    std::uint16_t h = 0;
    std::uint32_t w = 0;
    switch (t) {
    case to::e4m3: asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(high), "f"(low)); return h;
    case to::e5m2: asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(h) : "f"(high), "f"(low)); return h;
    case to::f16: asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low)); return w;
    default: asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low)); return w;
    }
}

// out[i] = i << 16 | tail as an f32, narrowed, in the low half; the high half narrows 0.
__global__ void all(to t, std::uint32_t tail, std::uint32_t* out) {
    const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = narrow(t, 0.0f, __uint_as_float(i << 16 | tail));
}
__global__ void order(std::uint32_t* out) {
    if (threadIdx.x < 4) out[threadIdx.x] = narrow(static_cast<to>(threadIdx.x), 1.0f, 2.0f);
}
// Both 8-bit types widen to f16 exactly: all 256, the first of a pair in the low half.
__global__ void widen(bool e5m2, std::uint16_t* out) {
    std::uint32_t w = 0;
    const auto pair = static_cast<std::uint16_t>(threadIdx.x);
    if (e5m2) asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(w) : "h"(pair));
    else asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(w) : "h"(pair));
    out[threadIdx.x] = static_cast<std::uint16_t>(w);
}

std::uint64_t fnv(std::uint64_t h, std::uint32_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) h = (h ^ (v >> (8 * i) & 0xff)) * 0x100000001b3ull;
    return h;
}

}  // namespace

void dump_conversions(std::FILE* out) {
    std::fputs("# narrow TYPE tail T: FNV-1a 64 over the results (little-endian, 1 or 2 bytes each) for f32 bits i << 16 | T, i = 0 ... 65535. sample: f32 bits and result.\n"
               "# order TYPE: the packed pair of (first operand 1.0, second operand 2.0). widen TYPE: f16 bits of all 256 values.\n",
               out);
    std::uint32_t* device = nullptr;
    EMMY_CHECK(cudaMalloc(&device, 65536 * 4));
    std::vector<std::uint32_t> got(65536);
    for (int t = 0; t < 4; ++t)
        for (std::uint32_t tail : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
            all<<<256, 256>>>(static_cast<to>(t), tail, device);
            EMMY_CHECK(cudaMemcpy(got.data(), device, 65536 * 4, cudaMemcpyDeviceToHost));
            std::uint64_t h = 0xcbf29ce484222325ull;
            for (std::uint32_t v : got) h = fnv(h, v, t < 2 ? 1 : 2);
            std::fprintf(out, "narrow %s tail %04x: %016llx\n", names[t], tail, static_cast<unsigned long long>(h));
            for (std::uint32_t i : {0x7f80u, 0x7fc0u, 0xffc0u, 0x7f81u, 0xff80u, 0x43e0u, 0x43f0u, 0x4780u, 0x477fu, 0x3b00u, 0x3a80u, 0x8000u, 0x0001u})
                std::fprintf(out, "sample %s %04x%04x %x\n", names[t], i, tail, got[i]);
        }
    order<<<1, 32>>>(device);
    EMMY_CHECK(cudaMemcpy(got.data(), device, 16, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 4; ++t) std::fprintf(out, "order %s %x\n", names[t], got[t]);
    for (int t = 0; t < 2; ++t) {
        widen<<<1, 256>>>(t == 1, reinterpret_cast<std::uint16_t*>(device));
        std::vector<std::uint16_t> wide(256);
        EMMY_CHECK(cudaMemcpy(wide.data(), device, 512, cudaMemcpyDeviceToHost));
        std::fprintf(out, "widen %s", names[t]);
        for (std::uint16_t w : wide) std::fprintf(out, " %04x", w);
        std::fputc('\n', out);
    }
    EMMY_CHECK(cudaFree(device));
}

}  // namespace lane_maps
