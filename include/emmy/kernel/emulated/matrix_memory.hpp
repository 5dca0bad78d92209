#pragma once
#include <cstdint>

/// How matrices lie in shared memory: the swizzle that tensor copies write and matrix instructions read, and what a wgmma descriptor means.
namespace emmy::kernel::emulated {

/// Width in bytes: 0 (none), 32, 64 or 128. Exchanges 16-byte pieces within the width, by the address itself: bits 4.. with bits 7...
constexpr std::uint32_t swizzled(std::uint32_t address, std::uint32_t width) { return width == 0 ? address : address ^ (address >> 3 & (width - 1) & 0x70u); }

/// The fields of a 64-bit matrix descriptor, in bytes.
struct matrix_descriptor {
    std::uint32_t start = 0, leading = 0, stride = 0, swizzle = 0;
    constexpr std::uint64_t encode() const {
        const std::uint64_t code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
        return (start >> 4 & 0x3fffu) | std::uint64_t{leading >> 4 & 0x3fffu} << 16 | std::uint64_t{stride >> 4 & 0x3fffu} << 32 | code << 62;
    }
    static constexpr matrix_descriptor decode(std::uint64_t bits) {
        constexpr std::uint32_t widths[] = {0, 128, 64, 32};
        return {static_cast<std::uint32_t>(bits & 0x3fff) << 4, static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4, static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4, widths[bits >> 62]};
    }

    /// Address of element (outer, step) of an operand whose steps are adjacent ("K-major"): rows of one swizzle width, eight to a group,
    /// groups `stride` apart; without swizzle rows of 16 bytes, the next 16 bytes of a row `leading` further. `bytes` of an element.
    constexpr std::uint32_t steps_adjacent(std::uint32_t outer, std::uint32_t step, std::uint32_t bytes) const {
        const std::uint32_t along = step * bytes;
        if (swizzle == 0) return start + outer / 8 * stride + outer % 8 * 16 + along / 16 * leading + along % 16;
        return swizzled(start + outer / 8 * stride + outer % 8 * swizzle + along, swizzle);
    }
    /// … whose rows (or columns) are adjacent ("MN-major", 16-bit elements): as many as fill the width, eight steps below each other; `leading`
    /// to the next of them, `stride` to the next eight steps. Without swizzle the two change places.
    constexpr std::uint32_t outer_adjacent(std::uint32_t outer, std::uint32_t step) const {
        const std::uint32_t width = swizzle == 0 ? 16 : swizzle, along = outer * 2;
        const std::uint32_t next = swizzle == 0 ? stride : leading, below = swizzle == 0 ? leading : stride;
        return swizzled(start + along / width * next + step / 8 * below + step % 8 * width + along % width, swizzle);
    }
};

}  // namespace emmy::kernel::emulated
