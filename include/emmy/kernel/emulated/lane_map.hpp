#pragma once
#include <cstdint>

/// Which element of a matrix each lane's register part holds. One row each of `A` (row, step), `B` (column, step), `C` (row, column).
/// For the emulated device; what emits kernels keeps its own statement, and both are held against what a card does
/// (test/data/lane_maps/, made by bench/device/lane_maps).
namespace emmy::kernel::emulated {

/// A place in a matrix: (row, step) of A, (column, step) of B, (row, column) of C.
struct place {
    int major = 0, minor = 0;
    friend constexpr bool operator==(const place&, const place&) = default;
};

/// mma.m16n8k*: `element` counts the parts of a lane's registers, low bits first; `parts` elements share a 32-bit register
/// (1: tf32, 2: 16 bits, 4: 8 bits, 8: 4 bits). A: rows lane / 4 and eight below, then the same for the second half of the steps.
struct mma_16x8 {
    int parts;
    constexpr place a(int lane, int element) const {
        const int r = element / parts, p = element % parts;
        return {lane / 4 + 8 * (r & 1), parts * (lane % 4) + p + 4 * parts * (r >> 1)};
    }
    constexpr place b(int lane, int element) const {
        const int r = element / parts, p = element % parts;
        return {lane / 4, parts * (lane % 4) + p + 4 * parts * r};
    }
    /// f32 or f16 accumulators alike: element 0, 1 of row lane / 4, element 2, 3 of eight rows below.
    static constexpr place c(int lane, int element) { return {lane / 4 + 8 * (element >> 1), 2 * (lane % 4) + (element & 1)}; }
};

/// mma.m8n8k4: four products of 8 x 8 x 4 at once. Quad q of the lower half-warp and quad q of the upper one hold product q, four rows
/// (or columns) each. `group` is q.
struct mma_8x8x4 {
    bool a_columns, b_columns;  ///< the layout words of the instruction: row.col is {false, true}
    static constexpr int group(int lane) { return lane % 16 / 4; }
    constexpr place a(int lane, int element) const {
        const int half = 4 * (lane / 16);
        return a_columns ? place{element + half, lane % 4} : place{lane % 4 + half, element};
    }
    constexpr place b(int lane, int element) const {
        const int half = 4 * (lane / 16);
        return b_columns ? place{lane % 4 + half, element} : place{element + half, lane % 4};
    }
    static constexpr place c_f16(int lane, int element) { return {lane % 4 + 4 * (lane / 16), element}; }
    static constexpr place c_f32(int lane, int element) { return {(lane & 1) + (element & 2) + 4 * (lane / 16), (element & 4) + (lane & 2) + (element & 1)}; }
};

/// wgmma.m64n*k*: 128 threads, warp w holds rows 16 w and on.
struct wgmma_64 {
    int parts;
    constexpr place a(int thread, int element) const {
        const place in = mma_16x8{parts}.a(thread % 32, element);
        return {in.major + 16 * (thread / 32), in.minor};
    }
    static constexpr place c(int thread, int element) {
        const place in = mma_16x8::c(thread % 32, element % 4);
        return {in.major + 16 * (thread / 32), in.minor + 8 * (element / 4)};
    }
};

/// ldmatrix and stmatrix of 8 x 8 matrices of 16-bit elements: part `element` of a lane is one of row `major` (0 ... 8 N - 1: the row
/// whose address lane `major` gave), at `minor`.
constexpr place matrix_part(int lane, int element, bool transposed) {
    const int matrix = element / 2, p = element % 2;
    return transposed ? place{8 * matrix + 2 * (lane % 4) + p, lane / 4} : place{8 * matrix + lane / 4, 2 * (lane % 4) + p};
}

}  // namespace emmy::kernel::emulated
