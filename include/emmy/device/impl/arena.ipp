#pragma once
#include <emmy/device/arena.hpp>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::device {

namespace detail {
constexpr std::uint64_t arena_page = 4096, arena_bound = std::uint64_t(1) << 40;
}

EMMY_DECL result<tensor_arena> tensor_arena::map(int descriptor, std::vector<buffer_spec> buffers, bool fresh) {
    tensor_arena out;
    out.descriptor_ = descriptor;
    out.buffers_ = std::move(buffers);
    std::uint64_t end = 0;
    for (const buffer_spec& b : out.buffers_) {
        if (b.type == dtype::none || byte_size(b.type) == 0 || b.elements > detail::arena_bound || end > detail::arena_bound)
            return refuse(fault_kind::input, "buffers of more than 1 TiB, or of no element type");
        out.offsets_.push_back(end);
        end += (b.bytes() + detail::arena_page - 1) / detail::arena_page * detail::arena_page;
    }
    if (end > detail::arena_bound) return refuse(fault_kind::input, "buffers of " + std::to_string(end) + " bytes, expected at most 1 TiB");
    if (end == 0) end = detail::arena_page;
    if (fresh) {
        if (::ftruncate(descriptor, static_cast<off_t>(end)) != 0)
            return refuse(fault_kind::device, "no shared memory of " + std::to_string(end) + " bytes: " + std::strerror(errno));
    } else {
        struct stat facts{};
        if (::fstat(descriptor, &facts) != 0 || facts.st_size < 0 || static_cast<std::uint64_t>(facts.st_size) != end)
            return refuse(fault_kind::input, "a shared object of another size than its buffers need");
    }
    void* base = ::mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) return refuse(fault_kind::device, "cannot map " + std::to_string(end) + " bytes: " + std::strerror(errno));
    out.base_ = static_cast<std::byte*>(base);
    out.bytes_ = end;
    return out;
}

EMMY_DECL result<tensor_arena> tensor_arena::create(std::vector<buffer_spec> buffers) {
    const int descriptor = ::memfd_create("emmy-tensors", MFD_CLOEXEC);
    if (descriptor < 0) return refuse(fault_kind::device, std::string("no shared memory: ") + std::strerror(errno));
    return map(descriptor, std::move(buffers), true);
}

EMMY_DECL result<tensor_arena> tensor_arena::adopt(int descriptor, std::vector<buffer_spec> buffers) { return map(descriptor, std::move(buffers), false); }

EMMY_DECL tensor_arena::~tensor_arena() {
    if (base_) ::munmap(base_, bytes_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

EMMY_DECL void tensor_arena::poison_outputs() {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (buffers_[i].output && buffers_[i].elements) std::memset((*this)[i].data(), 0xff, (*this)[i].size());
}

}  // namespace emmy::device
