#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/core/result.hpp>
#include <emmy/device/arena.hpp>
#include <emmy/device/statistics.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What every device can do: say what it is, compile kernel text, run it, measure it.
namespace emmy::device {

struct limits {
    int cores = 1;                ///< physical cores
    int vector_bytes = 16;        ///< widest vector register
    std::uint64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< data caches, one instance each; 0 = unknown
};

struct identification {
    std::string card;                     ///< exact name: the key of every measurement
    std::string backend;                  ///< "cpu", "cuda", …
    std::array<int, 2> compute_cap{0, 0};
    std::string isa;                      ///< instruction set level, part of the card name
    std::string features;                 ///< everything else that decides whether compiled code may run here (goes into cache keys)
    device::limits limits;
};

/// The most this device can do, for the second gate. 0 = unknown (the gate then does not judge).
struct ceilings {
    struct level {
        std::uint64_t footprint = 0;      ///< bytes touched; a kernel with at least this footprint …
        double bytes_per_second = 0;      ///< … cannot move its bytes faster
    };
    int team = 1;                         ///< threads these hold for
    double flops_f32 = 0, flops_f64 = 0, flops_f16 = 0;  ///< multiply and add count as two
    std::vector<level> bandwidth;         ///< ascending footprint, descending rate
};

/// Text of one kernel and how to call it. `entry` is `extern "C" void entry(const emmy_launch*)`.
struct kernel_text {
    std::string source, entry;
    std::uint64_t scratch_bytes = 0;
    bool fast_math = false;               ///< regime: compiled with relaxed floating point
    int optimisation = 3;                 ///< regime: -O level
    friend bool operator==(const kernel_text&, const kernel_text&) = default;
};

struct compiled {
    std::string object;                   ///< path or handle of the compiled code
    bool cached = false;                  ///< found, not made
    double seconds = 0;                   ///< wall time of the compilation; 0 when cached
};

/// One execution. Buffers are the arena's, in order; outputs are poisoned (all bits set) before a run.
struct launch {
    std::vector<long long> sizes = {};    ///< values of the kernel's symbols, in its own order
    int team = 1;                         ///< threads that share the work
};

/// Part of one buffer.
struct slice {
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0, bytes = 0;
};

/// Kernels run one after another over one set of buffers. A kernel's scratch_bytes are for the launches it has here.
struct sequence {
    struct step {
        std::uint32_t kernel = 0;         ///< place in `kernels`
        launch how = {};
        std::vector<slice> buffers = {};  ///< the kernel's, in its order
        std::vector<slice> zeroed = {};   ///< set to zero before it
    };
    struct copy {
        slice from, to;                   ///< of one size, not overlapping
    };
    std::vector<kernel_text> kernels;
    std::vector<step> steps;
    std::vector<copy> copied = {};        ///< after the last step
};
/// Errors (input): a kernel or a buffer that is not there, a slice that ends outside its buffer, a copy of two sizes; `sizes`: bytes of the buffers.
EMMY_DECL result<void> check(const sequence& what, std::span<const std::uint64_t> sizes);

/// What is timed beside a kernel, in the same process.
struct reference {
    enum class kind : std::uint8_t { none, gemm, copy } what = kind::none;
    long long m = 0, n = 0, k = 0, batch = 1;  ///< gemm f32: C[m,n] = A[m,k]·B, row-major
    bool transposed = false;              ///< gemm: B is [n,k]
    std::uint64_t read_bytes = 0, write_bytes = 0;  ///< copy: bytes read and written once
};

/// How long and how precisely to measure.
struct effort {
    int warm_up = 10;                     ///< launches before the first sample, at least
    int least_samples = 20, most_samples = 100;
    double window_seconds = 500e-6;       ///< one sample times as many launches as fill this
    double tight = 0.01;                  ///< stop once the interval's half width is below this part of the median
    double budget_seconds = 1.0;          ///< stop anyway
    double slow_seconds = 0;              ///< a launch that takes longer has lost anyway: two samples will do; 0 = no such limit
    bool cold = false;                    ///< every launch alone, its buffers evicted before
};

struct measure_request {
    std::vector<kernel_text> kernels;     ///< measured alone one after another, or in alternating rounds
    std::vector<launch> launches;         ///< one per kernel
    std::vector<sequence> sequences = {}; ///< each measured as a whole, after the kernels
    reference against = {};
    bool interleave = false;              ///< one window each per round, the reference included
    device::effort effort = {};
};

struct measured {
    std::vector<statistics> kernels;      ///< µs per launch, one per kernel, then one per sequence (all its steps)
    std::optional<statistics> against;    ///< the reference's, when it ran
    std::string reference_name;           ///< "openblas SkylakeX 2t", "copy 2t"
    std::string reference_note;           ///< why the reference did not run or is a weak yardstick; may be empty
};

/// A device as a type. `cpu::host_device` runs in this process, `worker_device` in one that can be killed.
template <class D>
concept device = requires(D& d, const kernel_text& text, tensor_arena& arena, const launch& how, const sequence& many, const measure_request& request) {
    { d.identify() } -> std::same_as<const identification&>;
    { d.compile(text) } -> std::same_as<result<compiled>>;
    { d.run(text, arena, how) } -> std::same_as<result<void>>;
    { d.run(many, arena) } -> std::same_as<result<void>>;
    { d.measure(request, arena) } -> std::same_as<result<measured>>;
};

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/sequence.ipp>
#endif
