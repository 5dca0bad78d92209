#pragma once
#include <emmy/kernel/cuda/prelude.hpp>

// Memory. Shared memory is one pool, aligned to 1024 bytes; its addresses are byte offsets. Global memory is a pointer and an index of elements, so that the
// emulated machine sees every access. Types of 1, 2, 4, 8 and 16 bytes; wide ones are aligned to their size.
namespace emmy::kernel::cuda::detail {

inline void add_memory(std::vector<prelude_function>& to) {
    to.push_back({"load", "template <class T> DEV T load(const T* p, i64 i) { return p[i]; }", "template <class T> DEV T load(const T* p, i64 i, HERE) { return *(const T*)ask_at(line, call_global_read, (u64)(p + i), sizeof(T)); }"});
    // … that nobody writes while the kernel runs.
    to.push_back({"load_constant", "template <class T> DEV T load_constant(const T* p, i64 i) { return __ldg(p + i); }",
                  "template <class T> DEV T load_constant(const T* p, i64 i, HERE) { return *(const T*)ask_at(line, call_global_read, (u64)(p + i), sizeof(T)); }"});
    // Several elements at once: T is u32x2 or u32x4, the index counts elements of the pointer's type.
    to.push_back({"load_wide", "template <class W, class T> DEV W load_wide(const T* p, i64 i) { return *(const W*)(p + i); }",
                  "template <class W, class T> DEV W load_wide(const T* p, i64 i, HERE) { return *(const W*)ask_at(line, call_global_read, (u64)(p + i), sizeof(W)); }"});
    to.push_back({"store", "template <class T> DEV void store(T* p, i64 i, T v) { p[i] = v; }", "template <class T> DEV void store(T* p, i64 i, T v, HERE) { *(T*)ask_at(line, call_global_write, (u64)(p + i), sizeof(T)) = v; }"});
    to.push_back({"store_wide", "template <class W, class T> DEV void store_wide(T* p, i64 i, W v) { *(W*)(p + i) = v; }",
                  "template <class W, class T> DEV void store_wide(T* p, i64 i, W v, HERE) { *(W*)ask_at(line, call_global_write, (u64)(p + i), sizeof(W)) = v; }"});
    to.push_back({"add", "DEV void add(float* p, i64 i, float v) { atomicAdd(p + i, v); }", "DEV void add(float* p, i64 i, float v, HERE) { *(float*)ask_at(line, call_global_atomic, (u64)(p + i), 4) += v; }"});
    to.push_back({"load_shared", "template <class T> DEV T load_shared(u32 at) { return *(const T*)(pool + at); }", "template <class T> DEV T load_shared(u32 at, HERE) { return *(const T*)ask_at(line, call_shared_read, at, sizeof(T)); }"});
    to.push_back({"store_shared", "template <class T> DEV void store_shared(u32 at, T v) { *(T*)(pool + at) = v; }",
                  "template <class T> DEV void store_shared(u32 at, T v, HERE) { *(T*)ask_at(line, call_shared_write, at, sizeof(T)) = v; }"});
    to.push_back({"add_shared", "DEV void add_shared(u32 at, float v) { atomicAdd((float*)(pool + at), v); }", "DEV void add_shared(u32 at, float v, HERE) { *(float*)ask_at(line, call_shared_atomic, at, 4) += v; }"});
    // What instructions take that name shared memory themselves.
    to.push_back({"address", "DEV u32 address(u32 at) { return (u32)__cvta_generic_to_shared(pool) + at; }", "DEV u32 address(u32 at) { return at; }"});
    // 16-byte pieces exchanged within `width` bytes (0, 32, 64, 128) by the address: what tensor copies write and matrix instructions read.
    const std::string swizzled = "template <int Width> DEV u32 swizzled(u32 at) { return Width == 0 ? at : at ^ (at >> 3 & (Width - 1) & 0x70u); }";
    to.push_back({"swizzled", swizzled, swizzled});
}

}  // namespace emmy::kernel::cuda::detail
