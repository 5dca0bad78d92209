// Copies with a layout of their own: ldmatrix, stmatrix and tensor copies (TMA) into swizzled shared memory.
#include "check.hpp"
#include "dump.hpp"

#include <cuda.h>

#include <cstdint>
#include <vector>

namespace lane_maps {
namespace {

// Every lane gives the address of one row of 8 elements: lane l that of row l; the 16-bit elements of memory hold their own number.
template <int N, bool Trans>
__global__ void load_matrix(std::uint32_t* out) {
    __shared__ alignas(16) std::uint16_t rows[32 * 8];
    for (int i = 0; i < 8; ++i) rows[threadIdx.x * 8 + i] = static_cast<std::uint16_t>(threadIdx.x * 8 + i);
    __syncwarp();
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(rows + threadIdx.x * 8));
    std::uint32_t r[4] = {};
    if constexpr (N == 1 && !Trans) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(address) : "memory");
    if constexpr (N == 1 && Trans) asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(address) : "memory");
    if constexpr (N == 2 && !Trans) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address) : "memory");
    if constexpr (N == 2 && Trans) asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address) : "memory");
    if constexpr (N == 4 && !Trans)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    if constexpr (N == 4 && Trans)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    for (int i = 0; i < N; ++i) out[threadIdx.x * N + i] = r[i];
}

// The other way round: registers hold lane * 2 N + part, memory tells where they went.
template <int N, bool Trans>
__global__ void store_matrix(std::uint16_t* out) {
    __shared__ alignas(16) std::uint16_t rows[32 * 8];
    for (int i = 0; i < 8; ++i) rows[threadIdx.x * 8 + i] = 0xffff;
    __syncwarp();
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(rows + threadIdx.x * 8));
    std::uint32_t r[4];
    for (std::uint32_t i = 0; i < 4; ++i) r[i] = (threadIdx.x * 2 * N + 2 * i) | (threadIdx.x * 2 * N + 2 * i + 1) << 16;
    if constexpr (N == 1 && !Trans) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%1], {%0};" ::"r"(r[0]), "r"(address) : "memory");
    if constexpr (N == 1 && Trans) asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%1], {%0};" ::"r"(r[0]), "r"(address) : "memory");
    if constexpr (N == 2 && !Trans) asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%2], {%0,%1};" ::"r"(r[0]), "r"(r[1]), "r"(address) : "memory");
    if constexpr (N == 2 && Trans) asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%2], {%0,%1};" ::"r"(r[0]), "r"(r[1]), "r"(address) : "memory");
    if constexpr (N == 4 && !Trans)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(address) : "memory");
    if constexpr (N == 4 && Trans)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(address) : "memory");
    __syncwarp();
    for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = rows[threadIdx.x * 8 + i];
}

template <int N, bool Trans>
void dump_matrix(std::FILE* out) {
    std::uint32_t* device = nullptr;
    EMMY_CHECK(cudaMalloc(&device, 32 * 8 * 4));
    std::uint32_t loaded[32 * N];
    load_matrix<N, Trans><<<1, 32>>>(device);
    EMMY_CHECK(cudaMemcpy(loaded, device, sizeof loaded, cudaMemcpyDeviceToHost));
    std::fprintf(out, "copy ldmatrix_x%d%s\n", N, Trans ? "_trans" : "");
    for (int l = 0; l < 32; ++l) {
        std::fprintf(out, "lane %d:", l);
        for (int i = 0; i < N; ++i) std::fprintf(out, " %u %u", loaded[l * N + i] & 0xffff, loaded[l * N + i] >> 16);
        std::fputc('\n', out);
    }
    std::fputs("end\n", out);
    std::uint16_t stored[32 * 8];
    store_matrix<N, Trans><<<1, 32>>>(reinterpret_cast<std::uint16_t*>(device));
    EMMY_CHECK(cudaMemcpy(stored, device, sizeof stored, cudaMemcpyDeviceToHost));
    EMMY_CHECK(cudaFree(device));
    std::fprintf(out, "copy stmatrix_x%d%s\n", N, Trans ? "_trans" : "");
    for (int l = 0; l < 8 * N; ++l) {
        std::fprintf(out, "row %d:", l);
        for (int i = 0; i < 8; ++i) std::fprintf(out, " %u", stored[l * 8 + i]);
        std::fputc('\n', out);
    }
    std::fputs("end\n", out);
}

