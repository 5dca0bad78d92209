#pragma once
#include <emmy/loop/op.hpp>

#include <string_view>

/// Named functions that kernel text may call, each printed for the lane counts it is used with.
namespace emmy::kernel {

struct prelude_function {
    std::string_view name;    ///< called as name_<lanes>(…)
    std::string_view vector;  ///< text; $ = lanes, ~d = lane numbers rotated by lanes / 2^d. Types: f32x$ i32x$ u32x$ u16x$ s16x$
    std::string_view scalar;  ///< text for one lane where it differs; empty = the same
};

/// Floating functions work on f32; conversions are exact or round to nearest even. Errors against the real function: exp 1 ulp,
/// functions built on it (sigmoid, silu, tanh, gelu_tanh) 3 ulp or 2e-7 absolute; the others call the C library lane by lane.
constexpr prelude_function cpu_prelude[] = {
    {"splat", "SI f32x$ splat_$(float x) { return (f32x$){} + x; }", "SI f32x1 splat_1(float x) { return x; }"},
    {"isplat", "SI i32x$ isplat_$(int x) { return (i32x$){} + x; }", ""},
    {"lane", "static const i32x$ lane_$ = {~0};", ""},
    {"load_f32", "SI f32x$ load_f32_$(const float* p) { return *(const f32x$u*)p; }", "SI f32x1 load_f32_1(const float* p) { return *p; }"},
    {"store_f32", "SI void store_f32_$(float* p, f32x$ v) { *(f32x$u*)p = v; }", "SI void store_f32_1(float* p, f32x1 v) { *p = v; }"},
    {"stream_f32",
     "SI void stream_f32_$(float* p, f32x$ v) {\n"
     "#if defined(__clang__)\n"
     "    __builtin_nontemporal_store(v, (f32x$*)p);\n"
     "#elif defined(__SSE__) && $ == 4\n"
     "    __builtin_ia32_movntps(p, v);\n"
     "#elif defined(__AVX__) && $ == 8\n"
     "    __builtin_ia32_movntps256(p, v);\n"
     "#elif defined(__AVX512F__) && $ == 16\n"
     "    __builtin_ia32_movntps512(p, v);\n"
     "#else\n"
     "    *(f32x$u*)p = v;\n"
     "#endif\n"
     "}",
     "SI void stream_f32_1(float* p, f32x1 v) { *p = v; }"},
    {"widen_f16",
     "SI f32x$ widen_f16_$(u16x$ h) {\n"
     "#if defined(__AVX512F__) && $ == 16\n"
     "    return __builtin_ia32_vcvtph2ps512_mask((s16x16)h, f32x16{}, -1, 4);\n"
     "#endif\n"
     "#if defined(__F16C__) && $ == 8\n"
     "    return __builtin_ia32_vcvtph2ps256((s16x8)h);\n"
     "#endif\n"
     "    const u32x$ w = __builtin_convertvector(h, u32x$);\n"
     "    const u32x$ m = (w & 0x7fffu) << 13;\n"
     "    u32x$ r = (u32x$)((f32x$)m * 0x1p112f);\n"
     "    r = m >= 0x0f800000u ? r | 0x7f800000u : r;\n"
     "    return (f32x$)(r | (w & 0x8000u) << 16);\n"
     "}",
     "SI f32x1 widen_f16_1(u16x1 h) {\n"
     "    const unsigned m = (h & 0x7fffu) << 13;\n"
     "    unsigned r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, m) * 0x1p112f);\n"
     "    if (m >= 0x0f800000u) r |= 0x7f800000u;\n"
     "    return __builtin_bit_cast(float, r | (h & 0x8000u) << 16);\n"
     "}"},
    {"narrow_f16",
     "SI u16x$ narrow_f16_$(f32x$ v) {\n"
     "#if defined(__AVX512F__) && $ == 16\n"
     "    return (u16x$)__builtin_ia32_vcvtps2ph512_mask(v, 0, s16x16{}, -1);\n"
     "#endif\n"
     "#if defined(__F16C__) && $ == 8\n"
     "    return (u16x$)__builtin_ia32_vcvtps2ph256(v, 0);\n"
     "#endif\n"
     "    const u32x$ b = (u32x$)v, x = b & 0x7fffffffu;\n"
     "    const u32x$ small = (u32x$)((f32x$)x + 0.5f) - 0x3f000000u;\n"
     "    const u32x$ normal = (x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13;\n"
     "    u32x$ r = x < 0x38800000u ? small : normal;\n"
     "    r = x >= 0x477ff000u ? (u32x$){} + 0x7c00u : r;\n"
     "    r = x > 0x7f800000u ? (u32x$){} + 0x7e00u : r;\n"
     "    return __builtin_convertvector(r | (b >> 16 & 0x8000u), u16x$);\n"
     "}",
     "SI u16x1 narrow_f16_1(f32x1 v) {\n"
     "    const unsigned b = __builtin_bit_cast(unsigned, v), x = b & 0x7fffffffu;\n"
     "    unsigned r = (x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13;\n"
     "    if (x < 0x38800000u) r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, x) + 0.5f) - 0x3f000000u;\n"
     "    if (x >= 0x477ff000u) r = 0x7c00u;\n"
     "    if (x > 0x7f800000u) r = 0x7e00u;\n"
     "    return (u16x1)(r | (b >> 16 & 0x8000u));\n"
     "}"},
    {"widen_bf16", "SI f32x$ widen_bf16_$(u16x$ h) { return (f32x$)(__builtin_convertvector(h, u32x$) << 16); }",
     "SI f32x1 widen_bf16_1(u16x1 h) { return __builtin_bit_cast(float, (unsigned)h << 16); }"},
    {"narrow_bf16",
     "SI u16x$ narrow_bf16_$(f32x$ v) {\n"
     "    const u32x$ b = (u32x$)v;\n"
     "    u32x$ r = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;\n"
     "    r = (b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : r;\n"
     "    return __builtin_convertvector(r, u16x$);\n"
     "}",
     "SI u16x1 narrow_bf16_1(f32x1 v) {\n"
     "    const unsigned b = __builtin_bit_cast(unsigned, v);\n"
     "    return (u16x1)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);\n"
     "}"},
    {"load_f16", "SI f32x$ load_f16_$(const unsigned short* p) { return widen_f16_$(*(const u16x$u*)p); }", "SI f32x1 load_f16_1(const unsigned short* p) { return widen_f16_1(*p); }"},
    {"load_bf16", "SI f32x$ load_bf16_$(const unsigned short* p) { return widen_bf16_$(*(const u16x$u*)p); }", "SI f32x1 load_bf16_1(const unsigned short* p) { return widen_bf16_1(*p); }"},
    {"store_f16", "SI void store_f16_$(unsigned short* p, f32x$ v) { *(u16x$u*)p = narrow_f16_$(v); }", "SI void store_f16_1(unsigned short* p, f32x1 v) { *p = narrow_f16_1(v); }"},
    {"store_bf16", "SI void store_bf16_$(unsigned short* p, f32x$ v) { *(u16x$u*)p = narrow_bf16_$(v); }", "SI void store_bf16_1(unsigned short* p, f32x1 v) { *p = narrow_bf16_1(v); }"},
    {"round_f16", "SI f32x$ round_f16_$(f32x$ v) { return widen_f16_$(narrow_f16_$(v)); }", ""},
    {"round_bf16", "SI f32x$ round_bf16_$(f32x$ v) { return widen_bf16_$(narrow_bf16_$(v)); }", ""},
    {"widen_f8e4m3",
     "SI f32x$ widen_f8e4m3_$(u8x$ h) {\n"
     "    const u32x$ w = __builtin_convertvector(h, u32x$), m = w & 0x7fu;\n"
     "    u32x$ r = (u32x$)((f32x$)(m << 20) * 0x1p120f);\n"
     "    r = m == 0x7fu ? (u32x$){} + 0x7fc00000u : r;\n"
     "    return (f32x$)(r | (w & 0x80u) << 24);\n"
     "}",
     "SI f32x1 widen_f8e4m3_1(u8x1 h) {\n"
     "    const unsigned m = h & 0x7fu;\n"
     "    const unsigned r = m == 0x7fu ? 0x7fc00000u : __builtin_bit_cast(unsigned, __builtin_bit_cast(float, m << 20) * 0x1p120f);\n"
     "    return __builtin_bit_cast(float, r | (h & 0x80u) << 24);\n"
     "}"},
    // Finite values saturate; NaN is 0x7f without its sign.
    {"narrow_f8e4m3",
     "SI u8x$ narrow_f8e4m3_$(f32x$ v) {\n"
     "    const u32x$ b = (u32x$)v, x = b & 0x7fffffffu;\n"
     "    const u32x$ small = (u32x$)((f32x$)x + 16384.0f) - 0x46800000u;\n"
     "    const u32x$ normal = (x - 0x3c000000u + 0x7ffffu + (x >> 20 & 1u)) >> 20;\n"
     "    u32x$ r = x < 0x3c800000u ? small : normal;\n"
     "    r = (r > 0x7eu ? (u32x$){} + 0x7eu : r) | (b >> 24 & 0x80u);\n"
     "    r = x > 0x7f800000u ? (u32x$){} + 0x7fu : r;\n"
     "    return __builtin_convertvector(r, u8x$);\n"
     "}",
     "SI u8x1 narrow_f8e4m3_1(f32x1 v) {\n"
     "    const unsigned b = __builtin_bit_cast(unsigned, v), x = b & 0x7fffffffu;\n"
     "    if (x > 0x7f800000u) return 0x7f;\n"
     "    unsigned r = (x - 0x3c000000u + 0x7ffffu + (x >> 20 & 1u)) >> 20;\n"
     "    if (x < 0x3c800000u) r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, x) + 16384.0f) - 0x46800000u;\n"
     "    return (u8x1)((r > 0x7eu ? 0x7eu : r) | (b >> 24 & 0x80u));\n"
     "}"},
    {"widen_f8e5m2",
     "SI f32x$ widen_f8e5m2_$(u8x$ h) {\n"
     "    const u32x$ w = __builtin_convertvector(h, u32x$), m = (w & 0x7fu) << 21;\n"
     "    u32x$ r = (u32x$)((f32x$)m * 0x1p112f);\n"
     "    r = m >= 0x0f800000u ? r | 0x7f800000u : r;\n"
     "    return (f32x$)(r | (w & 0x80u) << 24);\n"
     "}",
     "SI f32x1 widen_f8e5m2_1(u8x1 h) {\n"
     "    const unsigned m = (h & 0x7fu) << 21;\n"
     "    unsigned r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, m) * 0x1p112f);\n"
     "    if (m >= 0x0f800000u) r |= 0x7f800000u;\n"
     "    return __builtin_bit_cast(float, r | (h & 0x80u) << 24);\n"
     "}"},
    {"narrow_f8e5m2",
     "SI u8x$ narrow_f8e5m2_$(f32x$ v) {\n"
     "    const u32x$ b = (u32x$)v, x = b & 0x7fffffffu;\n"
     "    const u32x$ small = (u32x$)((f32x$)x + 128.0f) - 0x43000000u;\n"
     "    const u32x$ normal = (x - 0x38000000u + 0xfffffu + (x >> 21 & 1u)) >> 21;\n"
     "    u32x$ r = x < 0x38800000u ? small : normal;\n"
     "    r = (r > 0x7bu ? (u32x$){} + 0x7bu : r) | (b >> 24 & 0x80u);\n"
     "    r = x > 0x7f800000u ? (u32x$){} + 0x7fu : r;\n"
     "    return __builtin_convertvector(r, u8x$);\n"
     "}",
     "SI u8x1 narrow_f8e5m2_1(f32x1 v) {\n"
     "    const unsigned b = __builtin_bit_cast(unsigned, v), x = b & 0x7fffffffu;\n"
     "    if (x > 0x7f800000u) return 0x7f;\n"
     "    unsigned r = (x - 0x38000000u + 0xfffffu + (x >> 21 & 1u)) >> 21;\n"
     "    if (x < 0x38800000u) r = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, x) + 128.0f) - 0x43000000u;\n"
     "    return (u8x1)((r > 0x7bu ? 0x7bu : r) | (b >> 24 & 0x80u));\n"
     "}"},
    {"load_f8e4m3", "SI f32x$ load_f8e4m3_$(const unsigned char* p) { return widen_f8e4m3_$(*(const u8x$u*)p); }", "SI f32x1 load_f8e4m3_1(const unsigned char* p) { return widen_f8e4m3_1(*p); }"},
    {"store_f8e4m3", "SI void store_f8e4m3_$(unsigned char* p, f32x$ v) { *(u8x$u*)p = narrow_f8e4m3_$(v); }", "SI void store_f8e4m3_1(unsigned char* p, f32x1 v) { *p = narrow_f8e4m3_1(v); }"},
    {"round_f8e4m3", "SI f32x$ round_f8e4m3_$(f32x$ v) { return widen_f8e4m3_$(narrow_f8e4m3_$(v)); }", ""},
    {"load_f8e5m2", "SI f32x$ load_f8e5m2_$(const unsigned char* p) { return widen_f8e5m2_$(*(const u8x$u*)p); }", "SI f32x1 load_f8e5m2_1(const unsigned char* p) { return widen_f8e5m2_1(*p); }"},
    {"store_f8e5m2", "SI void store_f8e5m2_$(unsigned char* p, f32x$ v) { *(u8x$u*)p = narrow_f8e5m2_$(v); }", "SI void store_f8e5m2_1(unsigned char* p, f32x1 v) { *p = narrow_f8e5m2_1(v); }"},
    {"round_f8e5m2", "SI f32x$ round_f8e5m2_$(f32x$ v) { return widen_f8e5m2_$(narrow_f8e5m2_$(v)); }", ""},
    // Codes of e2m1: the sign in bit 3.
    {"decode_f4e2m1", "", "SI float decode_f4e2m1_1(long long c) { static const float t[16] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f}; return t[c & 15]; }"},
    {"encode_f4e2m1", "",
     "SI long long encode_f4e2m1_1(double x) {\n"
     "    if (x != x) return 7;\n"
     "    const double m = __builtin_fabs(x);\n"
     "    return (m > 0.25) + (m >= 0.75) + (m > 1.25) + (m >= 1.75) + (m > 2.5) + (m >= 3.5) + (m > 5.0) + (__builtin_signbit(x) ? 8 : 0);\n"
     "}"},
    // Reals to integers: truncated, saturated, NaN is 0.
    {"to_i64", "", "SI long long to_i64_1(double x) { return x != x ? 0 : x >= 0x1p63 ? 0x7fffffffffffffffll : x <= -0x1p63 ? -0x7fffffffffffffffll - 1 : (long long)x; }"},
    {"to_u64", "", "SI long long to_u64_1(double x) { return !(x > 0) ? 0 : x >= 0x1p64 ? -1 : (long long)(unsigned long long)x; }"},
    {"to_range", "", "SI long long to_range_1(double x, long long low, long long high) { return x != x ? 0 : x >= (double)high ? high : x <= (double)low ? low : (long long)x; }"},
    // Integers as index expressions and the wire mean them: quotients go down, nothing is undefined.
    {"floor_div", "", "SI long long floor_div_1(long long a, long long b) { if (b == 0) return 0; if (b == -1) return (long long)(0ull - (unsigned long long)a); const long long q = a / b; return q - (a % b != 0 && (a < 0) != (b < 0)); }"},
    {"floor_mod", "", "SI long long floor_mod_1(long long a, long long b) { if (b == 0 || b == -1) return 0; const long long r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }"},
    {"shift_left", "", "SI long long shift_left_1(long long a, long long b) { return (unsigned long long)b > 63 ? 0 : (long long)((unsigned long long)a << b); }"},
    {"shift_right", "", "SI long long shift_right_1(long long a, long long b) { return a >> ((unsigned long long)b > 63 ? 63 : b); }"},
    {"shift_right_u64", "", "SI long long shift_right_u64_1(long long a, long long b) { return (unsigned long long)b > 63 ? 0 : (long long)((unsigned long long)a >> b); }"},
    {"gcd", "", "SI long long gcd_1(long long x, long long y) { long long a = (int)x, b = (int)y; a = a < 0 ? -a : a, b = b < 0 ? -b : b; while (b != 0) { const long long r = a % b; a = b, b = r; } return a; }"},
    {"lcm", "", "SI long long lcm_1(long long x, long long y) { const long long g = gcd_1(x, y); const long long p = (long long)(int)x / (g == 0 ? 1 : g) * (long long)(int)y; return p < 0 ? -p : p; }"},
    {"max", "SI f32x$ max_$(f32x$ a, f32x$ b) { const f32x$ m = b == b ? b : a; return a > m ? a : m; }", ""},
    {"min", "SI f32x$ min_$(f32x$ a, f32x$ b) { const f32x$ m = b == b ? b : a; return a < m ? a : m; }", ""},
    {"fold_max", "SI f32x$ fold_max_$(f32x$ state, f32x$ v) { return v > state ? v : state; }", ""},
    {"fold_min", "SI f32x$ fold_min_$(f32x$ state, f32x$ v) { return v < state ? v : state; }", ""},
    {"relu", "SI f32x$ relu_$(f32x$ x) { const f32x$ z = {}; return x > z ? x : z; }", ""},
    {"abs", "SI f32x$ abs_$(f32x$ x) { return (f32x$)((u32x$)x & 0x7fffffffu); }", "SI f32x1 abs_1(f32x1 x) { return __builtin_fabsf(x); }"},
    {"where", "SI f32x$ where_$(f32x$ c, f32x$ a, f32x$ b) { return c != 0.0f ? a : b; }", ""},
    {"sqrt",
     "SI f32x$ sqrt_$(f32x$ x) {\n"
     "#if defined(__AVX512F__) && !defined(__clang__) && $ == 16\n"
     "    return __builtin_ia32_sqrtps512_mask(x, f32x16{}, -1, 4);\n"
     "#endif\n"
     "    f32x$ r = x;\n"
     "    for (int i = 0; i < $; ++i) r[i] = __builtin_sqrtf(x[i]);\n"
     "    return r;\n"
     "}",
     "SI f32x1 sqrt_1(f32x1 x) { return __builtin_sqrtf(x); }"},
    // NaN stays NaN in both.
    {"at_least",
     "SI f32x$ at_least_$(f32x$ x, f32x$ low) {\n"
     "#if defined(__AVX512F__) && defined(__clang__) && $ == 16\n"
     "    return __builtin_ia32_maxps512(low, x, 4);\n"
     "#elif defined(__AVX512F__) && $ == 16\n"
     "    return __builtin_ia32_maxps512_mask(low, x, f32x16{}, -1, 4);\n"
     "#elif defined(__AVX__) && $ == 8\n"
     "    return __builtin_ia32_maxps256(low, x);\n"
     "#else\n"
     "    return low > x ? low : x;\n"
     "#endif\n"
     "}", ""},
    {"at_most",
     "SI f32x$ at_most_$(f32x$ x, f32x$ high) {\n"
     "#if defined(__AVX512F__) && defined(__clang__) && $ == 16\n"
     "    return __builtin_ia32_minps512(high, x, 4);\n"
     "#elif defined(__AVX512F__) && $ == 16\n"
     "    return __builtin_ia32_minps512_mask(high, x, f32x16{}, -1, 4);\n"
     "#elif defined(__AVX__) && $ == 8\n"
     "    return __builtin_ia32_minps256(high, x);\n"
     "#else\n"
     "    return high < x ? high : x;\n"
     "#endif\n"
     "}", ""},
    {"exp",
     "SI f32x$ exp_$(f32x$ x) {\n"
     "    const f32x$ y = at_most_$(at_least_$(x, splat_$(-104.0f)), splat_$(89.0f));\n"
     "    const f32x$ t = y * 1.44269504088896341f + 12582912.0f, n = t - 12582912.0f;\n"
     "    f32x$ r = y - n * 0.693359375f;\n"
     "    r = n * 2.12194440e-4f + r;\n"
     "    f32x$ p = r * 0.00138145685f + 0.00836873148f;\n"
     "    p = p * r + 0.041668389f;\n"
     "    p = p * r + 0.166665211f;\n"
     "    p = p * r + 0.49999994f;\n"
     "    p = p * r + 1.0f;\n"
     "    p = p * r + 1.0f;\n"
     "#if defined(__AVX512F__) && $ == 16\n"
     "    return __builtin_ia32_scalefps512_mask(p, n, f32x16{}, -1, 4);\n"
     "#else\n"
     "    const i32x$ e = (i32x$)t - 0x4b400000, h = e >> 1;\n"
     "    return p * (f32x$)((h + 127) << 23) * (f32x$)((e - h + 127) << 23);\n"
     "#endif\n"
     "}",
     "SI f32x1 exp_1(f32x1 x) { return __builtin_expf(x); }"},
    {"sigmoid", "SI f32x$ sigmoid_$(f32x$ x) { return 1.0f / (exp_$(-x) + 1.0f); }", ""},
    {"silu", "SI f32x$ silu_$(f32x$ x) { return x / (exp_$(-x) + 1.0f); }", ""},
    {"tanh",
     "SI f32x$ tanh_$(f32x$ x) {\n"
     "    const f32x$ a = abs_$(x), e = exp_$(a * -2.0f), q = x * x;\n"
     "    f32x$ s = q * -0.0218694885360f + 0.0539682539683f;\n"
     "    s = (s * q - 0.133333333333f) * -q;\n"
     "    s = x + x * (s - q * 0.333333333333f);\n"
     "    const f32x$ r = (1.0f - e) / (1.0f + e);\n"
     "    return a < 0.2f ? s : x < 0.0f ? -r : x == x ? r : x;\n"
     "}",
     "SI f32x1 tanh_1(f32x1 x) { return __builtin_tanhf(x); }"},
    {"gelu_tanh", "SI f32x$ gelu_tanh_$(f32x$ x) { return x * 0.5f * (tanh_$((x * x * x * 0.044715f + x) * 0.797884560802865f) + 1.0f); }", ""},
    {"gelu", "SI f32x$ gelu_$(f32x$ x) { return x * 0.5f * (erf_$(x * 0.707106781186548f) + 1.0f); }", ""},
    {"softplus", "SI f32x$ softplus_$(f32x$ x) { return relu_$(x) + log1p_$(exp_$(-abs_$(x))); }", ""},
    {"divide_by",
     // Quotient by one divisor for all lanes: its reciprocal and one correction step, within 1 ulp; extreme divisors divide.
     "SI f32x$ divide_by_$(f32x$ a, float b, float r) {\n"
     "    const float size = __builtin_fabsf(b);\n"
     "    if (!(size > 1e-30f && size < 1e30f)) return a / b;\n"
     "    const f32x$ q = a * r;\n"
     "    return (a - q * b) * r + q;\n"
     "}",
     "SI f32x1 divide_by_1(f32x1 a, float b, float) { return a / b; }"},
    // All lanes in one: halves on halves.
    {"sum",
     "SI float sum_$(f32x$ x) {\n"
     "    { const f32x$ y = __builtin_shufflevector(x, x, ~1); x = x + y; }\n    { const f32x$ y = __builtin_shufflevector(x, x, ~2); x = x + y; }\n"
     "#if $ >= 8\n    { const f32x$ y = __builtin_shufflevector(x, x, ~3); x = x + y; }\n#endif\n"
     "#if $ >= 16\n    { const f32x$ y = __builtin_shufflevector(x, x, ~4); x = x + y; }\n#endif\n"
     "    return x[0];\n}",
     "SI float sum_1(f32x1 x) { return x; }"},
    {"product",
     "SI float product_$(f32x$ x) {\n"
     "    { const f32x$ y = __builtin_shufflevector(x, x, ~1); x = x * y; }\n    { const f32x$ y = __builtin_shufflevector(x, x, ~2); x = x * y; }\n"
     "#if $ >= 8\n    { const f32x$ y = __builtin_shufflevector(x, x, ~3); x = x * y; }\n#endif\n"
     "#if $ >= 16\n    { const f32x$ y = __builtin_shufflevector(x, x, ~4); x = x * y; }\n#endif\n"
     "    return x[0];\n}",
     "SI float product_1(f32x1 x) { return x; }"},
    {"largest",
     "SI float largest_$(f32x$ x) {\n"
     "    { const f32x$ y = __builtin_shufflevector(x, x, ~1); x = y > x ? y : x; }\n    { const f32x$ y = __builtin_shufflevector(x, x, ~2); x = y > x ? y : x; }\n"
     "#if $ >= 8\n    { const f32x$ y = __builtin_shufflevector(x, x, ~3); x = y > x ? y : x; }\n#endif\n"
     "#if $ >= 16\n    { const f32x$ y = __builtin_shufflevector(x, x, ~4); x = y > x ? y : x; }\n#endif\n"
     "    return x[0];\n}",
     "SI float largest_1(f32x1 x) { return x; }"},
    {"least",
     "SI float least_$(f32x$ x) {\n"
     "    { const f32x$ y = __builtin_shufflevector(x, x, ~1); x = y < x ? y : x; }\n    { const f32x$ y = __builtin_shufflevector(x, x, ~2); x = y < x ? y : x; }\n"
     "#if $ >= 8\n    { const f32x$ y = __builtin_shufflevector(x, x, ~3); x = y < x ? y : x; }\n#endif\n"
     "#if $ >= 16\n    { const f32x$ y = __builtin_shufflevector(x, x, ~4); x = y < x ? y : x; }\n#endif\n"
     "    return x[0];\n}",
     "SI float least_1(f32x1 x) { return x; }"},
    {"fetch", "", "SI void fetch_1(const void* p) { __builtin_prefetch(p); }"},
};

/// Functions of one or two f32 that the C library answers lane by lane: prelude name and builtin.
struct library_function {
    std::string_view name, builtin;
    int arity;
};
constexpr library_function cpu_library[] = {{"log", "__builtin_logf", 1}, {"log2", "__builtin_log2f", 1}, {"log10", "__builtin_log10f", 1}, {"log1p", "__builtin_log1pf", 1},
    {"exp2", "__builtin_exp2f", 1}, {"expm1", "__builtin_expm1f", 1}, {"sin", "__builtin_sinf", 1}, {"cos", "__builtin_cosf", 1}, {"tan", "__builtin_tanf", 1},
    {"arcsin", "__builtin_asinf", 1}, {"arccos", "__builtin_acosf", 1}, {"arctan", "__builtin_atanf", 1}, {"sinh", "__builtin_sinhf", 1}, {"cosh", "__builtin_coshf", 1},
    {"erf", "__builtin_erff", 1}, {"floor", "__builtin_floorf", 1}, {"ceil", "__builtin_ceilf", 1}, {"trunc", "__builtin_truncf", 1}, {"rint", "__builtin_rintf", 1},
    {"cbrt", "__builtin_cbrtf", 1}, {"pow", "__builtin_powf", 2}, {"arctan2", "__builtin_atan2f", 2}, {"fmod", "__builtin_fmodf", 2}, {"hypot", "__builtin_hypotf", 2},
    {"copysign", "__builtin_copysignf", 2}};

/// Operators on reals as formulas in double of $a, $b, $c: for values held in double, for integers, and lane by lane where a vector has nothing better.
struct scalar_formula {
    loop::op op;
    std::string_view text;
};
constexpr scalar_formula cpu_formulas[] = {{loop::op::add, "$a + $b"}, {loop::op::subtract, "$a - $b"}, {loop::op::multiply, "$a * $b"}, {loop::op::divide, "$a / $b"},
    {loop::op::divide_rn_f32, "$a / $b"}, {loop::op::floor_divide, "__builtin_floor($a / $b)"}, {loop::op::remainder, "$a - __builtin_floor($a / $b) * $b"},
    {loop::op::mod, "$a - __builtin_floor($a / $b) * $b"}, {loop::op::fmod, "__builtin_fmod($a, $b)"}, {loop::op::reciprocal, "1 / $a"}, {loop::op::negative, "0 - $a"},
    {loop::op::absolute, "__builtin_fabs($a)"}, {loop::op::square, "$a * $a"}, {loop::op::sqrt, "__builtin_sqrt($a)"}, {loop::op::rsqrt, "1 / __builtin_sqrt($a)"},
    {loop::op::pow, "__builtin_pow($a, $b)"}, {loop::op::maximum, "$a != $a ? $b : $b != $b ? $a : $a < $b ? $b : $a"}, {loop::op::fmax, "$a != $a ? $b : $b != $b ? $a : $a < $b ? $b : $a"},
    {loop::op::minimum, "$a != $a ? $b : $b != $b ? $a : $b < $a ? $b : $a"}, {loop::op::fmin, "$a != $a ? $b : $b != $b ? $a : $b < $a ? $b : $a"},
    {loop::op::sign, "$a > 0 ? 1.0 : $a < 0 ? -1.0 : $a"}, {loop::op::exp, "__builtin_exp($a)"}, {loop::op::exp_fast, "__builtin_exp($a)"}, {loop::op::exp2, "__builtin_exp2($a)"},
    {loop::op::expm1, "__builtin_expm1($a)"}, {loop::op::log, "__builtin_log($a)"}, {loop::op::log2, "__builtin_log2($a)"}, {loop::op::log10, "__builtin_log10($a)"},
    {loop::op::log1p, "__builtin_log1p($a)"}, {loop::op::sin, "__builtin_sin($a)"}, {loop::op::cos, "__builtin_cos($a)"}, {loop::op::tan, "__builtin_tan($a)"},
    {loop::op::arcsin, "__builtin_asin($a)"}, {loop::op::arccos, "__builtin_acos($a)"}, {loop::op::arctan, "__builtin_atan($a)"}, {loop::op::arctan2, "__builtin_atan2($a, $b)"},
    {loop::op::sinh, "__builtin_sinh($a)"}, {loop::op::cosh, "__builtin_cosh($a)"}, {loop::op::tanh, "__builtin_tanh($a)"}, {loop::op::arcsinh, "__builtin_asinh($a)"},
    {loop::op::arccosh, "__builtin_acosh($a)"}, {loop::op::arctanh, "__builtin_atanh($a)"}, {loop::op::erf, "__builtin_erf($a)"}, {loop::op::sigmoid, "1 / (1 + __builtin_exp(-$a))"},
    {loop::op::silu, "$a / (1 + __builtin_exp(-$a))"}, {loop::op::softplus, "$a > 0 ? $a + __builtin_log1p(__builtin_exp(-$a)) : __builtin_log1p(__builtin_exp($a))"},
    {loop::op::gelu, "0.5 * $a * (1 + __builtin_erf($a / 1.4142135623730951))"},
    {loop::op::gelu_tanh, "0.5 * $a * (1 + __builtin_tanh(0.7978845608028654 * ($a + 0.044715 * $a * $a * $a)))"}, {loop::op::relu, "$a > 0 ? $a : 0.0"},
    {loop::op::floor, "__builtin_floor($a)"}, {loop::op::ceil, "__builtin_ceil($a)"}, {loop::op::trunc, "__builtin_trunc($a)"}, {loop::op::rint, "__builtin_nearbyint($a)"},
    {loop::op::where, "$a != 0 ? $b : $c"}, {loop::op::equal, "$a == $b ? 1.0 : 0.0"}, {loop::op::not_equal, "$a != $b ? 1.0 : 0.0"}, {loop::op::less, "$a < $b ? 1.0 : 0.0"},
    {loop::op::less_equal, "$a <= $b ? 1.0 : 0.0"}, {loop::op::greater, "$a > $b ? 1.0 : 0.0"}, {loop::op::greater_equal, "$a >= $b ? 1.0 : 0.0"}, {loop::op::isnan, "$a != $a ? 1.0 : 0.0"},
    {loop::op::isinf, "__builtin_fabs($a) == __builtin_huge_val() ? 1.0 : 0.0"}, {loop::op::isfinite, "__builtin_fabs($a) < __builtin_huge_val() ? 1.0 : 0.0"},
    {loop::op::signbit, "__builtin_signbit($a) ? 1.0 : 0.0"}, {loop::op::copysign, "__builtin_copysign($a, $b)"}, {loop::op::bitwise_and, "$a != 0 && $b != 0 ? 1.0 : 0.0"},
    {loop::op::logical_and, "$a != 0 && $b != 0 ? 1.0 : 0.0"}, {loop::op::bitwise_or, "$a != 0 || $b != 0 ? 1.0 : 0.0"}, {loop::op::logical_or, "$a != 0 || $b != 0 ? 1.0 : 0.0"},
    {loop::op::bitwise_xor, "($a != 0) != ($b != 0) ? 1.0 : 0.0"}, {loop::op::logical_xor, "($a != 0) != ($b != 0) ? 1.0 : 0.0"}, {loop::op::invert, "$a == 0 ? 1.0 : 0.0"},
    {loop::op::logical_not, "$a == 0 ? 1.0 : 0.0"}, {loop::op::left_shift, "__builtin_ldexp($a, (int)to_range_1($b, -2000, 2000))"},
    {loop::op::right_shift, "__builtin_floor(__builtin_ldexp($a, -(int)to_range_1($b, -2000, 2000)))"}, {loop::op::bitwise_count, "(double)__builtin_popcountll((unsigned long long)to_i64_1(__builtin_fabs($a)))"},
    {loop::op::gcd, "(double)gcd_1(to_range_1($a, -2147483648ll, 2147483647ll), to_range_1($b, -2147483648ll, 2147483647ll))"},
    {loop::op::lcm, "(double)lcm_1(to_range_1($a, -2147483648ll, 2147483647ll), to_range_1($b, -2147483648ll, 2147483647ll))"}, {loop::op::next, "$b"},
    {loop::op::hypot, "__builtin_hypot($a, $b)"}, {loop::op::logaddexp, "($a < $b ? $b : $a) + __builtin_log1p(__builtin_exp(-__builtin_fabs($a - $b)))"},
    {loop::op::logaddexp2, "($a < $b ? $b : $a) + __builtin_log1p(__builtin_exp2(-__builtin_fabs($a - $b))) / 0.6931471805599453"},
    {loop::op::heaviside, "$a < 0 ? 0.0 : $a > 0 ? 1.0 : $a == 0 ? $b : $a"}, {loop::op::nextafter, "(double)__builtin_nextafterf((float)$a, (float)$b)"}, {loop::op::cbrt, "__builtin_cbrt($a)"},
    {loop::op::deg2rad, "$a * 0.017453292519943295"}, {loop::op::radians, "$a * 0.017453292519943295"}, {loop::op::rad2deg, "$a * 57.29577951308232"},
    {loop::op::degrees, "$a * 57.29577951308232"}, {loop::op::spacing, "(double)(__builtin_nextafterf((float)$a, __builtin_copysignf(__builtin_huge_valf(), (float)$a)) - (float)$a)"},
    {loop::op::ldexp, "__builtin_ldexp($a, (int)to_range_1($b, -2000, 2000))"}, {loop::op::copy, "$a"}, {loop::op::pad, "$a"}, {loop::op::positive, "$a"}, {loop::op::conjugate, "$a"}};

constexpr std::string_view cpu_formula(loop::op o) {
    for (const scalar_formula& f : cpu_formulas)
        if (f.op == o) return f.text;
    return {};
}

}  // namespace emmy::kernel
