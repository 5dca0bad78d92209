#pragma once
#include <emmy/device/emulated/machine.hpp>
#include <emmy/device/impl/emulated_cluster.hpp>

namespace emmy::device::emulated {

EMMY_DECL result<outcome> run(const kernel_function& what, const geometry& shape, std::span<const buffer_range> buffers, const settings& how) {
    if (shape.threads == 0 || shape.threads > 1024 || shape.cluster == 0 || shape.cluster > 16 || shape.blocks % shape.cluster != 0 || shape.shared_bytes > (1u << 20))
        return refuse(fault_kind::device, "found a launch of " + std::to_string(shape.blocks) + " blocks of " + std::to_string(shape.threads) + " threads in clusters of " + std::to_string(shape.cluster) + " with " +
                                              std::to_string(shape.shared_bytes) + " bytes of shared memory, expected at most 1024 threads and whole clusters of at most 16 blocks");
    outcome out;
    detail::stack_pool stacks(std::size_t{shape.threads} * shape.cluster);
    for (std::uint32_t first = 0; first < shape.blocks; first += shape.cluster) {
        detail::cluster one(what, shape, buffers, how, first, stacks, out);
        one.run();
        if (out.switches > how.most_switches) return refuse(fault_kind::internal, "the kernel did not end within " + std::to_string(how.most_switches) + " switches between threads");
    }
    return out;
}

}  // namespace emmy::device::emulated
