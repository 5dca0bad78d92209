#pragma once
#include <emmy/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/mman.h>
#include <utility>

namespace emmy::device::cpu {

/// Private memory for one buffer: 64-byte aligned, huge pages asked for when it is large. Starts of successive buffers are
/// staggered by some cache lines so that equal strides of several buffers do not fall into one cache set.
class aligned_memory {
public:
    aligned_memory() = default;
    aligned_memory(std::size_t bytes, std::size_t ordinal) {
        constexpr std::size_t huge = std::size_t(2) << 20;
        stagger_ = (ordinal % 16) * 17 * 64;
        size_ = bytes;
        mapped_ = (bytes + stagger_ + 4096 + 4095) / 4096 * 4096;
        if (mapped_ >= huge) mapped_ = (mapped_ + huge - 1) / huge * huge + huge;
        void* base = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) {
            mapped_ = 0;
            return;
        }
        base_ = static_cast<std::byte*>(base);
        start_ = base_;
        if (mapped_ > huge) {
            const auto at = reinterpret_cast<std::uintptr_t>(base_);
            start_ = base_ + ((at + huge - 1) / huge * huge - at);
            ::madvise(start_, mapped_ - static_cast<std::size_t>(start_ - base_), MADV_HUGEPAGE);
        }
    }
    aligned_memory(aligned_memory&& o) noexcept { swap(o); }
    aligned_memory& operator=(aligned_memory&& o) noexcept { swap(o); return *this; }
    ~aligned_memory() {
        if (base_) ::munmap(base_, mapped_);
    }
    explicit operator bool() const { return base_ != nullptr; }
    std::byte* data() const { return start_ + stagger_; }
    std::span<std::byte> bytes() const { return {data(), size_}; }

private:
    void swap(aligned_memory& o) noexcept { std::swap(base_, o.base_), std::swap(start_, o.start_), std::swap(mapped_, o.mapped_), std::swap(stagger_, o.stagger_), std::swap(size_, o.size_); }
    std::byte *base_ = nullptr, *start_ = nullptr;
    std::size_t mapped_ = 0, stagger_ = 0, size_ = 0;
};

}  // namespace emmy::device::cpu