constexpr std::uint32_t slab = 32768;

// One box copied to `start` bytes behind a 1024-aligned address; every byte of memory starts as 0xee.
__global__ void load_box(const __grid_constant__ CUtensorMap map, int rank, int x, int y, int z, std::uint32_t start, std::uint32_t bytes, std::uint8_t* out, std::uint32_t* polls) {
    extern __shared__ std::uint8_t memory[];
    __shared__ alignas(8) std::uint64_t barrier;
    std::uint8_t* base = memory + ((1024 - (__cvta_generic_to_shared(memory) & 1023)) & 1023);
    for (std::uint32_t i = threadIdx.x; i < slab; i += blockDim.x) base[i] = 0xee;
    const auto bar = static_cast<std::uint32_t>(__cvta_generic_to_shared(&barrier)), to = static_cast<std::uint32_t>(__cvta_generic_to_shared(base)) + start;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
        if (rank == 2)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(bar) : "memory");
        else
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(bar) : "memory");
    }
    // A wait that gives up: a byte count that is wrong must not hang the card.
    std::uint32_t done = 0, tries = 0;
    while (done == 0 && tries++ < 100000)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
    if (threadIdx.x == 0) *polls = done;
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < slab; i += blockDim.x) out[i] = base[i];
}

struct box_case {
    int element;              // bytes
    int swizzle;              // 0, 32, 64, 128
    int inner, rows, planes;  // of the box, elements; planes 0: rank 2
    int x, y, z;
    std::uint32_t start;
};

void dump_box(std::FILE* out, const box_case& c) {
    // Two bytes a 16-byte piece are enough to know it: memory holds, in every 16-byte piece, the piece's number twice low and high.
    constexpr int width = 512, height = 64, depth = 4;  // bytes, rows, planes
    std::vector<std::uint8_t> source(width * height * depth);
    for (std::size_t i = 0; i < source.size(); i += 16)
        for (std::size_t j = 0; j < 16; ++j) source[i + j] = static_cast<std::uint8_t>(j % 4 == 0 ? (i / 16) & 0xff : j % 4 == 1 ? (i / 16) >> 8 : j % 4 == 2 ? j : 0x5a);
    std::uint8_t *device = nullptr, *result = nullptr;
    std::uint32_t* polls = nullptr;
    EMMY_CHECK(cudaMalloc(&device, source.size()));
    EMMY_CHECK(cudaMalloc(&result, slab));
    EMMY_CHECK(cudaMalloc(&polls, 4));
    EMMY_CHECK(cudaMemcpy(device, source.data(), source.size(), cudaMemcpyHostToDevice));
    using encode_t = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                  CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    EMMY_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(width / c.element), height, depth}, strides[2] = {width, width * height};
    const cuuint32_t box[3] = {static_cast<cuuint32_t>(c.inner), static_cast<cuuint32_t>(c.rows), static_cast<cuuint32_t>(c.planes)}, ones[3] = {1, 1, 1};
    const int rank = c.planes == 0 ? 2 : 3;
    CUtensorMap map{};
    const CUresult status = reinterpret_cast<encode_t>(entry)(
        &map, c.element == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : c.element == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16 : CU_TENSOR_MAP_DATA_TYPE_UINT32, rank, device, sizes, strides, box, ones,
        CU_TENSOR_MAP_INTERLEAVE_NONE,
        c.swizzle == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : c.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : c.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    std::fprintf(out, "box element %d swizzle %d inner %d rows %d planes %d at %d,%d,%d start %u", c.element, c.swizzle, c.inner, c.rows, c.planes, c.x, c.y, c.z, c.start);
    if (status != CUDA_SUCCESS) {
        std::fprintf(out, " refused %d\nend\n", static_cast<int>(status));
    } else {
        EMMY_CHECK(cudaFuncSetAttribute(load_box, cudaFuncAttributeMaxDynamicSharedMemorySize, slab + 1024));
        const std::uint32_t bytes = c.inner * c.element * c.rows * (c.planes == 0 ? 1 : c.planes);
        load_box<<<1, 128, slab + 1024>>>(map, rank, c.x, c.y, c.z, c.start, bytes, result, polls);
        EMMY_CHECK(cudaGetLastError());
        std::vector<std::uint8_t> got(slab);
        std::uint32_t done = 0;
        EMMY_CHECK(cudaMemcpy(got.data(), result, slab, cudaMemcpyDeviceToHost));
        EMMY_CHECK(cudaMemcpy(&done, polls, 4, cudaMemcpyDeviceToHost));
        // What each 16-byte piece of memory holds: row.piece of the source (plane.row.piece), z zeros, - untouched, ? parts of several.
        std::fprintf(out, " bytes %u %s\n", bytes, done != 0 ? "landed" : "timeout");
        for (std::size_t i = 0; i < slab; i += 128) {
            bool any = false;
            for (std::size_t j = 0; j < 128; ++j) any = any || got[i + j] != 0xee;
            if (!any) continue;
            std::fprintf(out, "line %zu:", i / 128);
            for (std::size_t p = i; p < i + 128; p += 16) {
                bool whole = true, zero = true, untouched = true;
                const std::uint32_t id = got[p] | got[p + 1] << 8;
                for (std::size_t j = 0; j < 16; ++j) {
                    whole = whole && got[p + j] == (j % 4 == 0 ? (id & 0xff) : j % 4 == 1 ? id >> 8 : j % 4 == 2 ? j : 0x5a);
                    zero = zero && got[p + j] == 0;
                    untouched = untouched && got[p + j] == 0xee;
                }
                if (untouched) std::fputs(" -", out);
                else if (zero) std::fputs(" z", out);
                else if (!whole) std::fputs(" ?", out);
                else if (rank == 2) std::fprintf(out, " %u.%u", id / 32, id % 32);
                else std::fprintf(out, " %u.%u.%u", id / 32 / height, id / 32 % height, id % 32);
            }
            std::fputc('\n', out);
        }
        std::fputs("end\n", out);
    }
    EMMY_CHECK(cudaFree(device));
    EMMY_CHECK(cudaFree(result));
    EMMY_CHECK(cudaFree(polls));
}

}  // namespace

