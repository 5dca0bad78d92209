#pragma once
#include <emmy/kernel/cuda/prelude.hpp>
#include <emmy/kernel/prelude_cpu.hpp>

// Narrow types travel as raw bits; arithmetic is on float. Rounding is to nearest even; the 8-bit types saturate.
namespace emmy::kernel::cuda::detail {

/// One lane of the processor's conversion of that name: same text, same rounding.
inline std::string one_lane(std::string_view name) {
    for (const auto& f : cpu_prelude)
        if (f.name == name) return std::string(f.scalar);
    return {};
}

inline void add_numbers(std::vector<prelude_function>& to) {
    const auto convert = [&](const char* name, const char* card, const char* signature, const char* argument) {
        to.push_back({name, card, one_lane(name) + "\nDEV " + signature + " { return " + name + "_1(" + argument + "); }"});
    };
    convert("widen_f16", "DEV float widen_f16(u16 h) { float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h)); return f; }", "float widen_f16(u16 h)", "h");
    convert("narrow_f16", "DEV u16 narrow_f16(float f) { u16 h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f)); return h; }", "u16 narrow_f16(float f)", "f");
    convert("widen_bf16", "DEV float widen_bf16(u16 h) { return __uint_as_float((u32)h << 16); }", "float widen_bf16(u16 h)", "h");
    convert("narrow_bf16",
            "DEV u16 narrow_bf16(float f) {\n"
            "    const u32 b = __float_as_uint(f);\n"
            "    return (u16)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);\n"
            "}",
            "u16 narrow_bf16(float f)", "f");
    convert("widen_f8e4m3", "DEV float widen_f8e4m3(u8 h) { u32 w; asm(\"cvt.rn.f16x2.e4m3x2 %0, %1;\" : \"=r\"(w) : \"h\"((u16)h)); return widen_f16((u16)w); }", "float widen_f8e4m3(u8 h)", "h");
    convert("narrow_f8e4m3", "DEV u8 narrow_f8e4m3(float f) { u16 h; asm(\"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(h) : \"f\"(0.0f), \"f\"(f)); return (u8)h; }", "u8 narrow_f8e4m3(float f)", "f");
    convert("widen_f8e5m2", "DEV float widen_f8e5m2(u8 h) { return widen_f16((u16)(h << 8)); }", "float widen_f8e5m2(u8 h)", "h");
    convert("narrow_f8e5m2", "DEV u8 narrow_f8e5m2(float f) { u16 h; asm(\"cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;\" : \"=h\"(h) : \"f\"(0.0f), \"f\"(f)); return (u8)h; }", "u8 narrow_f8e5m2(float f)", "f");
    for (prelude_function& f : to)
        if (f.name == "widen_f8e4m3" || f.name == "widen_f8e5m2") f.needs = {"widen_f16"};

    // Two 16-bit values in a register: the first in the low half.
    const std::string pack = "DEV u32 pack(u16 low, u16 high) { return (u32)low | (u32)high << 16; }";
    to.push_back({"pack", pack, pack});
    to.push_back({"as_bits", "DEV u32 as_bits(float f) { return __float_as_uint(f); }", "DEV u32 as_bits(float f) { return bits_as<u32>(f); }"});
    to.push_back({"as_float", "DEV float as_float(u32 b) { return __uint_as_float(b); }", "DEV float as_float(u32 b) { return bits_as<float>(b); }"});

    // Functions of the C library by their own names; the fast ones are the card's approximations.
    for (const char* name : {"exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "sqrt", "floor", "ceil", "rint", "trunc", "fabs"})
        to.push_back({name, std::string("DEV float ") + name + "(float x) { return ::" + name + "f(x); }", std::string("DEV float ") + name + "(float x) { return __builtin_" + name + "f(x); }"});
    for (const char* name : {"pow", "fmod", "fmax", "fmin"})
        to.push_back({name, std::string("DEV float ") + name + "(float x, float y) { return ::" + name + "f(x, y); }", std::string("DEV float ") + name + "(float x, float y) { return __builtin_" + name + "f(x, y); }"});
    to.push_back({"fma", "DEV float fma(float x, float y, float z) { return ::fmaf(x, y, z); }", "DEV float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }"});
    to.push_back({"rsqrt", "DEV float rsqrt(float x) { return ::rsqrtf(x); }", "DEV float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }"});
    to.push_back({"exp_fast", "DEV float exp_fast(float x) { return ::__expf(x); }", "DEV float exp_fast(float x) { return __builtin_expf(x); }"});
    to.push_back({"exp2_fast", "DEV float exp2_fast(float x) { float y; asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }", "DEV float exp2_fast(float x) { return __builtin_exp2f(x); }"});
    to.push_back({"reciprocal_fast", "DEV float reciprocal_fast(float x) { return ::__frcp_rn(x); }", "DEV float reciprocal_fast(float x) { return 1.0f / x; }"});
    to.push_back({"tanh_fast", "DEV float tanh_fast(float x) { float y; asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }", "DEV float tanh_fast(float x) { return __builtin_tanhf(x); }"});
}

}  // namespace emmy::kernel::cuda::detail
