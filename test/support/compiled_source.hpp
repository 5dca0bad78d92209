#pragma once
// A small source of a golden header, written by hand; every piece that a test may want wrong is a macro.
#include <emmy/golden/compiled.hpp>

#include <array>

#ifndef SOURCE_KEY
#define SOURCE_KEY "TILE@map.1/inner"
#endif
#ifndef SOURCE_WORK
#define SOURCE_WORK "t16x8"
#endif
#ifndef SOURCE_TILE
#define SOURCE_TILE "f4x4"
#endif
#ifndef SOURCE_REDUCE
#define SOURCE_REDUCE "coop"
#endif
#ifndef SOURCE_REGIME
#define SOURCE_REGIME "FAST_MATH=true"
#endif
#ifndef SOURCE_WARPS
#define SOURCE_WARPS 1  // place of w4x1
#endif
#ifndef SOURCE_LAST_KEY
#define SOURCE_LAST_KEY 4
#endif
#ifndef SOURCE_KERNEL
#define SOURCE_KERNEL 1
#endif
#ifndef SOURCE_US
#define SOURCE_US 12.5
#endif
#ifndef SOURCE_TEXT
#define SOURCE_TEXT "canonical bytes of the first"
#endif
#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST "51ef8168d0e55d609b99893b27b4a85f"
#endif
#ifndef SOURCE_CHOICE
#define SOURCE_CHOICE "PLACE@map.1/inner"
#endif
#ifndef SOURCE_GENERATION
#define SOURCE_GENERATION 9
#endif
#ifndef SOURCE_VERSION
#define SOURCE_VERSION emmy::loop::identity_version
#endif

namespace emmy::test::compiled_data {

using namespace emmy::literals;
namespace compiled = golden::compiled;

inline constexpr std::array<std::string_view, 6> keys{{"RASTER", "REDUCE", "STAGE", "TILE", "WORK", SOURCE_KEY}};
inline constexpr std::array<std::string_view, 4> work{{SOURCE_WORK, "w4x1", "w8x1", "t32"}};
inline constexpr std::array<std::string_view, 2> raster{{"", "gm8"}};
inline constexpr std::array<std::string_view, 0> loopify{};
inline constexpr std::array<std::string_view, 0> shared_carry{};
inline constexpr std::array<std::string_view, 3> tile{{SOURCE_TILE, "mma_m16n8k16_f16_f32/f1x8/k2", ""}};
inline constexpr std::array<std::string_view, 2> reduce{{"", SOURCE_REDUCE}};
inline constexpr std::array<std::string_view, 3> stage{{"", "d2/smem-tma", "d2/smem-async"}};
inline constexpr std::array<std::string_view, 2> regimes{{"FAST_MATH=false", SOURCE_REGIME}};
inline constexpr std::array<compiled::size_of_symbol, 1> sizes{{{"seq_len", 512}}};
inline constexpr std::array<compiled::knob_at, 19> knobs{{
    {0, 0}, {1, 0}, {2, 2}, {3, 0}, {4, 0},                            // t16x8 f4x4 d2/smem-async
    {0, 1}, {1, 0}, {2, 1}, {3, 1}, {SOURCE_LAST_KEY, SOURCE_WARPS},   // w4x1 mma d2/smem-tma gm8
    {0, 0}, {1, 1}, {4, 3},                                            // t32 coop
    {0, 0}, {1, 0}, {2, 0}, {3, 2}, {5, 1}, {4, 1},                    // a routed tile
}};
inline constexpr std::array<compiled::row_data, 4> rows_0{{
    {"scalar", 0, 0, 5, 0, 0, 0, 20.25, 0xa93222eaff2b5635u},
    {"warps", SOURCE_KERNEL, 5, 5, 0, 1, 0, SOURCE_US, 0x1b3dbd2e5260caccu},
    {"coop", 1, 10, 3, 0, 1, 1, 9, 0x9c210264b75a94d3u},
    {"routed", 0, 13, 6, 0, 0, 0, 0, 0x9da47544aceaf736u},
}};
inline constexpr std::array<std::span<const compiled::row_data>, 1> tables{{rows_0}};
inline constexpr std::array<compiled::kernel_data, 2> kernels{{
    {"k_first", SOURCE_DIGEST ""_id, SOURCE_TEXT},
    {"k_second", "badb4c6578d4b8b8a8b66aacb1f66d38"_id, {"canonical\000bytes of the second", 30}},
}};
inline constexpr std::array<compiled::choice, 1> choices{{{SOURCE_CHOICE, "cut"}}};
inline constexpr std::array<std::uint32_t, 1> arms{{0}};
inline constexpr std::array<std::uint32_t, 2> children{{1, 1}};
inline constexpr std::array<compiled::route_data, 1> routes{{{0, 0, 1, 0, 2}}};
inline constexpr compiled::source source{"small.json", "NVIDIA H100 80GB", {SOURCE_GENERATION, 0}, SOURCE_VERSION, keys, work, raster, loopify, shared_carry, tile, reduce, stage, regimes, knobs, sizes,
                                         tables, kernels, choices, arms, children, routes};

}  // namespace emmy::test::compiled_data

namespace emmy::test {
inline constexpr const golden::compiled::table& small_table = golden::compiled::table_of<compiled_data::source>;
}