void dump_copies(std::FILE* out) {
    std::fputs("# ldmatrix: what each lane's registers hold (low half, high half): row lane * 8 + column of the rows whose addresses the lanes gave.\n"
               "# stmatrix: what each row holds: lane * 2 N + part.\n",
               out);
    dump_matrix<1, false>(out), dump_matrix<2, false>(out), dump_matrix<4, false>(out), dump_matrix<1, true>(out), dump_matrix<2, true>(out), dump_matrix<4, true>(out);
    std::fputs("# Tensor copies from a tensor of 512 bytes by 64 rows by 4 planes. Lines are 128 bytes of shared memory, 16-byte pieces: row.piece or plane.row.piece of the source, z zeros, - untouched.\n", out);
    for (int element : {1, 2, 4}) {
        for (int swizzle : {32, 64, 128}) dump_box(out, {element, swizzle, swizzle / element, 16, 0, 0, 0, 0, 0});
        dump_box(out, {element, 0, 128 / element, 8, 0, 0, 0, 0, 0});
    }
    dump_box(out, {2, 128, 64, 16, 0, 64, 3, 0, 0});       // away from the origin: the pattern hangs on the address in shared memory alone
    dump_box(out, {2, 128, 64, 16, 0, 0, 0, 0, 512});      // … and on all its bits
    dump_box(out, {2, 128, 64, 8, 0, 0, 0, 0, 128});
    dump_box(out, {2, 64, 32, 16, 0, 0, 0, 0, 128});
    dump_box(out, {2, 32, 16, 16, 0, 0, 0, 0, 128});
    dump_box(out, {2, 128, 64, 16, 0, 224, 56, 0, 0});     // over the end of both dimensions: zeros, and the bytes of the whole box arrive
    dump_box(out, {2, 128, 64, 16, 0, -32, -4, 0, 0});     // before the beginning
    dump_box(out, {2, 128, 32, 16, 0, 0, 0, 0, 0});        // a box narrower than the swizzle
    dump_box(out, {2, 0, 24, 8, 0, 0, 0, 0, 0});           // rows of 48 bytes
    dump_box(out, {2, 128, 64, 8, 3, 64, 2, 1, 0});        // three dimensions
    dump_box(out, {4, 64, 16, 4, 3, 16, 2, 1, 0});
    dump_box(out, {2, 128, 128, 8, 0, 0, 0, 0, 0});        // wider than the swizzle: refused
}

}  // namespace lane_maps
