#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/dim.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/core/result.hpp>
#include <emmy/loop/body.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::fork {
struct kernel_set;
}
namespace emmy::loop {
struct formed;
}
namespace emmy::program {
struct primitive_graph;
}

/// Which kernels there are and what flows between them: what a plan is made of.
namespace emmy::plan {

constexpr std::uint32_t none = 0xffffffffu;

enum class role : std::uint8_t {
    input,      ///< given at every run
    constant,   ///< given, the same at every run
    workspace,  ///< made by one kernel, read by others, gone after the run
    output      ///< made by one kernel for the caller; kernels may read it too
};
constexpr std::string_view role_names[] = {"input", "constant", "workspace", "output"};
constexpr std::string_view name(role r) { return role_names[static_cast<std::size_t>(r)]; }

/// Row-major; `shape` in elements, over the network's symbols.
struct buffer {
    std::string name;
    dtype type = dtype::none;
    std::vector<dim> shape = {};
    plan::role role = role::workspace;
    /// The same bytes under another name and shape: this buffer has no memory of its own. A view that is an output is given the bytes of
    /// what it views after the last launch.
    std::uint32_t view_of = none;
    /// A constant that holds another one of the program transposed (its name): the same numbers as they are stored.
    std::string transposed_of = {};
};

/// One kernel and the buffers that it reads and writes, in the kernel's declared order.
struct node {
    std::shared_ptr<const loop::kernel> kernel;
    std::vector<std::uint32_t> inputs, outputs;
};

/// A value: kernels may be replaced by what a structural decision leaves of them. Buffers that the outside sees keep their order.
class network {
public:
    std::vector<plan::buffer> buffers;
    std::vector<node> nodes;
    text_pool names;   ///< of symbols
    expr_pool exprs;   ///< of sizes

    /// One kernel: its inputs and outputs are the network's.
    EMMY_DECL static network of(loop::kernel k);
    /// The kernels of a program. Buffers: its inputs, the constants that kernels read (also those that lowering made), its outputs,
    /// workspaces. A program output that is an input, a constant or an earlier output is a view of it, named `<id>__output`.
    EMMY_DECL static network of(const program::primitive_graph& program, std::span<const loop::formed> kernels);
    /// Kernels that meet by the names of their buffers, in any order. `outside` is the kernel they stand for: its inputs and outputs are the
    /// network's, everything else that one writes is a workspace. Errors (input) name kernel and buffer: an input that nobody writes and
    /// `outside` does not have; an output that two write, or nobody; a type that differs from the writer's.
    EMMY_DECL static result<network> of(const loop::kernel& outside, std::span<const loop::kernel> kernels);
    /// What an arm leaves of `parent`, whose buffers are the network's.
    EMMY_DECL static result<network> of(const loop::kernel& parent, const fork::kernel_set& set);

    /// nodes[at] becomes `kernels`, which meet by name, in this order; a workspace whose name is taken gets another. Errors as above.
    EMMY_DECL result<void> replace(std::uint32_t at, std::span<const loop::kernel> kernels);
    /// A relaid constant joins the buffers as one more constant.
    EMMY_DECL result<void> replace(std::uint32_t at, const fork::kernel_set& set);

    EMMY_DECL std::uint32_t find(std::string_view buffer) const;  ///< place in `buffers`, or none
    EMMY_DECL std::uint32_t root(std::uint32_t buffer) const;     ///< whose memory it is: itself, or what it is a view of
    EMMY_DECL dim import(const dim& d, const expr_pool& from, const text_pool& from_names);  ///< a size written elsewhere as one of the network's
};

/// Places of nodes in an order in which every buffer is written before it is read: as given where that is one. Reads that a kernel declares
/// and does not do do not count. Errors (input): kernels that wait for each other.
EMMY_DECL result<std::vector<std::uint32_t>> launch_order(const network& n);

/// Per input of a kernel: does any statement read it?
EMMY_DECL std::vector<bool> inputs_read(const loop::kernel& k);
/// Per output: is it a sum that has to start at zero (an atomic store)?
EMMY_DECL std::vector<bool> outputs_added(const loop::kernel& k);

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/network.ipp>
#endif
