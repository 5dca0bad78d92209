#pragma once
#include <emmy/evidence/cpu_forks.hpp>
#include <emmy/evidence/resolve.hpp>
#include <emmy/plan/plan.hpp>

/// Plans of what a compile decided.
namespace emmy::plan {

/// A network whose kernels are those that run.
struct decided_network {
    plan::network network;
    std::vector<std::uint32_t> leaves;   ///< per node: place in resolution::kernels
};

/// The kernels of `targets` (one a root of the resolution, same order) taken apart as decided, from the top. Errors (user): a decision whose
/// kernels are known by identity only; (input): kernels that do not meet, as network::replace().
EMMY_DECL result<decided_network> apply(network targets, const evidence::resolution& decided);

/// The same with the decided row of every kernel. `forks` is the source that the resolution came from. Errors besides: (device_limit) a kernel
/// without a schedule on this target, as the resolution says why.
EMMY_DECL result<executable> make_plan(network targets, const evidence::resolution& decided, const evidence::cpu_forks& forks, const fork::cpu_target& target);

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/decided.ipp>
#endif
