// Register maps of mma.sync: which element of A meets which element of B, and where their product lands.
#include "check.hpp"
#include "dump.hpp"
#include "relation.hpp"

#include <cuda_fp16.h>

namespace lane_maps {
namespace {

// One instruction: registers of A, B and C a lane, parts of a 32-bit register of A and B (2: 16 bit, 4: 8 bit, 1: tf32), of C (2: f16), the bits of 1.0.
#define EMMY_MMA(NAME, NA, NB, NC, PARTS, CPARTS, ONE)                                               \
    struct NAME {                                                                                    \
        static constexpr int na = NA, nb = NB, nc = NC, parts = PARTS, cparts = CPARTS;              \
        static constexpr std::uint32_t one = ONE;                                                    \
        static constexpr const char* name = #NAME;                                                   \
        static __device__ void run(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c); \
    };

#define A2 "r"(a[0]), "r"(a[1])
#define A4 A2, "r"(a[2]), "r"(a[3])
#define B1 "r"(b[0])
#define B2 B1, "r"(b[1])
#define C2 "+r"(c[0]), "+r"(c[1])
#define C4 C2, "+r"(c[2]), "+r"(c[3])
#define C8 C4, "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7])
#define EMMY_MMA_844(NAME, WORDS)                                                                                                                             \
    EMMY_MMA(NAME, 2, 2, 8, 2, 1, 0x3C00)                                                                                                                     \
    __device__ void NAME::run(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {                                                             \
        asm volatile("mma.sync.aligned.m8n8k4." WORDS ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};" : C8 : A2, B2); \
    }                                                                                                                                                         \
    EMMY_MMA(NAME##_f16, 2, 2, 4, 2, 2, 0x3C00)                                                                                                               \
    __device__ void NAME##_f16::run(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {                                                       \
        asm volatile("mma.sync.aligned.m8n8k4." WORDS ".f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3};" : C4 : A2, B2);                       \
    }
EMMY_MMA_844(mma_m8n8k4_row_col, "row.col")
EMMY_MMA_844(mma_m8n8k4_row_row, "row.row")
EMMY_MMA_844(mma_m8n8k4_col_col, "col.col")
EMMY_MMA_844(mma_m8n8k4_col_row, "col.row")

#define EMMY_MMA_16(NAME, SHAPE, TYPE, NA, NB, PARTS, ONE, AREGS, BREGS, AB)                                                                      \
    EMMY_MMA(NAME, NA, NB, 4, PARTS, 1, ONE)                                                                                                     \
    __device__ void NAME::run(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {                                                \
        asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE ".f32 {%0,%1,%2,%3}, " AB ", {%0,%1,%2,%3};" : C4 : AREGS, BREGS);   \
    }
EMMY_MMA_16(mma_m16n8k8_f16, "m16n8k8", "f16", 2, 1, 2, 0x3C00, A2, B1, "{%4,%5}, {%6}")
EMMY_MMA_16(mma_m16n8k16_f16, "m16n8k16", "f16", 4, 2, 2, 0x3C00, A4, B2, "{%4,%5,%6,%7}, {%8,%9}")
EMMY_MMA_16(mma_m16n8k16_bf16, "m16n8k16", "bf16", 4, 2, 2, 0x3F80, A4, B2, "{%4,%5,%6,%7}, {%8,%9}")
EMMY_MMA_16(mma_m16n8k8_tf32, "m16n8k8", "tf32", 4, 2, 1, 0x3F800000, A4, B2, "{%4,%5,%6,%7}, {%8,%9}")
EMMY_MMA_16(mma_m16n8k32_e4m3, "m16n8k32", "e4m3", 4, 2, 4, 0x38, A4, B2, "{%4,%5,%6,%7}, {%8,%9}")
EMMY_MMA_16(mma_m16n8k32_e5m2, "m16n8k32", "e5m2", 4, 2, 4, 0x3C, A4, B2, "{%4,%5,%6,%7}, {%8,%9}")
EMMY_MMA(mma_m16n8k16_f16_f16, 4, 2, 2, 2, 2, 0x3C00)
__device__ void mma_m16n8k16_f16_f16::run(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : C2 : A4, B2);
}

// One block of one warp for each element of A, set to 1 alone. B's elements are told apart by the bits of their number, one run a bit.
// codes[element of A][lane][element of C] = number of the B element whose product landed there, plus 1.
template <class I>
__global__ void probe(std::uint32_t* codes) {
    const std::uint32_t lane = threadIdx.x, element = blockIdx.x;
    constexpr std::uint32_t bits = 32 / I::parts;
    std::uint32_t a[I::na] = {};
    for (int r = 0; r < I::na; ++r)
        for (int p = 0; p < I::parts; ++p)
            if (element == (lane * I::na + r) * I::parts + p) a[r] |= I::one << (p * bits);
    std::uint32_t code[I::nc * I::cparts] = {};
    for (std::uint32_t t = 0; t < 10; ++t) {
        std::uint32_t b[I::nb] = {}, c[I::nc] = {};
        for (int r = 0; r < I::nb; ++r)
            for (int p = 0; p < I::parts; ++p)
                if ((((lane * I::nb + r) * I::parts + p + 1) >> t) & 1) b[r] |= I::one << (p * bits);
        I::run(a, b, c);
        for (int r = 0; r < I::nc; ++r)
            for (int p = 0; p < I::cparts; ++p)
                if (I::cparts == 2 ? ((c[r] >> (p * 16)) & 0xffff) != 0 : c[r] != 0) code[r * I::cparts + p] |= 1u << t;
    }
    for (int i = 0; i < I::nc * I::cparts; ++i) codes[(element * 32 + lane) * I::nc * I::cparts + i] = code[i];
}

template <class I>
void dump_one(std::FILE* out) {
    constexpr std::size_t na = 32 * I::na * I::parts, nb = 32 * I::nb * I::parts, nc = 32 * I::nc * I::cparts;
    std::uint32_t* device = nullptr;
    EMMY_CHECK(cudaMalloc(&device, na * nc * 4));
    probe<I><<<na, 32>>>(device);
    EMMY_CHECK(cudaGetLastError());
    std::vector<std::uint32_t> codes(na * nc);
    EMMY_CHECK(cudaMemcpy(codes.data(), device, na * nc * 4, cudaMemcpyDeviceToHost));
    EMMY_CHECK(cudaFree(device));
    std::vector<triple> all;
    for (std::uint32_t a = 0; a < na; ++a)
        for (std::uint32_t c = 0; c < nc; ++c)
            if (const std::uint32_t code = codes[a * nc + c]; code != 0) all.push_back({a, code - 1, c});
    print(out, I::name, label(all, na, nb, nc), I::na * I::parts, I::nb * I::parts, I::nc * I::cparts);
}

}  // namespace

void dump_mma(std::FILE* out) {
    std::fputs("# mma.sync. Lines are lanes; elements in register order, low bits of a register first. A: row,step  B: column,step  C: row,column.\n", out);
    dump_one<mma_m8n8k4_row_col>(out), dump_one<mma_m8n8k4_row_row>(out), dump_one<mma_m8n8k4_col_col>(out), dump_one<mma_m8n8k4_col_row>(out);
    dump_one<mma_m8n8k4_row_col_f16>(out), dump_one<mma_m8n8k4_row_row_f16>(out), dump_one<mma_m8n8k4_col_col_f16>(out), dump_one<mma_m8n8k4_col_row_f16>(out);
    dump_one<mma_m16n8k8_f16>(out), dump_one<mma_m16n8k16_f16>(out), dump_one<mma_m16n8k16_bf16>(out), dump_one<mma_m16n8k16_f16_f16>(out);
    dump_one<mma_m16n8k8_tf32>(out), dump_one<mma_m16n8k32_e4m3>(out), dump_one<mma_m16n8k32_e5m2>(out);
}

}  // namespace lane_maps
