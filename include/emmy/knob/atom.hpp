#pragma once
#include <emmy/core/capability.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/knob/refusal.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace emmy::knob {

/// One matrix-unit instruction as the unit of a warp tile. Source: PTX ISA, warp level matrix instructions (mma, wgmma).
struct atom_facts {
    std::string_view name;   ///< as spelled in TILE
    std::uint16_t m, n, k;   ///< logical cell one warp owns
    dtype operand, result;   ///< of A and B, of the accumulator
    capability from, below;  ///< offered for from <= cc < below
    std::uint8_t registers;  ///< of C, per lane
    std::uint16_t wgmma_n;   ///< N of the whole instruction (4 warps x N/8 cells); 0 = no wgmma
};

namespace detail {
inline constexpr capability any_later{65535, 0};
}

/// In offer order: f32 accumulators before the 16-bit variant of the same shape.
inline constexpr std::array<atom_facts, 14> atom_table{{
    {"mma_m8n8k4_f16_f32", 16, 16, 4, dtype::f16, dtype::f32, {7, 0}, {8, 0}, 8, 0},
    {"mma_m8n8k4_f16_f16", 16, 16, 4, dtype::f16, dtype::f16, {7, 0}, {8, 0}, 4, 0},
    {"mma_m16n8k16_f16_f32", 16, 8, 16, dtype::f16, dtype::f32, {8, 0}, detail::any_later, 4, 0},
    {"mma_m16n8k16_bf16_f32", 16, 8, 16, dtype::bf16, dtype::f32, {8, 0}, detail::any_later, 4, 0},
    {"mma_m16n8k16_f16_f16", 16, 8, 16, dtype::f16, dtype::f16, {8, 0}, detail::any_later, 2, 0},
    {"wgmma_m64n64k16_f16_f32", 16, 8, 16, dtype::f16, dtype::f32, {9, 0}, {10, 0}, 4, 64},
    {"wgmma_m64n128k16_f16_f32", 16, 8, 16, dtype::f16, dtype::f32, {9, 0}, {10, 0}, 4, 128},
    {"wgmma_m64n256k16_f16_f32", 16, 8, 16, dtype::f16, dtype::f32, {9, 0}, {10, 0}, 4, 256},
    {"wgmma_m64n64k16_bf16_f32", 16, 8, 16, dtype::bf16, dtype::f32, {9, 0}, {10, 0}, 4, 64},
    {"wgmma_m64n128k16_bf16_f32", 16, 8, 16, dtype::bf16, dtype::f32, {9, 0}, {10, 0}, 4, 128},
    {"wgmma_m64n256k16_bf16_f32", 16, 8, 16, dtype::bf16, dtype::f32, {9, 0}, {10, 0}, 4, 256},
    {"mma_m16n8k32_e4m3_f32", 16, 8, 32, dtype::f8e4m3, dtype::f32, {8, 9}, detail::any_later, 4, 0},
    {"mma_m16n8k32_e5m2_f32", 16, 8, 32, dtype::f8e5m2, dtype::f32, {8, 9}, detail::any_later, 4, 0},
    {"mma_m16n8k64_e2m1_f32", 16, 8, 64, dtype::f4e2m1x2, dtype::f32, {12, 0}, {13, 0}, 4, 0},
}};

/// Index into atom_table; `scalar` = no matrix unit, cell 1x1x1. By name: "mma_m16n8k16_f16_f32"_atom, or parse_atom at run time.
enum class atom : std::uint8_t { scalar = 255 };

namespace detail {
inline constexpr atom_facts scalar_facts{"scalar", 1, 1, 1, dtype::none, dtype::none, {0, 0}, any_later, 1, 0};
}
/// Of `scalar` (and of no atom at all): one element, no types.
constexpr const atom_facts& facts(atom a) {
    const auto i = static_cast<std::size_t>(a);
    return i < atom_table.size() ? atom_table[i] : detail::scalar_facts;
}
constexpr std::string_view name_of(atom a) { return facts(a).name; }

/// The matrix atom of this name; `scalar` is none.
constexpr parsed<atom> parse_atom(std::string_view name) {
    for (std::size_t i = 0; i < atom_table.size(); ++i)
        if (atom_table[i].name == name) return static_cast<atom>(i);
    return refusal{"atom", name, "an atom (mma_..., wgmma_...)", 0};
}
constexpr bool offers(capability cc, atom a) { return facts(a).from <= cc && cc < facts(a).below; }

}  // namespace emmy::knob
