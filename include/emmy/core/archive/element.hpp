#pragma once
#include <emmy/core/dtype.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace emmy::archive {

/// Element types of stored tensors. A superset of emmy::dtype's scalars: i8 has no kernels, yet files hold it.
enum class element : std::uint8_t { none, f64, f32, f16, bf16, f8e4m3, f8e5m2, f4e2m1x2, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

struct element_facts {
    std::string_view token;         ///< as emmy::dtype spells it
    std::uint8_t bytes;             ///< of one stored element (f4e2m1x2: one byte holds two values)
    std::string_view torch_name;    ///< torch.<name>
    std::string_view storage_class; ///< torch.<class> of typed storages; empty: PyTorch keeps these in untyped ones
};

constexpr std::array<element_facts, 17> element_table{{{"", 0, "", ""}, {"f64", 8, "float64", "DoubleStorage"}, {"f32", 4, "float32", "FloatStorage"}, {"f16", 2, "float16", "HalfStorage"},
    {"bf16", 2, "bfloat16", "BFloat16Storage"}, {"f8e4m3", 1, "float8_e4m3fn", ""}, {"f8e5m2", 1, "float8_e5m2", ""}, {"f4e2m1x2", 1, "float4_e2m1fn_x2", ""}, {"i64", 8, "int64", "LongStorage"},
    {"i32", 4, "int32", "IntStorage"}, {"i16", 2, "int16", "ShortStorage"}, {"i8", 1, "int8", "CharStorage"}, {"u64", 8, "uint64", ""}, {"u32", 4, "uint32", ""}, {"u16", 2, "uint16", ""},
    {"u8", 1, "uint8", "ByteStorage"}, {"bool", 1, "bool", "BoolStorage"}}};

constexpr const element_facts& facts(element e) { return element_table[static_cast<std::size_t>(e)]; }
constexpr std::string_view token(element e) { return facts(e).token; }
constexpr std::size_t byte_size(element e) { return facts(e).bytes; }

constexpr element element_from_torch_name(std::string_view name) {
    for (std::size_t i = 1; i < element_table.size(); ++i)
        if (element_table[i].torch_name == name) return static_cast<element>(i);
    return element::none;
}
constexpr element element_from_storage_class(std::string_view name) {
    for (std::size_t i = 1; i < element_table.size(); ++i)
        if (!name.empty() && element_table[i].storage_class == name) return static_cast<element>(i);
    return element::none;
}
constexpr element element_from_token(std::string_view text) {
    for (std::size_t i = 1; i < element_table.size(); ++i)
        if (element_table[i].token == text) return static_cast<element>(i);
    return element::none;
}
/// none where the other side has no such type (i8; f16x2).
constexpr element element_of(dtype t) { return t == dtype::none ? element::none : element_from_token(token(t)); }
constexpr dtype dtype_of(element e) { return e == element::none ? dtype::none : dtype_from_token(token(e)); }

}  // namespace emmy::archive
