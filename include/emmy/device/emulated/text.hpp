#pragma once
#include <emmy/device/emulated/machine.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::device::emulated {

/// CUDA kernel text (calls of dev::… only, kernel/cuda/prelude.hpp) built for the emulated machine and loaded into this process.
class loaded_text {
public:
    /// `body` defines `KERNEL name(…)`. `cache`: as for kernels of the processor. Errors: of the host compiler.
    EMMY_DECL static result<loaded_text> build(std::string_view body, std::string_view name, const std::string& cache = {});
    /// One launch; `arguments` point to the values, in order, as a driver takes them.
    EMMY_DECL result<outcome> run(const geometry& shape, std::span<void* const> arguments, std::span<const buffer_range> buffers, const settings& how = {}) const;

private:
    std::shared_ptr<void> library_;
    void* entry_ = nullptr;
};

}  // namespace emmy::device::emulated

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/emulated_text.ipp>
#endif
