#pragma once
#include <emmy/device/concept.hpp>

#include <string>

// Kernel texts of our own, in the same ABI as compiled kernels: yardsticks and ceilings.
namespace emmy::device::cpu::detail {

inline std::string text_head(int vector_bytes) {
    return "struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };\n"
           "constexpr long long W = " + std::to_string(vector_bytes) + ";\n"
           "typedef unsigned char bytes_v __attribute__((vector_size(" + std::to_string(vector_bytes) + "), aligned(1), may_alias));\n"
           "typedef float f32_v __attribute__((vector_size(" + std::to_string(vector_bytes) + "), aligned(" + std::to_string(vector_bytes) + ")));\n"
           "typedef double f64_v __attribute__((vector_size(" + std::to_string(vector_bytes) + "), aligned(" + std::to_string(vector_bytes) + ")));\n";
}

/// Reads sizes[0] bytes of buffer 0 and writes sizes[1] bytes of buffer 1, each once; what can be copied is copied, the
/// rest of a longer input is folded, the rest of a longer output repeats the input's start. sizes[2]: stores bypass caches.
inline kernel_text copy_text(int vector_bytes) {
    kernel_text out;
    out.entry = "emmy_copy";
    out.source = text_head(vector_bytes) + R"(
static void span(long long whole, int part, int parts, long long& first, long long& last) {
    const long long lines = (whole + W - 1) / W;
    first = lines * part / parts * W;
    last = lines * (part + 1) / parts * W;
    if (last > whole) last = whole;
    if (first > last) first = last;
}
#if defined(__clang__)
#define STORE_STREAMING(p, v) __builtin_nontemporal_store(v, p)
#elif defined(__AVX512F__)
typedef long long i64_v __attribute__((vector_size(64)));
#define STORE_STREAMING(p, v) __builtin_ia32_movntdq512((i64_v*)(p), (i64_v)(v))
#elif defined(__AVX__)
typedef long long i64_v __attribute__((vector_size(32)));
#define STORE_STREAMING(p, v) __builtin_ia32_movntdq256((i64_v*)(p), (i64_v)(v))
#else
#define STORE_STREAMING(p, v) (*(p) = (v))
#endif
extern "C" void emmy_copy(const emmy_launch* l) {
    const unsigned char* in = (const unsigned char*)l->buffers[0];
    unsigned char* out = (unsigned char*)l->buffers[1];
    const long long reads = l->sizes[0], writes = l->sizes[1], both = reads < writes ? reads : writes;
    long long first, last;
    span(both, l->part, l->parts, first, last);
    long long i = first;
    if (l->sizes[2]) {
        for (; i + W <= last; i += W) STORE_STREAMING((bytes_v*)(out + i), *(const bytes_v*)(in + i));
    } else {
        for (; i + 4 * W <= last; i += 4 * W) {
            const bytes_v a = *(const bytes_v*)(in + i), b = *(const bytes_v*)(in + i + W), c = *(const bytes_v*)(in + i + 2 * W), d = *(const bytes_v*)(in + i + 3 * W);
            *(bytes_v*)(out + i) = a; *(bytes_v*)(out + i + W) = b; *(bytes_v*)(out + i + 2 * W) = c; *(bytes_v*)(out + i + 3 * W) = d;
        }
        for (; i + W <= last; i += W) *(bytes_v*)(out + i) = *(const bytes_v*)(in + i);
    }
    for (; i < last; ++i) out[i] = in[i];
    if (reads > both) {
        span(reads - both, l->part, l->parts, first, last);
        const unsigned char* rest = in + both;
        bytes_v fold[8] = {};
        for (i = first; i + 8 * W <= last; i += 8 * W)
            for (int j = 0; j < 8; ++j) fold[j] ^= *(const bytes_v*)(rest + i + j * W);
        unsigned char sum = 0;
        for (int j = 0; j < 8; ++j)
            for (int b = 0; b < W; ++b) sum ^= fold[j][b];
        for (; i < last; ++i) sum ^= rest[i];
        *(volatile unsigned char*)(l->scratch + 64 * l->part) = sum;
    }
    if (writes > both) {
        span(writes - both, l->part, l->parts, first, last);
        unsigned char* rest = out + both;
        bytes_v fill = {};
        for (i = first; i + W <= last; i += W) *(bytes_v*)(rest + i) = fill;
        for (; i < last; ++i) rest[i] = 0;
    }
}
)";
    return out;
}

/// sizes[0] steps of 16 independent vector multiply-adds, f32 (emmy_peak_f32) or f64.
inline kernel_text peak_text(int vector_bytes, bool wide) {
    const std::string name = wide ? "emmy_peak_f64" : "emmy_peak_f32", vector = wide ? "f64_v" : "f32_v";
    kernel_text out;
    out.entry = name;
    std::string declare, step, finish;
    for (int i = 0; i < 16; ++i) {
        const std::string a = "a" + std::to_string(i);
        declare += "    " + vector + " " + a + " = in[" + std::to_string(i) + "];\n";
        step += a + " = " + a + " * x + y; ";
        finish += (i ? " + " : "") + a;
    }
    out.source = text_head(vector_bytes) + "extern \"C\" void " + name + "(const emmy_launch* l) {\n    const " + vector + "* in = (const " + vector + "*)l->buffers[0];\n" + declare +
                 "    const " + vector + " x = in[16], y = in[17];\n    const long long steps = l->sizes[0];\n    for (long long i = 0; i < steps; ++i) { " + step + "}\n    ((" + vector +
                 "*)l->buffers[1])[l->part] = " + finish + ";\n}\n";
    return out;
}

/// Reads sizes[0] bytes of buffer 0, sizes[1] times.
inline kernel_text read_text(int vector_bytes) {
    kernel_text out;
    out.entry = "emmy_read";
    out.source = text_head(vector_bytes) + R"(
extern "C" void emmy_read(const emmy_launch* l) {
    const long long lines = l->sizes[0] / W / 8;
    const bytes_v* in = (const bytes_v*)l->buffers[0];
    const long long first = lines * l->part / l->parts * 8, last = lines * (l->part + 1) / l->parts * 8;
    bytes_v f0 = {}, f1 = {}, f2 = {}, f3 = {}, f4 = {}, f5 = {}, f6 = {}, f7 = {};
    for (long long t = 0; t < l->sizes[1]; ++t)
        for (long long i = first; i < last; i += 8) { f0 ^= in[i]; f1 ^= in[i + 1]; f2 ^= in[i + 2]; f3 ^= in[i + 3]; f4 |= in[i + 4]; f5 |= in[i + 5]; f6 |= in[i + 6]; f7 |= in[i + 7]; f0 += f4; }
    ((bytes_v*)l->buffers[1])[l->part] = f0 ^ f1 ^ f2 ^ f3 ^ f4 ^ f5 ^ f6 ^ f7;
}
)";
    return out;
}

}  // namespace emmy::device::cpu::detail
