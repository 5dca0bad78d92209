#pragma once
#include <emmy/core/archive/source.hpp>
#include <emmy/core/impl/file.ipp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::archive {

namespace detail {
constexpr std::uint64_t chunk_bytes = 256u << 10;  // stays in the second cache between read and checksum

/// Read only; without touching the access time where that is allowed. A FIFO does not hold us up.
inline int open_quietly(const char* path, int also) {
#ifdef O_NOATIME
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOATIME | also);
    if (fd >= 0 || errno != EPERM) return fd;
#endif
    return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | also);
}
}  // namespace detail

EMMY_DECL result<byte_source> byte_source::open(const std::string& path) {
    byte_source out;
    out.name_ = path;
    out.descriptor_ = detail::open_quietly(path.c_str(), 0);
    if (out.descriptor_ < 0) return emmy::detail::refuse_errno("cannot open", path);
    struct stat facts {};
    if (::fstat(out.descriptor_, &facts) != 0) return emmy::detail::refuse_errno("cannot stat", path);
    if (!S_ISREG(facts.st_mode)) return refuse(fault_kind::input, S_ISDIR(facts.st_mode) ? "found a directory, expected a file" : "found something that is not a regular file, expected one", {}, path);
    out.size_ = static_cast<std::uint64_t>(facts.st_size);
    return out;
}

EMMY_DECL byte_source byte_source::of_bytes(std::string bytes, std::string name) {
    byte_source out;
    out.bytes_ = std::move(bytes), out.name_ = std::move(name);
    out.size_ = out.bytes_.size();
    return out;
}

EMMY_DECL result<byte_source> byte_source::part(std::uint64_t at, std::uint64_t size, std::string name) const {
    if (at > size_ || size > size_ - at)
        return refuse(fault_kind::input, "found " + std::to_string(size_) + " bytes, expected " + std::to_string(size) + " at " + std::to_string(at), {}, name_);
    if (descriptor_ < 0) return of_bytes(bytes_.substr(at, size), std::move(name));
    byte_source out;
    out.name_ = std::move(name), out.first_ = first_ + at, out.size_ = size;
    out.descriptor_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (out.descriptor_ < 0) return emmy::detail::refuse_errno("cannot open", name_);
    return out;
}

EMMY_DECL byte_source::~byte_source() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

EMMY_DECL result<void> byte_source::read(std::uint64_t at, std::span<std::byte> into) const {
    if (at > size_ || into.size() > size_ - at)
        return refuse(fault_kind::input, "found " + std::to_string(size_) + " bytes, expected " + std::to_string(into.size()) + " more at " + std::to_string(at), {}, name_);
    if (descriptor_ < 0) {
        if (!into.empty()) std::memcpy(into.data(), bytes_.data() + at, into.size());
        return {};
    }
    for (std::size_t done = 0; done < into.size();) {
        const ssize_t got = ::pread(descriptor_, into.data() + done, into.size() - done, static_cast<off_t>(first_ + at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return emmy::detail::refuse_errno("cannot read", name_);
        if (got == 0) return refuse(fault_kind::input, "the file was cut while it was read", {}, name_);
        done += static_cast<std::size_t>(got);
    }
    return {};
}

EMMY_DECL result<void> byte_source::stream(std::uint64_t at, std::uint64_t size, const chunk_sink& sink) const {
    if (descriptor_ < 0 && at <= size_ && size <= size_ - at) return size == 0 ? result<void>() : sink(as_bytes({bytes_.data() + at, size}));
    std::vector<std::byte> chunk(std::min(size, detail::chunk_bytes));
    while (size > 0) {
        const std::span<std::byte> part(chunk.data(), std::min(size, detail::chunk_bytes));
        EMMY_CHECK_OK(read(at, part));
        EMMY_CHECK_OK(sink(part));
        at += part.size(), size -= part.size();
    }
    return {};
}

}  // namespace emmy::archive
