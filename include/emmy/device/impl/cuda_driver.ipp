#pragma once
#include <emmy/core/card.hpp>
#include <emmy/core/file.hpp>
#include <emmy/device/cuda/driver.hpp>
#include <emmy/device/impl/cuda_functions.hpp>

namespace emmy::device::cuda {

struct context::state {
    std::shared_ptr<const detail::driver_functions> call;
    int device = 0, multiprocessors = 0;
    std::uint64_t l2 = 0;
    void* primary = nullptr;
    identification identity;
    std::string driver;
    ~state() {
        if (primary) call->primary_release(device);
    }
};

namespace detail {

/// The driver, started once a process.
inline const result<std::shared_ptr<const driver_functions>>& the_driver() {
    static const auto driver = []() -> result<std::shared_ptr<const driver_functions>> {
        EMMY_TRY(library, shared_library::open("CUDA driver", {"libcuda.so.1"}));
        auto call = std::make_shared<driver_functions>();
        if (const char* missing = call->take(library)) return refuse(fault_kind::device, std::string("found a driver without ") + missing + ", expected one for CUDA 12 or later", {}, library.path());
        if (const status code = call->init(0); code != 0) return refuse(fault_kind::device, "the CUDA driver does not start: " + call->describe(code), {}, library.path());
        return std::shared_ptr<const driver_functions>(std::move(call));
    }();
    return driver;
}

/// "580.159.04" from what the kernel module says; empty where it says nothing.
inline std::string module_version() {
    const auto text = read_file("/proc/driver/nvidia/version");
    if (!text) return {};
    std::string word;
    for (std::size_t i = 0; i <= text->size(); ++i) {
        const char c = i < text->size() ? (*text)[i] : '\n';
        if ((c >= '0' && c <= '9') || c == '.') {
            word += c;
            continue;
        }
        if (word.find('.') != std::string::npos && word.find('.') >= 3) return word;
        word.clear();
    }
    return {};
}

inline tl::unexpected<fault> failed(const driver_functions& call, status code, std::string what, fault_kind kind = fault_kind::device) {
    return refuse(kind, "found " + call.describe(code) + ", expected to " + std::move(what));
}

}  // namespace detail

EMMY_DECL result<int> context::count() {
    const auto& driver = detail::the_driver();
    if (!driver) return refuse(driver.error());
    int out = 0;
    if (const auto code = (*driver)->device_count(&out); code != 0) return detail::failed(**driver, code, "count the cards");
    return out;
}

EMMY_DECL result<context> context::open(int ordinal) {
    EMMY_TRY(cards, count());
    const auto& call = *detail::the_driver();
    if (cards == 0) return refuse(fault_kind::device, "the CUDA driver sees no card");
    if (ordinal < 0 || ordinal >= cards) return refuse(fault_kind::device, "found card " + std::to_string(ordinal) + ", expected 0 to " + std::to_string(cards - 1));
    auto made = std::make_shared<state>();
    made->call = call;
    char name[256] = {};
    int major = 0, minor = 0, l2 = 0, version = 0;
    if (const auto code = call->device_get(&made->device, ordinal); code != 0) return detail::failed(*call, code, "take card " + std::to_string(ordinal));
    call->device_name(name, sizeof name - 1, made->device);
    call->device_attribute(&major, detail::capability_major, made->device);
    call->device_attribute(&minor, detail::capability_minor, made->device);
    call->device_attribute(&made->multiprocessors, detail::sms, made->device);
    call->device_attribute(&l2, detail::l2_size, made->device);
    call->driver_version(&version);
    if (const auto code = call->primary_retain(&made->primary, made->device); code != 0) return detail::failed(*call, code, "open a context on " + std::string(name));
    made->l2 = static_cast<std::uint64_t>(l2);
    const std::string cuda_version = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10), module = detail::module_version();
    made->driver = module.empty() ? cuda_version : module + " (" + cuda_version + ")";
    made->identity.card = canonical_card_name(name);
    made->identity.backend = "cuda";
    made->identity.compute_cap = {major, minor};
    made->identity.isa = target_text({static_cast<std::uint16_t>(major), static_cast<std::uint16_t>(minor)}).view();
    made->identity.features = made->driver;
    made->identity.limits = {made->multiprocessors, 128, 0, made->l2, 0};
    context out;
    out.state_ = std::move(made);
    EMMY_CHECK_OK(out.enter());
    return out;
}

EMMY_DECL const identification& context::identify() const { return state_->identity; }
EMMY_DECL std::string context::driver_text() const { return state_->driver; }
EMMY_DECL int context::multiprocessors() const { return state_->multiprocessors; }
EMMY_DECL std::uint64_t context::cache_bytes() const { return state_->l2; }

