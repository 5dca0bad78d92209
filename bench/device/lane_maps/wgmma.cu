// wgmma.mma_async: register maps of A and C, and what a shared memory descriptor means: which address is which element.
#include "check.hpp"
#include "dump.hpp"
#include "relation.hpp"

#include <string>

namespace lane_maps {
namespace {

enum class kind { f16, bf16, e4m3, tf32 };
__host__ __device__ constexpr std::uint32_t bytes_of(kind k) { return k == kind::e4m3 ? 1 : k == kind::tf32 ? 4 : 2; }
__host__ __device__ constexpr std::uint32_t one_of(kind k) { return k == kind::e4m3 ? 0x38u : k == kind::tf32 ? 0x3F800000u : k == kind::bf16 ? 0x3F80u : 0x3C00u; }

constexpr std::uint32_t region = 32768;  // bytes of shared memory an operand may lie in

/// How one operand lies in memory: the fields of its descriptor.
struct operand {
    bool transposed = false;      ///< the m (or n) dimension is contiguous
    std::uint32_t swizzle = 0;    ///< 0: none, 1: 32 bytes, 2: 64, 3: 128
    std::uint32_t leading = 0, stride = 0, start = 0;  ///< bytes
};
__device__ std::uint64_t descriptor(const operand& o, std::uint32_t base) {
    const std::uint64_t code = o.swizzle == 0 ? 0 : o.swizzle == 1 ? 3 : o.swizzle == 2 ? 2 : 1;
    return ((base + o.start) >> 4 & 0x3fff) | (std::uint64_t{o.leading >> 4 & 0x3fff} << 16) | (std::uint64_t{o.stride >> 4 & 0x3fff} << 32) | (code << 62);
}

// Register lists of an instruction: their places in its text, and the registers.
#define P10(t) "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define P16 P10() ", %10, %11, %12, %13, %14, %15"
#define P30 P10() ", " P10(1) ", " P10(2)
#define P32 P30 ", %30, %31"
#define P60 P30 ", " P10(3) ", " P10(4) ", " P10(5)
#define P64 P60 ", %60, %61, %62, %63"
#define P90 P60 ", " P10(6) ", " P10(7) ", " P10(8)
#define P96 P90 ", %90, %91, %92, %93, %94, %95"
#define P128 P90 ", " P10(9) ", " P10(10) ", " P10(11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define R4(b) "+f"(d[b]), "+f"(d[b + 1]), "+f"(d[b + 2]), "+f"(d[b + 3])
#define R16(b) R4(b), R4(b + 4), R4(b + 8), R4(b + 12)
#define R32(b) R16(b), R16(b + 16)
#define R64(b) R32(b), R32(b + 32)
#define R96(b) R64(b), R32(b + 64)
#define R128(b) R64(b), R64(b + 64)

// One instruction: registers of C and of A (0: in memory), operand type, shape, the places behind C's, what stands there. TA, TB: rows of A, columns of B are adjacent.
#define EMMY_GROUP(NAME, REGISTERS, A_REGISTERS, TYPE, SHAPE, AFTER, ...)                                                                                            \
    template <int TA, int TB>                                                                                                                                       \
    struct NAME {                                                                                                                                                   \
        static constexpr int registers = REGISTERS, a_registers = A_REGISTERS;                                                                                      \
        static constexpr kind type = kind::TYPE;                                                                                                                    \
        static constexpr const char* name = #NAME;                                                                                                                  \
        static __device__ void run(float* d, std::uint64_t a, std::uint64_t b, const std::uint32_t* r) {                                                            \
            asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned." SHAPE ".f32." #TYPE "." #TYPE " {" P##REGISTERS "}, " AFTER "; }"      \
                         : R##REGISTERS(0) : __VA_ARGS__);                                                                                                          \
        }                                                                                                                                                           \
    };
#define IN_MEMORY "l"(a), "l"(b)
#define IN_REGISTERS "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b)
EMMY_GROUP(wgmma_m64n64k16_f16, 32, 0, f16, "m64n64k16", "%32, %33, p, 1, 1, %34, %35", IN_MEMORY, "n"(TA), "n"(TB))
EMMY_GROUP(wgmma_m64n64k16_bf16, 32, 0, bf16, "m64n64k16", "%32, %33, p, 1, 1, %34, %35", IN_MEMORY, "n"(TA), "n"(TB))
EMMY_GROUP(wgmma_m64n128k16_f16, 64, 0, f16, "m64n128k16", "%64, %65, p, 1, 1, %66, %67", IN_MEMORY, "n"(TA), "n"(TB))
EMMY_GROUP(wgmma_m64n192k16_f16, 96, 0, f16, "m64n192k16", "%96, %97, p, 1, 1, %98, %99", IN_MEMORY, "n"(TA), "n"(TB))
EMMY_GROUP(wgmma_m64n256k16_f16, 128, 0, f16, "m64n256k16", "%128, %129, p, 1, 1, %130, %131", IN_MEMORY, "n"(TA), "n"(TB))
EMMY_GROUP(wgmma_m64n32k16_f16, 16, 0, f16, "m64n32k16", "%16, %17, p, 1, 1, %18, %19", IN_MEMORY, "n"(TA), "n"(TB))
EMMY_GROUP(wgmma_m64n64k32_e4m3, 32, 0, e4m3, "m64n64k32", "%32, %33, p, 1, 1", IN_MEMORY)
EMMY_GROUP(wgmma_m64n64k8_tf32, 32, 0, tf32, "m64n64k8", "%32, %33, p, 1, 1", IN_MEMORY)
EMMY_GROUP(wgmma_m64n64k16_f16_registers, 32, 4, f16, "m64n64k16", "{%32, %33, %34, %35}, %36, p, 1, 1, %37", IN_REGISTERS, "n"(TB))
EMMY_GROUP(wgmma_m64n64k32_e4m3_registers, 32, 4, e4m3, "m64n64k32", "{%32, %33, %34, %35}, %36, p, 1, 1", IN_REGISTERS)
EMMY_GROUP(wgmma_m64n64k8_tf32_registers, 32, 4, tf32, "m64n64k8", "{%32, %33, %34, %35}, %36, p, 1, 1", IN_REGISTERS)

__device__ void put(char* memory, std::uint32_t element, std::uint32_t value, std::uint32_t bytes) {
    if (bytes == 1) reinterpret_cast<std::uint8_t*>(memory)[element] = static_cast<std::uint8_t>(value);
    if (bytes == 2) reinterpret_cast<std::uint16_t*>(memory)[element] = static_cast<std::uint16_t>(value);
    if (bytes == 4) reinterpret_cast<std::uint32_t*>(memory)[element] = value;
}

/// Ordinary stores before, the matrix unit after.
__device__ void settle() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

template <class I>
__device__ void multiply(float* d, std::uint64_t a, std::uint64_t b, const std::uint32_t* regs) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    I::run(d, a, b, regs);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// Sets element `element` of A (memory, or lane-register-part) to 1 and B's elements by bit `t` of their number (t < 0: all to 1), multiplies.
template <class I>
__device__ void step(float* d, char* sa, char* sb, const operand& a, const operand& b, std::uint32_t element, int t, bool fill_b) {
    constexpr std::uint32_t bytes = bytes_of(I::type), parts = 4 / bytes;
    const std::uint32_t one = one_of(I::type);
    std::uint32_t regs[4] = {};
    if (I::a_registers == 0) {
        if (threadIdx.x == 0) put(sa, element, one, bytes);
    } else {
        for (std::uint32_t r = 0; r < 4; ++r)
            for (std::uint32_t p = 0; p < parts; ++p)
                if (element == (threadIdx.x * 4 + r) * parts + p) regs[r] |= one << (p * 8 * bytes);
    }
    if (fill_b)
        for (std::uint32_t e = threadIdx.x; e < region / bytes; e += 128) put(sb, e, t < 0 || ((e + 1) >> t & 1) ? one : 0, bytes);
    settle();
    for (int r = 0; r < I::registers; ++r) d[r] = 0;
    multiply<I>(d, descriptor(a, static_cast<std::uint32_t>(__cvta_generic_to_shared(sa))), descriptor(b, static_cast<std::uint32_t>(__cvta_generic_to_shared(sb))), regs);
    __syncthreads();
    if (I::a_registers == 0 && threadIdx.x == 0) put(sa, element, 0, bytes);
    __syncthreads();
}

template <class I>
__global__ void __launch_bounds__(128) probe(operand a, operand b, const std::uint32_t* elements, std::uint32_t count, std::uint32_t* codes, std::uint8_t* live) {
    extern __shared__ char memory[];
    char* sa = memory + ((1024 - (__cvta_generic_to_shared(memory) & 1023)) & 1023);
    char* sb = sa + region;
    for (std::uint32_t i = threadIdx.x; i < region / 4; i += 128) reinterpret_cast<std::uint32_t*>(sa)[i] = 0, reinterpret_cast<std::uint32_t*>(sb)[i] = 0;
    __syncthreads();
    float d[I::registers];
    if (live != nullptr) {
        bool first = true;
        for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
            step<I>(d, sa, sb, a, b, i, -1, first);
            first = false;
            bool any = false;
            for (int r = 0; r < I::registers; ++r) any = any || d[r] != 0;
            const int hit = __syncthreads_or(any);
            if (threadIdx.x == 0) live[i] = hit != 0;
        }
        return;
    }
    for (int t = 0; t < 16; ++t) {
        bool first = true;
        for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
            step<I>(d, sa, sb, a, b, elements[i], t, first);
            first = false;
            for (int r = 0; r < I::registers; ++r)
                if (d[r] != 0) codes[(static_cast<std::size_t>(i) * 128 + threadIdx.x) * I::registers + r] |= 1u << t;
        }
    }
}

std::string text(const operand& o) {
    constexpr int width[] = {0, 32, 64, 128};
    return std::string(o.transposed ? "mn" : "k") + "-major,swizzle" + std::to_string(width[o.swizzle]) + ",leading" + std::to_string(o.leading) + ",stride" + std::to_string(o.stride) + ",start" +
           std::to_string(o.start);
}

std::vector<std::pair<int, int>> last_c;  // C's map does not hang on the operands: it is printed where it changes

template <class I>
void dump_one(std::FILE* out, const operand& a, const operand& b) {
    constexpr std::uint32_t bytes = bytes_of(I::type), parts = 4 / bytes;
    constexpr std::size_t na = I::a_registers != 0 ? 128 * 4 * parts : region / bytes, nb = region / bytes, nc = 128 * I::registers;
    constexpr int shared = 2 * region + 1024;
    EMMY_CHECK(cudaFuncSetAttribute(probe<I>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    std::uint8_t* live_device = nullptr;
    EMMY_CHECK(cudaMalloc(&live_device, na));
    probe<I><<<132, 128, shared>>>(a, b, nullptr, na, nullptr, live_device);
    EMMY_CHECK(cudaGetLastError());
    std::vector<std::uint8_t> live(na);
    EMMY_CHECK(cudaMemcpy(live.data(), live_device, na, cudaMemcpyDeviceToHost));
    EMMY_CHECK(cudaFree(live_device));
    std::vector<std::uint32_t> elements;
    for (std::uint32_t i = 0; i < na; ++i)
        if (live[i] != 0) elements.push_back(i);
    std::uint32_t *elements_device = nullptr, *codes_device = nullptr;
    EMMY_CHECK(cudaMalloc(&elements_device, elements.size() * 4 + 4));
    EMMY_CHECK(cudaMemcpy(elements_device, elements.data(), elements.size() * 4, cudaMemcpyHostToDevice));
    std::vector<std::uint32_t> codes(elements.size() * nc);
    EMMY_CHECK(cudaMalloc(&codes_device, codes.size() * 4 + 4));
    EMMY_CHECK(cudaMemset(codes_device, 0, codes.size() * 4));
    probe<I><<<132, 128, shared>>>(a, b, elements_device, static_cast<std::uint32_t>(elements.size()), codes_device, nullptr);
    EMMY_CHECK(cudaGetLastError());
    EMMY_CHECK(cudaMemcpy(codes.data(), codes_device, codes.size() * 4, cudaMemcpyDeviceToHost));
    EMMY_CHECK(cudaFree(codes_device));
    EMMY_CHECK(cudaFree(elements_device));
    std::vector<triple> all;
    for (std::size_t i = 0; i < elements.size(); ++i)
        for (std::uint32_t c = 0; c < nc; ++c)
            if (const std::uint32_t code = codes[i * nc + c]; code != 0) all.push_back({elements[i], code - 1, c});
    const labels l = label(all, na, nb, nc);
    std::fprintf(out, "map %s%s%s b=%s rows %d columns %d steps %d %s\n", I::name, I::a_registers != 0 ? "" : " a=", I::a_registers != 0 ? "" : text(a).c_str(), text(b).c_str(), l.rows, l.columns,
                 l.steps, l.exact ? "exact" : "not-exact");
    if (l.c != last_c) {
        print(out, "C", l.c, I::registers);
        last_c = l.c;
    }
    print(out, "A", l.a, I::a_registers != 0 ? 4 * parts : 16 / bytes);
    print(out, "B", l.b, 16 / bytes);
    std::fputs("end\n", out);
}

}  // namespace

void dump_wgmma(std::FILE* out) {
    std::fputs("# wgmma. C: lines are threads of the group. A, B in shared memory: lines are 16-byte pieces counted from the start of the operand's memory (1024-aligned);\n"
               "# A in registers: lines are threads. A map without C has the C of the map before it. a=, b=: how the operand lies and its descriptor's fields, bytes.\n",
               out);
    const auto k = [](std::uint32_t swizzle, std::uint32_t leading, std::uint32_t stride, std::uint32_t start = 0) { return operand{false, swizzle, leading, stride, start}; };
    const auto mn = [](std::uint32_t swizzle, std::uint32_t leading, std::uint32_t stride, std::uint32_t start = 0) { return operand{true, swizzle, leading, stride, start}; };
    using n64 = wgmma_m64n64k16_f16<0, 0>;
    dump_one<n64>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<n64>(out, k(3, 4096, 2048), k(3, 512, 3072));  // the leading offset is not read, the stride is
    for (std::uint32_t start : {32u, 64u, 96u}) dump_one<n64>(out, k(3, 16, 1024, start), k(3, 16, 1024, start));
    dump_one<n64>(out, k(2, 16, 512), k(2, 16, 512));
    dump_one<n64>(out, k(2, 16, 512, 32), k(2, 16, 1024, 32));
    dump_one<n64>(out, k(1, 16, 256), k(1, 16, 512));
    dump_one<n64>(out, k(0, 256, 1024), k(0, 512, 2048));
    dump_one<n64>(out, k(0, 2048, 128), k(0, 1024, 128));
    using both = wgmma_m64n64k16_f16<1, 1>;
    dump_one<both>(out, mn(3, 4096, 1024), mn(3, 8192, 2048));
    dump_one<both>(out, mn(2, 4096, 512), mn(2, 2048, 1024));
    dump_one<both>(out, mn(1, 4096, 2048), mn(1, 256, 4096));
    dump_one<both>(out, mn(0, 4096, 256), mn(0, 128, 2048));
    dump_one<wgmma_m64n64k16_f16<0, 1>>(out, k(3, 16, 1024), mn(3, 8192, 1024));
    dump_one<wgmma_m64n64k16_f16<0, 1>>(out, k(3, 16, 1024, 32), mn(3, 8192, 1024, 2048));
    dump_one<wgmma_m64n64k16_bf16<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n64k32_e4m3<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n64k32_e4m3<0, 0>>(out, k(2, 16, 512), k(1, 16, 256));
    dump_one<wgmma_m64n64k8_tf32<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n64k16_f16_registers<0, 0>>(out, {}, k(3, 16, 1024));
    dump_one<wgmma_m64n64k16_f16_registers<0, 1>>(out, {}, mn(3, 8192, 1024));
    dump_one<wgmma_m64n64k32_e4m3_registers<0, 0>>(out, {}, k(3, 16, 1024));
    dump_one<wgmma_m64n64k8_tf32_registers<0, 0>>(out, {}, k(3, 16, 1024));
    dump_one<wgmma_m64n32k16_f16<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n128k16_f16<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n128k16_f16<0, 1>>(out, k(3, 16, 1024), mn(3, 8192, 1024));
    dump_one<wgmma_m64n192k16_f16<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n256k16_f16<0, 0>>(out, k(3, 16, 1024), k(3, 16, 1024));
    dump_one<wgmma_m64n256k16_f16<0, 1>>(out, k(3, 16, 1024), mn(3, 8192, 1024));
}

}  // namespace lane_maps
