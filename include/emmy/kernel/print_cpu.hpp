#pragma once
#include <emmy/core/config.hpp>
#include <emmy/kernel/ir.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace emmy::kernel {

/// One slab: `bytes` times the sizes of `symbols` (places in program::symbols), rounded up to 64.
struct slab_size {
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> symbols = {};
};

struct printed {
    std::string source;
    std::vector<slab_size> shared, part;   ///< slabs in launch->scratch, one after another: the shared ones, then each member's
};

/// Spells a program as C++ with vector extensions (GCC 12, clang 16): the prelude functions it uses, then its entry.
EMMY_DECL printed print_cpu(const program& p);

/// C type of stored elements: f16, bf16 and f8 travel as raw bits.
constexpr const char* c_type(dtype t) {
    switch (t) {
        case dtype::f32: return "float";
        case dtype::f64: return "double";
        case dtype::i64: return "long long";
        case dtype::i32: return "int";
        case dtype::i16: return "short";
        case dtype::u64: return "unsigned long long";
        case dtype::f16x2:
        case dtype::u32: return "unsigned int";
        case dtype::f16:
        case dtype::bf16:
        case dtype::u16: return "unsigned short";
        default: return "unsigned char";
    }
}

}  // namespace emmy::kernel

#ifdef EMMY_HEADER_ONLY
#include <emmy/kernel/impl/print_cpu.ipp>
#endif
