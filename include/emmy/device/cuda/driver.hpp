#pragma once
#include <emmy/core/result.hpp>
#include <emmy/device/concept.hpp>
#include <emmy/device/cuda/library.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>  // one indirect call per recorded graph
#include <memory>
#include <span>
#include <string>
#include <utility>

/// A card through its driver: memory, code, launches, graphs, clocks. The driver is found at run time.
namespace emmy::device::cuda {

namespace detail {
struct driver_functions;
}

using device_pointer = std::uint64_t;

/// Owner of something that the driver made; releases it in the context that made it. Movable.
class handle {
public:
    using release_t = void (*)(const detail::driver_functions&, void*);
    handle() = default;
    handle(std::shared_ptr<const detail::driver_functions> call, void* what, release_t release) : call_(std::move(call)), what_(what), release_(release) {}
    handle(handle&& other) noexcept { swap(other); }
    handle& operator=(handle&& other) noexcept {
        swap(other);
        return *this;
    }
    ~handle() {
        if (what_) release_(*call_, what_);
    }
    void* get() const { return what_; }
    explicit operator bool() const { return what_ != nullptr; }

private:
    void swap(handle& other) noexcept { std::swap(call_, other.call_), std::swap(what_, other.what_), std::swap(release_, other.release_); }
    std::shared_ptr<const detail::driver_functions> call_;
    void* what_ = nullptr;
    release_t release_ = nullptr;
};

/// Device memory.
struct memory {
    handle owner;
    std::uint64_t bytes = 0;
    device_pointer address() const { return reinterpret_cast<device_pointer>(owner.get()); }
};

/// One kernel of loaded machine code; keeps the code loaded.
struct function {
    std::shared_ptr<const handle> code;
    void* entry = nullptr;
    int registers = 0, local_bytes = 0, shared_bytes = 0, most_threads = 0;  ///< as the driver reports them
};

struct geometry {
    std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    bool dependent = false;  ///< may start before its predecessor ends (the text waits itself)
};

/// One launch: arguments are addresses of values, as the driver copies them.
struct launch_step {
    const cuda::function* function = nullptr;
    cuda::geometry geometry;
    std::span<void* const> arguments;
};

/// How a box of a tensor is copied (9.0). Innermost dimension first.
struct tensor_box {
    device_pointer base = 0;
    dtype type = dtype::f16;
    int dimensions = 2;
    std::uint64_t size[5] = {};    ///< elements
    std::uint64_t stride[5] = {};  ///< bytes; [0] is the element's
    std::uint32_t box[5] = {};     ///< elements, at most 256
    int swizzle = 0;               ///< bytes: 0, 32, 64, 128
};

/// Launches recorded once, replayed at the cost of one call.
struct graph {
    handle executable;
};

/// One card and its primary context, current in the thread that uses it (enter()). Errors of all functions (device): the driver's name of
/// the error and what was asked; a context that a kernel broke answers so to everything until the process ends: see healthy().
class context {
public:
    /// Errors (device): no driver (with what was looked for), no card, ordinal out of range.
    EMMY_DECL static result<context> open(int ordinal = 0);
    /// How many cards there are. Errors (device): no driver, or it cannot start.
    EMMY_DECL static result<int> count();

    EMMY_DECL const identification& identify() const;
    EMMY_DECL std::string driver_text() const;           ///< "580.159.04 (CUDA 13.0)" where the driver says so, else "CUDA 13.0"
    EMMY_DECL int multiprocessors() const;
    EMMY_DECL std::uint64_t cache_bytes() const;         ///< L2
    EMMY_DECL result<void> enter() const;                ///< makes it current in this thread

    EMMY_DECL result<memory> allocate(std::uint64_t bytes) const;
    EMMY_DECL result<void> upload(device_pointer to, std::span<const std::byte> from) const;
    EMMY_DECL result<void> download(std::span<std::byte> to, device_pointer from) const;
    EMMY_DECL result<void> fill(device_pointer to, std::uint8_t value, std::uint64_t bytes, void* stream = nullptr) const;

    /// Loads machine code and finds one kernel in it; allows it all of a block's shared memory when it asks for more than the default. Errors (device_limit): it does not load here.
    EMMY_DECL result<cuda::function> load(const std::string& cubin, const std::string& entry, std::uint32_t dynamic_shared_bytes = 0) const;

    /// The map of a box in device memory, for kernels that take a pointer to it. Errors (device_limit): no such map (alignment, sizes).
    EMMY_DECL result<memory> make_tensor_map(const tensor_box& box) const;

    EMMY_DECL result<handle> make_stream() const;
    EMMY_DECL result<handle> make_event() const;
    /// Errors (device_limit): the card cannot take that geometry.
    EMMY_DECL result<void> launch(const launch_step& step, void* stream = nullptr) const;
    EMMY_DECL result<void> record(const handle& event, void* stream = nullptr) const;
    EMMY_DECL result<void> wait(void* stream = nullptr) const;            ///< until the stream is done
    EMMY_DECL result<bool> done(const handle& event) const;               ///< without waiting
    EMMY_DECL result<double> elapsed_us(const handle& from, const handle& to) const;

    /// What `put` puts on the stream, as one graph.
    EMMY_DECL result<graph> capture(const std::function<result<void>(void*)>& put, void* stream) const;
    EMMY_DECL result<void> replay(const graph& recorded, void* stream) const;

    /// False once the context is broken (an illegal address, a trap): only a new process helps.
    EMMY_DECL bool healthy() const;

    struct state;

private:
    std::shared_ptr<state> state_;
};

}  // namespace emmy::device::cuda

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cuda_driver.ipp>
#endif
