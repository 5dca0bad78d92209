#pragma once
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/cpu/memory.hpp>
#include <emmy/plan/bind.hpp>

/// Plans run in this process.
namespace emmy::plan {

/// Memory of workspaces, kept between runs; grows to what a run needs. One run at a time.
class arena {
public:
    /// Errors (device): no memory.
    EMMY_DECL result<std::span<std::byte>> reserve(std::uint64_t bytes);
    std::uint64_t bytes() const { return bytes_; }  ///< the most a run has asked for so far

private:
    device::cpu::aligned_memory memory_;
    std::uint64_t bytes_ = 0;
};

struct run_options {
    int team = 1;
    bool fast_math = false;
    int optimisation = 3;
    bool poison = false;   ///< all bits of outputs and workspaces set first: what is read before it is written shows
};

/// Executes the plan once. `buffers`: one a place of plan.given(), in that order, of exactly the bytes that bind() tells; outputs are
/// written. The plan is only read, so threads may share it, each with a device and an arena of its own.
/// Errors: as bind(); (user): a buffer of another size; as the device's.
EMMY_DECL result<void> run(device::cpu::host_device& device, const executable& plan, std::span<const loop::symbol_size> sizes, std::span<const std::span<std::byte>> buffers, arena& memory,
                           const run_options& how = {});

/// What the outputs must hold, by the interpreter, kernel after kernel: bytes of each buffer that is an output, in the network's order.
/// `given`: of every input and constant, in that order; sizes of symbols stand in `how`. Errors: as the interpreter's, naming the kernel.
EMMY_DECL result<std::vector<std::vector<std::byte>>> interpret(const network& n, std::span<const std::span<const std::byte>> given, const loop::interpret_options& how = {});

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/run.ipp>
#endif