EMMY_DECL result<void> context::enter() const {
    if (const auto code = state_->call->set_current(state_->primary); code != 0) return detail::failed(*state_->call, code, "enter the context");
    return {};
}

EMMY_DECL result<memory> context::allocate(std::uint64_t bytes) const {
    std::uint64_t address = 0;
    if (const auto code = state_->call->allocate(&address, bytes == 0 ? 1 : bytes); code != 0) return detail::failed(*state_->call, code, "take " + std::to_string(bytes) + " bytes of the card's memory");
    return memory{handle(state_->call, reinterpret_cast<void*>(address), [](const detail::driver_functions& call, void* what) { call.free(reinterpret_cast<std::uint64_t>(what)); }), bytes};
}

EMMY_DECL result<void> context::upload(device_pointer to, std::span<const std::byte> from) const {
    if (from.empty()) return {};
    if (const auto code = state_->call->upload(to, from.data(), from.size()); code != 0) return detail::failed(*state_->call, code, "copy " + std::to_string(from.size()) + " bytes to the card");
    return {};
}

EMMY_DECL result<void> context::download(std::span<std::byte> to, device_pointer from) const {
    if (to.empty()) return {};
    if (const auto code = state_->call->download(to.data(), from, to.size()); code != 0) return detail::failed(*state_->call, code, "copy " + std::to_string(to.size()) + " bytes from the card");
    return {};
}

EMMY_DECL result<void> context::fill(device_pointer to, std::uint8_t value, std::uint64_t bytes, void* stream) const {
    if (bytes == 0) return {};
    if (const auto code = state_->call->fill(to, value, bytes, stream); code != 0) return detail::failed(*state_->call, code, "fill " + std::to_string(bytes) + " bytes");
    return {};
}

EMMY_DECL result<cuda::function> context::load(const std::string& cubin, const std::string& entry, std::uint32_t dynamic_shared_bytes) const {
    const detail::driver_functions& call = *state_->call;
    void* code_handle = nullptr;
    if (const auto code = call.load_code(&code_handle, cubin.data()); code != 0) return detail::failed(call, code, "load the machine code of " + entry, fault_kind::device_limit);
    cuda::function out;
    out.code = std::make_shared<const handle>(state_->call, code_handle, [](const detail::driver_functions& c, void* what) { c.unload_code(what); });
    if (const auto code = call.find_function(&out.entry, code_handle, entry.c_str()); code != 0) return detail::failed(call, code, "find the kernel " + entry, fault_kind::device_limit);
    call.function_attribute(&out.registers, detail::function_registers, out.entry);
    call.function_attribute(&out.local_bytes, detail::function_local, out.entry);
    call.function_attribute(&out.shared_bytes, detail::function_shared, out.entry);
    call.function_attribute(&out.most_threads, detail::function_most_threads, out.entry);
    if (dynamic_shared_bytes + static_cast<std::uint32_t>(out.shared_bytes) > 49152)
        if (const auto code = call.set_function_attribute(out.entry, detail::function_dynamic_shared, static_cast<int>(dynamic_shared_bytes)); code != 0)
            return detail::failed(call, code, "give " + entry + " " + std::to_string(dynamic_shared_bytes) + " bytes of shared memory", fault_kind::device_limit);
    return out;
}

EMMY_DECL result<memory> context::make_tensor_map(const tensor_box& box) const {
    // What the driver calls the types of elements of 1, 2 and 4 bytes; floating ones decide how zeros outside look, which is the same.
    constexpr int u8 = 0, u16 = 1, u32 = 2, f16 = 6, f32 = 7, bf16 = 9;
    const auto bytes = byte_size(box.type);
    const int type = box.type == dtype::f16 ? f16 : box.type == dtype::bf16 ? bf16 : box.type == dtype::f32 ? f32 : bytes == 1 ? u8 : bytes == 2 ? u16 : u32;
    const int swizzle = box.swizzle == 128 ? 3 : box.swizzle == 64 ? 2 : box.swizzle == 32 ? 1 : 0;
    constexpr std::uint32_t steps[5] = {1, 1, 1, 1, 1};
    constexpr int promote_128_bytes = 2;
    alignas(64) std::byte map[128];
    if (const auto code = state_->call->encode_map(map, type, static_cast<std::uint32_t>(box.dimensions), reinterpret_cast<void*>(box.base), box.size, box.stride + 1, box.box, steps, 0, swizzle, promote_128_bytes, 0); code != 0)
        return detail::failed(*state_->call, code, "describe a box of " + std::to_string(box.dimensions) + " dimensions", fault_kind::device_limit);
    EMMY_TRY(out, allocate(sizeof map));
    EMMY_CHECK_OK(upload(out.address(), map));
    return std::move(out);
}

