#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/device/concept.hpp>

#include <string>

namespace emmy::device::cpu {

/// OpenBLAS, found at run time: the yardstick beside contractions. Loaded once a process.
struct blas {
    std::string core;                     ///< "SkylakeX": the kernels it chose
    std::string config;                   ///< its own description
    std::string note;                     ///< how the core was chosen when it was not detected
    using sgemm_function = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
    sgemm_function sgemm = nullptr;       ///< cblas_sgemm
    void (*set_threads)(int) = nullptr;
    int (*threads)() = nullptr;
};

/// Ignores OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE of the environment. Where detection lands on a generic core (a processor
/// newer than the library) the core is named by instruction set instead. Errors (device): not installed, or only a
/// generic core: no yardstick.
EMMY_DECL const result<blas>& load_blas(const identification& host);

/// Kernels that were written for no processor in particular, or for ones of twenty years ago.
EMMY_DECL bool generic_core(const std::string& core, const identification& host);

}  // namespace emmy::device::cpu

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cpu_blas.ipp>
#endif
