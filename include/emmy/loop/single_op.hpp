#pragma once
#include <emmy/loop/body.hpp>
#include <emmy/program/graph.hpp>

#include <string>
#include <vector>

namespace emmy::loop {

/// Where the bytes of a kernel's input buffer come from.
struct kernel_port {
    enum class source : std::uint8_t {
        tensor,             ///< the program's `input` or constant node of this id, as it is
        transposed_tensor,  ///< the same with its two last axes swapped (weights are transposed when they are bound)
        literal             ///< one element: `value`
    };
    std::string buffer;     ///< name of the kernel's input
    source from = source::tensor;
    std::string node;       ///< id in the program
    double value = 0;
};

struct single_op_kernel {
    loop::kernel kernel;
    std::vector<kernel_port> ports;    ///< one per kernel input, same order
    std::vector<std::string> origins;  ///< the program's nodes that the kernel computes, sorted
};

/// The kernel of a program that holds one operator (matmul, linear, softmax, sum, mean, rms_norm, or a pointwise function with the
/// broadcasts of its operands), in the form that stored bodies have: names a0 in0 v0 acc0, products of f16 and bf16 at f32, the row-major
/// fusion of static free axes (`a0 / N`, `a0 % N`), extent-1 axes read at 0. Nodes that no output needs are ignored.
/// Errors (user): "no single-operator lowering for …" for any other program.
EMMY_DECL result<single_op_kernel> lower_single_op(const program::graph& g);

}  // namespace emmy::loop

#ifdef EMMY_HEADER_ONLY
#include <emmy/loop/impl/single_op.ipp>
#endif
