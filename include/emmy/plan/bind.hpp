#pragma once
#include <emmy/device/arena.hpp>
#include <emmy/device/concept.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/plan/plan.hpp>

/// A plan at sizes: everything about memory is known before anything runs.
namespace emmy::plan {

/// Where one buffer lies.
struct placed {
    std::vector<std::int64_t> shape;
    std::uint64_t elements = 0, bytes = 0;
    std::uint64_t offset = 0;            ///< workspaces: in the arena
};

struct binding {
    std::vector<std::int64_t> sizes;     ///< of the plan's symbols
    std::vector<placed> buffers;         ///< one a buffer of the plan
    std::uint64_t arena_bytes = 0;       ///< all workspaces, by liveness: the peak
    std::uint64_t least_bytes = 0;       ///< no arena is smaller
    std::uint64_t unshared_bytes = 0;    ///< what the workspaces would take without reuse
    std::uint64_t scratch_bytes = 0;     ///< the most that one kernel asks for, beside the arena
    std::vector<std::vector<long long>> launch_sizes;  ///< per launch, in the order of its text's symbols
    int team = 1;
};

/// Symbols that `sizes` does not name have their hint. Errors (user): a size below 1 or of a symbol that the plan does not have; (input): a
/// shape that does not evaluate, a kernel whose buffer has another number of elements than the plan's, buffers of more than 1 TiB.
EMMY_DECL result<binding> bind(const executable& plan, std::span<const loop::symbol_size> sizes = {}, int team = 1);

/// The same with a place of its own for every workspace, so that all of them can be looked at after a run.
EMMY_DECL binding without_reuse(const executable& plan, const binding& at);

/// What a device runs: buffers are the caller's (plan.given()), then one of all workspaces.
EMMY_DECL device::sequence sequence_of(const executable& plan, const binding& at, bool fast_math = false, int optimisation = 3);

/// Buffers for a device: those of plan.given(), then the workspaces' (counted as an output: poisoned like one).
EMMY_DECL result<device::tensor_arena> make_arena(const executable& plan, const binding& at);

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/bind.ipp>
#endif
