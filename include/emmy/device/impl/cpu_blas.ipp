#pragma once
#include <emmy/device/cpu/blas.hpp>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

namespace emmy::device::cpu {

namespace detail {
inline void* open_blas() {
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
        if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    return nullptr;
}
inline std::string blas_text(void* handle, const char* name) {
    using getter = char* (*)();
    const auto get = reinterpret_cast<getter>(::dlsym(handle, name));
    const char* text = get ? get() : nullptr;
    return text ? text : "";
}
}  // namespace detail

EMMY_DECL bool generic_core(const std::string& core, const identification& host) {
    if (core.empty()) return true;
    if (host.isa != "x86-64-v3" && host.isa != "x86-64-v4") return core == "Generic" || core == "ARMV8";
    // Every core before AVX2: on this processor it is a quarter of what the library can do, or less.
    constexpr const char* old[] = {"Generic", "Unknown", "Katmai", "Coppermine", "Northwood", "Prescott", "Banias", "Core2", "Penryn", "Dunnington", "Nehalem",
        "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Nano", "Atom", "Bobcat", "Sandybridge", "Bulldozer", "Piledriver", "Steamroller"};
    return std::any_of(std::begin(old), std::end(old), [&](const char* name) { return core == name; });
}

EMMY_DECL const result<blas>& load_blas(const identification& host) {
    static const result<blas> loaded = [&]() -> result<blas> {
        ::unsetenv("OPENBLAS_CORETYPE");
        ::unsetenv("OPENBLAS_L2_SIZE");
        ::unsetenv("OPENBLAS_NUM_THREADS");
        void* handle = detail::open_blas();
        if (!handle) return refuse(fault_kind::device, "no OpenBLAS (looked for libopenblas.so.0; Debian: apt install libopenblas0-pthread)");
        blas out;
        out.core = detail::blas_text(handle, "openblas_get_corename");
        const bool wide = host.isa == "x86-64-v4";
        if (generic_core(out.core, host) || (wide && out.core == "Haswell")) {
            const std::string detected = out.core;
            ::dlclose(handle);
            ::setenv("OPENBLAS_CORETYPE", wide ? "SkylakeX" : "Haswell", 1);
            handle = detail::open_blas();
            ::unsetenv("OPENBLAS_CORETYPE");
            if (!handle) return refuse(fault_kind::device, "OpenBLAS could not be loaded twice");
            out.core = detail::blas_text(handle, "openblas_get_corename");
            out.note = "detected as " + detected + ", core named by instruction set";
        }
        if (generic_core(out.core, host))
            return refuse(fault_kind::device, "OpenBLAS runs its generic core \"" + out.core + "\" here, which is no yardstick for " + host.card);
        out.config = detail::blas_text(handle, "openblas_get_config");
        out.sgemm = reinterpret_cast<blas::sgemm_function>(::dlsym(handle, "cblas_sgemm"));
        out.set_threads = reinterpret_cast<void (*)(int)>(::dlsym(handle, "openblas_set_num_threads"));
        out.threads = reinterpret_cast<int (*)()>(::dlsym(handle, "openblas_get_num_threads"));
        if (!out.sgemm || !out.set_threads || !out.threads) return refuse(fault_kind::device, "OpenBLAS lacks cblas_sgemm or its thread control");
        return out;
    }();
    return loaded;
}

}  // namespace emmy::device::cpu
