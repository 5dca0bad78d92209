#pragma once
#include <cstdint>

namespace emmy::fork {

/// What schedules of the CPU device depend on. Bytes; 0 = unknown.
struct cpu_target {
    int vector_bytes = 64;                 ///< widest vector register
    int vector_registers = 32;
    std::uint64_t l1_bytes = 48u << 10, l2_bytes = 2u << 20, last_cache_bytes = 32u << 20;
    int cores = 1;                         ///< physical; the team of a launch may be smaller or larger
    constexpr int lanes() const { return vector_bytes / 4; }  ///< f32 values in a register
};

/// Facts of an identified processor. Registers: 32 with 64-byte vectors, else 16.
constexpr cpu_target make_cpu_target(int vector_bytes, std::uint64_t l1, std::uint64_t l2, std::uint64_t l3, int cores) {
    cpu_target t;
    t.vector_bytes = vector_bytes < 16 ? 16 : vector_bytes > 64 ? 64 : vector_bytes;
    t.vector_registers = t.vector_bytes == 64 ? 32 : 16;
    if (l1 != 0) t.l1_bytes = l1;
    if (l2 != 0) t.l2_bytes = l2;
    t.last_cache_bytes = l3 != 0 ? l3 : t.l2_bytes;
    t.cores = cores < 1 ? 1 : cores;
    return t;
}

}  // namespace emmy::fork
