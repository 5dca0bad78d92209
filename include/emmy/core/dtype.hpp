#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace emmy {

/// Element types of buffers and values. `none` = not stated (inferred).
enum class dtype : std::uint8_t { none, f64, f32, f16, bf16, f8e4m3, f8e5m2, f4e2m1x2, f16x2, i64, i32, i16, u64, u32, u16, u8, boolean };

struct dtype_facts {
    std::string_view token;  ///< canonical spelling on the wire
    std::uint8_t bits;       ///< of one stored element (f4e2m1x2: one byte holds two values)
    bool integer, is_signed;
};

constexpr std::array<dtype_facts, 17> dtype_table{{{"", 0, false, false}, {"f64", 64, false, true}, {"f32", 32, false, true}, {"f16", 16, false, true},
    {"bf16", 16, false, true}, {"f8e4m3", 8, false, true}, {"f8e5m2", 8, false, true}, {"f4e2m1x2", 8, false, true}, {"f16x2", 32, false, true},
    {"i64", 64, true, true}, {"i32", 32, true, true}, {"i16", 16, true, true}, {"u64", 64, true, false}, {"u32", 32, true, false},
    {"u16", 16, true, false}, {"u8", 8, true, false}, {"bool", 8, true, false}}};

constexpr const dtype_facts& facts(dtype t) { return dtype_table[static_cast<std::size_t>(t)]; }
constexpr std::string_view token(dtype t) { return facts(t).token; }
constexpr std::size_t byte_size(dtype t) { return facts(t).bits / 8u; }
constexpr bool is_integer(dtype t) { return facts(t).integer; }
constexpr bool is_floating(dtype t) { return t != dtype::none && !facts(t).integer; }

/// Canonical token to dtype; `none` when it is no token.
constexpr dtype dtype_from_token(std::string_view text) {
    for (std::size_t i = 1; i < dtype_table.size(); ++i)
        if (dtype_table[i].token == text) return static_cast<dtype>(i);
    return dtype::none;
}

/// Also the spellings of frameworks (float32, half, long, float8_e4m3fn, …); `none` when unknown.
constexpr dtype dtype_from_alias(std::string_view text) {
    if (const dtype t = dtype_from_token(text); t != dtype::none) return t;
    constexpr std::pair<std::string_view, dtype> aliases[] = {{"float32", dtype::f32}, {"float", dtype::f32}, {"float16", dtype::f16}, {"half", dtype::f16},
        {"float64", dtype::f64}, {"double", dtype::f64}, {"bfloat16", dtype::bf16}, {"float8_e4m3fn", dtype::f8e4m3}, {"float8_e5m2", dtype::f8e5m2},
        {"float4_e2m1fn_x2", dtype::f4e2m1x2}, {"int16", dtype::i16}, {"int32", dtype::i32}, {"int", dtype::i32}, {"int64", dtype::i64}, {"long", dtype::i64},
        {"uint8", dtype::u8}, {"uint16", dtype::u16}, {"uint32", dtype::u32}, {"uint64", dtype::u64}};
    for (const auto& [name, t] : aliases)
        if (name == text) return t;
    return dtype::none;
}

}  // namespace emmy
