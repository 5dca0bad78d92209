#pragma once
#include <emmy/device/cpu/device.hpp>
#include <emmy/device/cpu/toolchain.hpp>
#include <emmy/device/emulated/text.hpp>
#include <emmy/kernel/cuda/prelude.hpp>
#include <emmy/kernel/emulated/calls.hpp>

#include <dlfcn.h>

namespace emmy::device::emulated {

EMMY_DECL result<loaded_text> loaded_text::build(std::string_view body, std::string_view name, const std::string& cache) {
    EMMY_TRY(source, kernel::cuda::emulated_text(body, name));
    kernel_text text;
    text.source = std::move(source), text.entry = kernel::cuda::emulated_entry, text.optimisation = 1;  // it runs once: building it is what takes time
    static const identification host = cpu::host_device().identify();
    EMMY_TRY(object, cpu::compile_object(text, cache, host));
    void* library = ::dlopen(object.object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return refuse(fault_kind::device, "cannot load the kernel built for the emulated machine", {}, object.object);
    loaded_text out;
    out.library_ = std::shared_ptr<void>(library, [](void* what) { ::dlclose(what); });
    out.entry_ = ::dlsym(library, std::string(kernel::cuda::emulated_entry).c_str());
    if (!out.entry_) return refuse(fault_kind::internal, "the kernel built for the emulated machine has no entry", {}, object.object);
    return out;
}

EMMY_DECL result<outcome> loaded_text::run(const geometry& shape, std::span<void* const> arguments, std::span<const buffer_range> buffers, const settings& how) const {
    const auto entry = reinterpret_cast<void (*)(kernel::emulated::entry, void*, void* const*)>(entry_);
    return emulated::run([&](kernel::emulated::entry ask, void* self) { entry(ask, self, arguments.data()); }, shape, buffers, how);
}

}  // namespace emmy::device::emulated
