#pragma once
// What a fuzz entry may allocate: memory is counted (all of it under the address sanitizer, by its hooks; else what C++ asks for), and an
// input that makes us ask for more than it implies ends the process. To be included by one file of an executable.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMMY_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMMY_TEST_ASAN 1
#endif
#endif
#ifdef EMMY_TEST_ASAN
#include <sanitizer/allocator_interface.h>
#endif

namespace emmy::test {

inline std::size_t live_bytes = 0, most_bytes = 0;

/// 8 MiB (buffers of a MiB, tables that grow by doubling), and 1200 bytes a byte of input: deflate expands by up to 1032.
inline void expect_bounded_memory(std::size_t input, std::size_t before) {
    const std::size_t bound = (std::size_t(8) << 20) + 1200 * input;
    if (most_bytes - before <= bound) return;
    std::fprintf(stderr, "an input of %zu bytes made us allocate %zu bytes, expected at most %zu\n", input, most_bytes - before, bound);
    std::abort();
}

/// Around one input.
class memory_bound {
public:
    explicit memory_bound(std::size_t input) : input_(input), before_(live_bytes) { most_bytes = live_bytes; }
    ~memory_bound() { expect_bounded_memory(input_, before_); }

private:
    std::size_t input_, before_;
};

}  // namespace emmy::test

#ifdef EMMY_TEST_ASAN
namespace emmy::test {
inline const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t size) {
        live_bytes += size;
        if (live_bytes > most_bytes) most_bytes = live_bytes;
    },
    [](const volatile void* p) { live_bytes -= __sanitizer_get_allocated_size(p); });
}
#else
void* operator new(std::size_t size) {
    void* out = std::malloc(size);
    if (!out) throw std::bad_alloc();
    emmy::test::live_bytes += ::malloc_usable_size(out);
    if (emmy::test::live_bytes > emmy::test::most_bytes) emmy::test::most_bytes = emmy::test::live_bytes;
    return out;
}
void operator delete(void* p) noexcept {
    if (p) emmy::test::live_bytes -= ::malloc_usable_size(p);
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
#endif
