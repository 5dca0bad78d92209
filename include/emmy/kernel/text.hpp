#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/ir.hpp>
#include <emmy/kernel/print_cpu.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// From (kernel, schedule row, target) to C++ text for the host compiler.
namespace emmy::loop {
struct symbol_size;
}

namespace emmy::kernel {

/// Number of this code generator: part of the producer "emmy-cpp/<n>" of every measurement. Raised whenever a row prints other text.
constexpr int codegen_version = 2;

/// Self-contained C++ (no header included) that defines
///   struct emmy_launch { void* const* buffers; const long long* sizes; unsigned char* scratch; int part, parts; void (*barrier)(void*); void* team; };
///   extern "C" void <entry>(const emmy_launch*)
/// called once per member of the team with part = 0 … parts-1. `buffers`: inputs then outputs in declared order, aligned to their
/// elements (streaming stores are used only where 64-byte alignment is found); `sizes`: values of `symbols` in order; `scratch`:
/// scratch_bytes(parts, sizes) bytes aligned to 64, shared by the team. `barrier` is called only when uses_barrier.
struct cpu_text {
    std::string source, entry;
    std::vector<std::string> symbols;
    std::vector<slab_size> shared_slabs, part_slabs;
    bool uses_barrier = false;
    /// `sizes`: the launch's, in the order of `symbols`.
    EMMY_DECL std::uint64_t scratch_bytes(int parts, std::span<const long long> sizes) const;
    /// Values of `symbols` for a launch: those given, else the kernel's hints. `k` is the kernel that was lowered.
    EMMY_DECL std::vector<long long> launch_sizes(const loop::kernel& k, std::span<const loop::symbol_size> given) const;
};

/// Prints the kernel under a row. The body is validated (by cpu_schedules::make). Errors: (input) an invalid body; (device_limit) "no CPU lowering for …"; a row that is not legal, with rule and bound.
EMMY_DECL result<cpu_text> lower_cpu(const loop::kernel& k, const fork::cpu_row& row, const fork::cpu_target& target);

/// The Kernel IR of a row, before a printer spells it.
EMMY_DECL result<program> lower_program(const fork::cpu_schedules& schedules, const fork::cpu_row& row);

/// The same after one validation and lift: for callers that print many rows of one kernel. Checks the row only.
EMMY_DECL result<cpu_text> lower_cpu(const fork::cpu_schedules& schedules, const fork::cpu_row& row);

}  // namespace emmy::kernel

#ifdef EMMY_HEADER_ONLY
#include <emmy/kernel/impl/text.ipp>
#endif
