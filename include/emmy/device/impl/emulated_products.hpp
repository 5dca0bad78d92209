#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/kernel/emulated/calls.hpp>
#include <emmy/kernel/emulated/lane_map.hpp>
#include <emmy/kernel/emulated/matrix_memory.hpp>

#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

/// The arithmetic of matrix instructions: exact products, one rounding of the sum a call. A card rounds inside, so answers are compared within a lane's tolerance.
namespace emmy::device::emulated::detail {

using kernel::emulated::group_operand;
using kernel::emulated::product;

inline float f16_value(std::uint16_t code) {
    static const std::vector<float> table = [] {
        std::vector<float> out(65536);
        for (std::uint32_t i = 0; i < 65536; ++i) out[i] = static_cast<float>(f16_to_f64(static_cast<std::uint16_t>(i)));
        return out;
    }();
    return table[code];
}
inline float f8_value(std::uint8_t code, bool e5m2) { return static_cast<float>(e5m2 ? f8e5m2_to_f64(code) : f8e4m3_to_f64(code)); }
/// A matrix unit reads the upper 19 bits.
inline float tf32_value(std::uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }

/// Part `element` of a lane's registers as a number.
inline float part(const std::uint32_t* registers, int element, product kind) {
    switch (kind) {
    case product::m16n8k8_tf32_f32: return tf32_value(registers[element]);
    case product::m16n8k32_e4m3_f32:
    case product::m16n8k32_e5m2_f32: return f8_value(static_cast<std::uint8_t>(registers[element / 4] >> (8 * (element % 4))), kind == product::m16n8k32_e5m2_f32);
    case product::m16n8k16_bf16_f32: return std::bit_cast<float>((registers[element / 2] >> (16 * (element % 2)) & 0xffffu) << 16);
    default: return f16_value(static_cast<std::uint16_t>(registers[element / 2] >> (16 * (element % 2))));
    }
}

struct product_facts {
    int steps, parts, a_registers, b_registers;
    bool f16_out;
};
constexpr product_facts facts(product kind) {
    switch (kind) {
    case product::m8n8k4_f16_f32: return {4, 2, 2, 2, false};
    case product::m8n8k4_f16_f16: return {4, 2, 2, 2, true};
    case product::m16n8k8_f16_f32: return {8, 2, 2, 1, false};
    case product::m16n8k16_f16_f16: return {16, 2, 4, 2, true};
    case product::m16n8k8_tf32_f32: return {8, 1, 4, 2, false};
    case product::m16n8k32_e4m3_f32:
    case product::m16n8k32_e5m2_f32: return {32, 4, 4, 2, false};
    default: return {16, 2, 4, 2, false};
    }
}

/// Registers of the 32 lanes of a warp.
struct warp_registers {
    void* c[32];
    const std::uint32_t *a[32], *b[32];
};

inline double read_c(const void* c, int element, bool f16) {
    if (!f16) return static_cast<const float*>(c)[element];
    return f16_value(static_cast<std::uint16_t>(static_cast<const std::uint32_t*>(c)[element / 2] >> (16 * (element % 2))));
}
inline void write_c(void* c, int element, bool f16, double value) {
    if (!f16) {
        static_cast<float*>(c)[element] = static_cast<float>(value);
        return;
    }
    std::uint32_t& word = static_cast<std::uint32_t*>(c)[element / 2];
    const int shift = 16 * (element % 2);
    word = (word & ~(0xffffu << shift)) | std::uint32_t{f64_to_f16(value)} << shift;
}

/// m16n8: c += a · b over the lanes of a warp.
inline void multiply_16x8(product kind, const warp_registers& w) {
    const product_facts f = facts(kind);
    const kernel::emulated::mma_16x8 map{f.parts};
    float a[16][32], b[8][32];
    for (int lane = 0; lane < 32; ++lane) {
        for (int e = 0; e < f.a_registers * f.parts; ++e) {
            const auto at = map.a(lane, e);
            a[at.major][at.minor] = part(w.a[lane], e, kind);
        }
        for (int e = 0; e < f.b_registers * f.parts; ++e) {
            const auto at = map.b(lane, e);
            b[at.major][at.minor] = part(w.b[lane], e, kind);
        }
    }
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 4; ++e) {
            const auto at = map.c(lane, e);
            double sum = read_c(w.c[lane], e, f.f16_out);
            for (int k = 0; k < f.steps; ++k) sum += double{a[at.major][k]} * b[at.minor][k];
            write_c(w.c[lane], e, f.f16_out, sum);
        }
}

/// m8n8k4: four products; `layouts` bit 0: A is col, bit 1: B is col.
inline void multiply_8x8x4(product kind, std::uint32_t layouts, const warp_registers& w) {
    const bool f16 = facts(kind).f16_out;
    const kernel::emulated::mma_8x8x4 map{(layouts & 1) != 0, (layouts & 2) != 0};
    float a[4][8][4], b[4][8][4];
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 4; ++e) {
            const auto in_a = map.a(lane, e), in_b = map.b(lane, e);
            a[map.group(lane)][in_a.major][in_a.minor] = part(w.a[lane], e, kind);
            b[map.group(lane)][in_b.major][in_b.minor] = part(w.b[lane], e, kind);
        }
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 8; ++e) {
            const auto at = f16 ? map.c_f16(lane, e) : map.c_f32(lane, e);
            double sum = read_c(w.c[lane], e, f16);
            for (int k = 0; k < 4; ++k) sum += double{a[map.group(lane)][at.major][k]} * b[map.group(lane)][at.minor][k];
            write_c(w.c[lane], e, f16, sum);
        }
}

inline float memory_value(const std::byte* at, group_operand type) {
    std::uint32_t bits = 0;
    const int bytes = type == group_operand::e4m3 || type == group_operand::e5m2 ? 1 : type == group_operand::tf32 ? 4 : 2;
    std::memcpy(&bits, at, static_cast<std::size_t>(bytes));
    switch (type) {
    case group_operand::f16: return f16_value(static_cast<std::uint16_t>(bits));
    case group_operand::bf16: return std::bit_cast<float>(bits << 16);
    case group_operand::tf32: return tf32_value(bits);
    default: return f8_value(static_cast<std::uint8_t>(bits), type == group_operand::e5m2);
    }
}
constexpr product register_kind(group_operand type) {
    switch (type) {
    case group_operand::bf16: return product::m16n8k16_bf16_f32;
    case group_operand::tf32: return product::m16n8k8_tf32_f32;
    case group_operand::e4m3: return product::m16n8k32_e4m3_f32;
    case group_operand::e5m2: return product::m16n8k32_e5m2_f32;
    default: return product::m16n8k16_f16_f32;
    }
}

}  // namespace emmy::device::emulated::detail
