#pragma once
#include <emmy/core/archive/chunk.hpp>
#include <emmy/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace emmy::archive {

/// Bytes that can be read at any place: a regular file, or a text in memory. Reading leaves the file's time stamps as they were where
/// the system lets us (owner of the file).
class byte_source {
public:
    /// Errors (input): absent, unreadable, not a regular file; the fault names it.
    EMMY_DECL static result<byte_source> open(const std::string& path);
    /// `name` stands for the file in faults.
    EMMY_DECL static byte_source of_bytes(std::string bytes, std::string name);

    /// A range of this one as a source of its own (bytes in memory are copied). Errors (input): outside; no descriptor left.
    EMMY_DECL result<byte_source> part(std::uint64_t at, std::uint64_t size, std::string name) const;

    byte_source(byte_source&& other) noexcept { swap(other); }
    byte_source& operator=(byte_source&& other) noexcept {
        swap(other);
        return *this;
    }
    EMMY_DECL ~byte_source();

    const std::string& name() const { return name_; }
    std::uint64_t size() const { return size_; }
    /// All of `into` or a fault (input): the place lies outside, the file was cut meanwhile, it cannot be read.
    EMMY_DECL result<void> read(std::uint64_t at, std::span<std::byte> into) const;
    /// A range in pieces of at most 256 KiB, in order.
    EMMY_DECL result<void> stream(std::uint64_t at, std::uint64_t size, const chunk_sink& sink) const;

private:
    byte_source() = default;
    void swap(byte_source& other) noexcept {
        std::swap(name_, other.name_), std::swap(bytes_, other.bytes_);
        std::swap(first_, other.first_), std::swap(size_, other.size_), std::swap(descriptor_, other.descriptor_);
    }
    std::string name_, bytes_;
    std::uint64_t first_ = 0;  // in the file
    std::uint64_t size_ = 0;
    int descriptor_ = -1;
};

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_source.ipp>
#endif
