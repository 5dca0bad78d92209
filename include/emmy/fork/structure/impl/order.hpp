#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::fork::structure {

/// A kernel in a set: the name of its first output, and the kernels whose buffers it reads. An output of the parent stands behind the
/// buffers that are named after it.
struct node {
    std::string id;
    std::vector<std::uint32_t> after{};
};
inline std::string node_id(std::string_view first_output, bool of_parent) { return std::string(first_output) + (of_parent ? "__~" : ""); }
/// Child order: every kernel after those it reads from; of those that are free to go, the least name first.
inline std::vector<std::uint32_t> child_order(const std::vector<node>& nodes) {
    std::vector<std::uint32_t> out;
    std::vector<bool> placed(nodes.size());
    while (out.size() < nodes.size()) {
        std::uint32_t next = static_cast<std::uint32_t>(nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            bool free = !placed[i];
            for (const std::uint32_t a : nodes[i].after) free = free && placed[a];
            if (free && (next == nodes.size() || nodes[i].id < nodes[next].id)) next = i;
        }
        if (next == nodes.size()) break;  // a cycle: the rest has no order
        placed[next] = true;
        out.push_back(next);
    }
    return out;
}

}  // namespace emmy::fork::structure
