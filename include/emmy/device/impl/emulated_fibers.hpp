#pragma once
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <sys/mman.h>

/// Stacks of the threads of a cluster, used again by the next one.
namespace emmy::device::emulated::detail {

constexpr std::size_t stack_bytes = 256 * 1024;

class stack_pool {
public:
    explicit stack_pool(std::size_t count) : bytes_(count * stack_bytes) {
        void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        base_ = static_cast<std::byte*>(at);
    }
    ~stack_pool() { ::munmap(base_, bytes_); }
    stack_pool(const stack_pool&) = delete;
    stack_pool& operator=(const stack_pool&) = delete;
    boost::context::stack_context operator[](std::size_t i) const {
        boost::context::stack_context out;
        out.size = stack_bytes;
        out.sp = base_ + (i + 1) * stack_bytes;
        return out;
    }

private:
    std::size_t bytes_;
    std::byte* base_ = nullptr;
};

/// Gives a fiber its stack and takes nothing back: a thread that never ends (a deadlock) is forgotten, not unwound.
struct borrowed_stack {
    boost::context::stack_context which;
    boost::context::stack_context allocate() const { return which; }
    void deallocate(boost::context::stack_context&) const noexcept {}
};

}  // namespace emmy::device::emulated::detail
