#pragma once
#include <emmy/core/result.hpp>
#include <emmy/loop/body.hpp>
#include <emmy/program/lower/lower.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// Fusion: the kernels of a lowered program. Kernels end only where correctness demands it; nothing here depends on a device, on cost or on size.
namespace emmy::loop {

/// Where the bytes of a kernel's input come from: an output of an earlier kernel of the program, or a node outside all of them.
struct port_source {
    static constexpr std::uint32_t outside = 0xffffffffu;
    std::uint32_t kernel = outside;                   ///< place in the list that fuse() gives; earlier than the reader's
    std::uint32_t output = 0;                         ///< of that kernel
    program::node_id node = program::no_node;         ///< outside: the `input` or `constant` node of the primitive graph
};

/// One kernel of a program.
struct formed {
    loop::kernel kernel;                     ///< body in normal form after the free axes were split and fused
    std::vector<port_source> inputs;         ///< one per kernel input, same order
    std::vector<program::node_id> outputs;   ///< one per kernel output: the node whose value it holds; no_node for the stacked states of a rolled recurrence
    std::vector<std::string> origins;        ///< ids of the traced program's nodes that the kernel computes, wholly or in part; sorted
};

/// Rules that bodies stored by older versions of the peer did not know. Both on: the form that every kernel has today.
struct fuse_options {
    bool unit_factors = true;  ///< v * exp(a - a), v / exp(a - a) → v - (a - a): attention over one key
    bool split_axes = true;    ///< a free axis read through both i / F and i % F becomes two
};

/// Kernels in launch order: every buffer is made before it is read. Each program output is an output of exactly one kernel (a program
/// output that is an input or a constant needs none).
/// Errors (input): a node kind or an operator that no kernel computes, ranks or coordinates that do not fit (the node is named);
/// (user): a region that grows beyond 256 times its nodes: a recurrence that no rule rolls.
EMMY_DECL result<std::vector<formed>> fuse(const program::primitive_graph& program, const fuse_options& options = {});

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/fuse/impl/fuse.ipp>
#endif
