#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/dtype.hpp>
#include <emmy/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace emmy::device {

/// One buffer of a kernel as a device sees it.
struct buffer_spec {
    dtype type = dtype::f32;
    std::uint64_t elements = 0;           ///< stored elements
    bool output = false;
    std::uint64_t bytes() const { return elements * byte_size(type); }
    friend bool operator==(const buffer_spec&, const buffer_spec&) = default;
};

/// The buffers of one kernel (inputs then outputs) in one anonymous shared memory object, so that another process can be
/// given them by descriptor. Every buffer starts on a page. Sizes are bounded (1 TiB in all), contents start as zeros.
class tensor_arena {
public:
    tensor_arena() = default;
    /// Errors (input): too large; (device): no memory.
    EMMY_DECL static result<tensor_arena> create(std::vector<buffer_spec> buffers);
    /// Takes over a descriptor received from elsewhere; its size must be what `buffers` need.
    EMMY_DECL static result<tensor_arena> adopt(int descriptor, std::vector<buffer_spec> buffers);
    tensor_arena(tensor_arena&& other) noexcept { swap(other); }
    tensor_arena& operator=(tensor_arena&& other) noexcept { swap(other); return *this; }
    EMMY_DECL ~tensor_arena();

    std::size_t size() const { return buffers_.size(); }
    const std::vector<buffer_spec>& buffers() const { return buffers_; }
    const buffer_spec& spec(std::size_t i) const { return buffers_[i]; }
    std::span<std::byte> operator[](std::size_t i) { return {base_ + offsets_[i], static_cast<std::size_t>(buffers_[i].bytes())}; }
    std::span<const std::byte> operator[](std::size_t i) const { return {base_ + offsets_[i], static_cast<std::size_t>(buffers_[i].bytes())}; }
    int descriptor() const { return descriptor_; }
    std::uint64_t total_bytes() const { return bytes_; }
    std::uint64_t read_bytes() const;     ///< of all inputs, each once
    std::uint64_t write_bytes() const;    ///< of all outputs, each once

    /// All bits of every output set: a cell that a kernel does not write cannot look like an answer (f32: a NaN).
    EMMY_DECL void poison_outputs();

private:
    EMMY_DECL static result<tensor_arena> map(int descriptor, std::vector<buffer_spec> buffers, bool fresh);
    void swap(tensor_arena& other) noexcept {
        std::swap(buffers_, other.buffers_), std::swap(offsets_, other.offsets_), std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_), std::swap(descriptor_, other.descriptor_);
    }
    std::vector<buffer_spec> buffers_;
    std::vector<std::uint64_t> offsets_;
    std::byte* base_ = nullptr;
    std::uint64_t bytes_ = 0;
    int descriptor_ = -1;
};

inline std::uint64_t tensor_arena::read_bytes() const {
    std::uint64_t sum = 0;
    for (const buffer_spec& b : buffers_) sum += b.output ? 0 : b.bytes();
    return sum;
}
inline std::uint64_t tensor_arena::write_bytes() const {
    std::uint64_t sum = 0;
    for (const buffer_spec& b : buffers_) sum += b.output ? b.bytes() : 0;
    return sum;
}

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/arena.ipp>
#endif
