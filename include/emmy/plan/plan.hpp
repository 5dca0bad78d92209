#pragma once
#include <emmy/core/digest.hpp>
#include <emmy/fork/schedule.hpp>
#include <emmy/kernel/text.hpp>
#include <emmy/plan/network.hpp>
#include <emmy/plan/packing.hpp>

#include <optional>

/// Executable plans: buffers, kernels with a row each, launches in order.
namespace emmy::plan {

/// One kernel under one row, as text.
struct planned_kernel {
    std::string name;
    digest128 identity;
    fork::knob_pairs row;            ///< every family the kernel has
    kernel::cpu_text text;
};

/// One execution of a kernel.
struct launch {
    std::uint32_t kernel = 0;                ///< place in executable::kernels()
    std::uint32_t node = 0;                  ///< place in the network
    std::vector<std::uint32_t> buffers;      ///< in the kernel's order, inputs then outputs; a view is its root; none: declared and never read
    std::vector<std::uint32_t> zeroed;       ///< buffers set to zero before it: sums that several members or kernels add to
    std::vector<std::uint32_t> symbols;      ///< places in executable::symbols(), in the order of the text's
};

/// Launches during which a buffer holds something that is still needed; first > last: never.
struct lifetime {
    std::uint32_t first = 1, last = 0;
    bool empty() const { return first > last; }
};

struct symbol {
    std::string name;
    std::int64_t hint = default_hint;
};

/// What is decided about one kernel of the network: its schedules on the target, and one of their rows (nothing: the first).
struct choice {
    const fork::cpu_schedules* schedules = nullptr;
    std::optional<fork::cpu_row> row = {};
};

/// A network whose every kernel has a row. Never changes after make(): any number of threads may use one.
class executable {
public:
    /// `chosen`: one a node; empty: every kernel's first row on `target`. Nodes of equal text share one kernel.
    /// Errors (input): kernels that wait for each other, a buffer that two kernels write or that nobody does, what a kernel's validation
    /// refuses; (device_limit): no lowering on the target; each names the kernel.
    EMMY_DECL static result<executable> make(network n, const fork::cpu_target& target, std::span<const choice> chosen = {});

    std::span<const plan::buffer> buffers() const { return network_.buffers; }
    std::span<const planned_kernel> kernels() const { return kernels_; }
    std::span<const launch> launches() const { return launches_; }   ///< in order
    std::span<const lifetime> lifetimes() const { return lifetimes_; }  ///< one a buffer; of workspaces only
    std::span<const plan::symbol> symbols() const { return symbols_; }
    std::span<const std::uint32_t> given() const { return given_; }  ///< the caller's buffers: inputs, constants, outputs, in the network's order
    const network& source() const { return network_; }

private:
    network network_;
    std::vector<planned_kernel> kernels_;
    std::vector<launch> launches_;
    std::vector<lifetime> lifetimes_;
    std::vector<plan::symbol> symbols_;
    std::vector<std::uint32_t> given_;
};

}  // namespace emmy::plan

#ifdef EMMY_HEADER_ONLY
#include <emmy/plan/impl/plan.ipp>
#endif
