#pragma once
#include <emmy/core/capability.hpp>
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/device/cuda/resources.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// CUDA text to machine code, in this process (NVRTC). Needs no card.
namespace emmy::device::cuda {

/// Text of one kernel for one target.
struct source {
    std::string text, entry;          ///< `extern "C" __global__ void entry(…)`
    capability target;
    bool specific = false;            ///< the target's own instructions (sm_90a): wgmma, setmaxnreg, tensor copies, block-scaled 4-bit products
    int optimisation = 3;             ///< regime
    bool fast_math = false;           ///< regime
    std::vector<std::string> flags{}; ///< regime: further ones, as the compiler takes them
};
/// "sm_90a".
EMMY_DECL std::string architecture(const source& s);
EMMY_DECL std::vector<std::string> options(const source& s);

struct cubin {
    std::string bytes;                ///< the machine code, an ELF file
    std::string log;                  ///< warnings and the assembler's report
    cuda::resources used;
    bool cached = false;
};

/// One NVRTC that was found.
struct compiler_facts {
    std::string path;
    int major = 0, minor = 0;
    std::vector<int> targets;         ///< 75, 80, …: what it compiles for
    std::string text() const;         ///< "13.0 (sm_75 … sm_121) /usr/local/cuda/lib64/libnvrtc.so.13"
};

/// Every NVRTC of the machine, newest first. Any number of threads may compile with one.
class compilers {
public:
    /// Finds them all; loads each once. Nothing found is no error here.
    EMMY_DECL static const compilers& of_this_machine();
    /// The same, of these files.
    EMMY_DECL static compilers of(const std::vector<std::string>& paths);

    EMMY_DECL std::vector<compiler_facts> list() const;
    /// The newest one that has the target. Errors (device): one line with the target and what was found and looked for.
    EMMY_DECL result<compiler_facts> for_target(const source& s) const;
    /// Compiles. Errors (device_limit): the text is refused (first diagnostics), or the assembler serialised its matrix products; (device): no compiler.
    EMMY_DECL result<cubin> compile(const source& s) const;
    /// Compiles unless `folder` (emmy's cache directory; empty = the default one) holds the answer: the key is text, entry, target, flags and compiler
    /// version, and no path. A damaged entry is compiled again.
    EMMY_DECL result<cubin> compile_cached(const source& s, const std::string& folder = {}) const;

private:
    struct state;
    std::shared_ptr<const state> state_;
};

}  // namespace emmy::device::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cuda_compiler.ipp>
#endif