EMMY_DECL result<handle> context::make_stream() const {
    void* made = nullptr;
    if (const auto code = state_->call->stream_create(&made, 1 /* independent of the default stream */); code != 0) return detail::failed(*state_->call, code, "make a stream");
    return handle(state_->call, made, [](const detail::driver_functions& call, void* what) { call.stream_destroy(what); });
}

EMMY_DECL result<handle> context::make_event() const {
    void* made = nullptr;
    if (const auto code = state_->call->event_create(&made, 0); code != 0) return detail::failed(*state_->call, code, "make an event");
    return handle(state_->call, made, [](const detail::driver_functions& call, void* what) { call.event_destroy(what); });
}

EMMY_DECL result<void> context::launch(const launch_step& step, void* stream) const {
    detail::launch_attribute attributes[2];
    const geometry& g = step.geometry;
    detail::launch_config config{{g.grid[0], g.grid[1], g.grid[2]}, {g.block[0], g.block[1], g.block[2]}, g.dynamic_shared_bytes, stream, attributes, 0};
    if (g.cluster[0] * g.cluster[1] * g.cluster[2] > 1) {
        attributes[config.count].id = detail::attribute_cluster;
        attributes[config.count++].value.cluster = {g.cluster[0], g.cluster[1], g.cluster[2]};
    }
    if (g.dependent) {
        attributes[config.count].id = detail::attribute_dependent;
        attributes[config.count++].value.flag = 1;
    }
    if (const auto code = state_->call->launch(&config, step.function->entry, const_cast<void**>(step.arguments.data()), nullptr); code != 0)
        return detail::failed(*state_->call, code, "launch " + std::to_string(g.grid[0]) + " x " + std::to_string(g.grid[1]) + " x " + std::to_string(g.grid[2]) + " blocks of " +
                                                       std::to_string(g.block[0] * g.block[1] * g.block[2]) + " threads with " + std::to_string(g.dynamic_shared_bytes) + " bytes of shared memory",
                              code == 1 || code == 701 ? fault_kind::device_limit : fault_kind::device);
    return {};
}

EMMY_DECL result<void> context::record(const handle& event, void* stream) const {
    if (const auto code = state_->call->event_record(event.get(), stream); code != 0) return detail::failed(*state_->call, code, "record an event");
    return {};
}

EMMY_DECL result<void> context::wait(void* stream) const {
    if (const auto code = state_->call->stream_wait(stream); code != 0) return detail::failed(*state_->call, code, "finish the launches");
    return {};
}

EMMY_DECL result<bool> context::done(const handle& event) const {
    const auto code = state_->call->event_query(event.get());
    if (code != 0 && code != detail::not_ready) return detail::failed(*state_->call, code, "finish the launches");
    return code == 0;
}

EMMY_DECL result<double> context::elapsed_us(const handle& from, const handle& to) const {
    float ms = 0;
    if (const auto code = state_->call->event_elapsed(&ms, from.get(), to.get()); code != 0) return detail::failed(*state_->call, code, "read a time");
    return double{ms} * 1000.0;
}

EMMY_DECL result<graph> context::capture(const std::function<result<void>(void*)>& put, void* stream) const {
    const detail::driver_functions& call = *state_->call;
    if (const auto code = call.capture_begin(stream, 1 /* this thread's calls */); code != 0) return detail::failed(call, code, "begin a graph");
    const result<void> all = put(stream);
    void *recorded = nullptr, *executable = nullptr;
    const auto ended = call.capture_end(stream, &recorded);
    if (!all) {
        if (recorded) call.graph_destroy(recorded);
        return refuse(all.error());
    }
    if (ended != 0) return detail::failed(call, ended, "end a graph");
    const auto made = call.graph_instantiate(&executable, recorded, 0);
    call.graph_destroy(recorded);
    if (made != 0) return detail::failed(call, made, "make a graph executable");
    return graph{handle(state_->call, executable, [](const detail::driver_functions& c, void* what) { c.graph_exec_destroy(what); })};
}

EMMY_DECL result<void> context::replay(const graph& recorded, void* stream) const {
    if (const auto code = state_->call->graph_launch(recorded.executable.get(), stream); code != 0) return detail::failed(*state_->call, code, "replay a graph");
    return {};
}

EMMY_DECL bool context::healthy() const { return state_->call->synchronize() == 0; }

}  // namespace emmy::device::cuda
