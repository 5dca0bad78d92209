#pragma once
#include <emmy/device/concept.hpp>
#include <emmy/device/cpu/identify.hpp>

#include <memory>
#include <span>
#include <string>

namespace emmy::device::cpu {

/// The processor, in this process: for a worker, for an engine, for tests. A kernel that hangs or crashes takes the process
/// with it; `worker_device` does not.
class host_device {
public:
    EMMY_DECL explicit host_device(std::string cache_directory = {});
    EMMY_DECL ~host_device();
    host_device(host_device&&) noexcept;
    host_device& operator=(host_device&&) noexcept;

    EMMY_DECL const identification& identify();
    EMMY_DECL result<compiled> compile(const kernel_text& text);
    EMMY_DECL result<void> run(const kernel_text& text, tensor_arena& arena, const launch& how);
    /// Outputs are poisoned once, before the first step.
    EMMY_DECL result<void> run(const sequence& what, tensor_arena& arena);
    /// The same over the caller's memory, which nothing but the steps writes. Compiled code is kept: a second run compiles and loads nothing.
    EMMY_DECL result<void> run(const sequence& what, std::span<const std::span<std::byte>> buffers);
    EMMY_DECL result<measured> measure(const measure_request& request, tensor_arena& arena);
    /// Measured on first use, then read from the cache directory.
    EMMY_DECL result<ceilings> measure_ceilings(int team);

private:
    struct state;
    std::unique_ptr<state> state_;
};
static_assert(device<host_device>);

}  // namespace emmy::device::cpu

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cpu_device.ipp>
#endif
