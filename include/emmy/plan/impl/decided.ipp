#pragma once
#include <emmy/fork/structure/kernel_set.hpp>
#include <emmy/plan/decided.hpp>

namespace emmy::plan {

EMMY_DECL result<decided_network> apply(network targets, const evidence::resolution& decided) {
    if (decided.roots.size() != targets.nodes.size()) return refuse(fault_kind::internal, "found " + std::to_string(decided.roots.size()) + " decided targets for " + std::to_string(targets.nodes.size()) + " kernels");
    decided_network out{std::move(targets), decided.roots};
    for (std::uint32_t at = 0; at < out.network.nodes.size();) {
        const evidence::resolved_kernel& k = decided.kernels[out.leaves[at]];
        if (k.children.empty()) {
            ++at;
            continue;
        }
        if (!k.set || k.set->pieces.size() != k.children.size()) return refuse(fault_kind::user, "found a decision whose kernels are known by identity only, expected bodies to run", k.what.name);
        EMMY_CHECK_OK(out.network.replace(at, *k.set));
        out.leaves.erase(out.leaves.begin() + at);
        out.leaves.insert(out.leaves.begin() + at, k.children.begin(), k.children.end());
    }
    return out;
}

EMMY_DECL result<executable> make_plan(network targets, const evidence::resolution& decided, const evidence::cpu_forks& forks, const fork::cpu_target& target) {
    EMMY_TRY(made, apply(std::move(targets), decided));
    std::vector<choice> chosen;
    for (const std::uint32_t leaf : made.leaves) {
        const evidence::resolved_kernel& k = decided.kernels[leaf];
        const fork::cpu_schedules* schedules = forks.schedules_of(k.what);
        if (!k.refused.empty() || !schedules || !k.schedule) return refuse(fault_kind::device_limit, k.refused.empty() ? "found no schedule of it on this target, expected one" : k.refused, k.what.name);
        EMMY_TRY(row, schedules->row(k.schedule->chosen));
        chosen.push_back({schedules, row});
    }
    return executable::make(std::move(made.network), target, chosen);
}

}  // namespace emmy::plan
