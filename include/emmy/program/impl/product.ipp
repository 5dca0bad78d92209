#pragma once
#include <emmy/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

/// Products of matrices in double, fast enough that a check of a 1024 x 1024 product takes a fraction of a second.
namespace emmy::program::detail {

constexpr std::int64_t product_rows = 4, product_columns = 8, product_depth = 256;

/// Four doubles of a row: spelled out, since compilers leave the plain loops below in memory.
using four_doubles [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;

/// C[4,8] += A[4,depth] * panel[depth,8]; A rows `a_stride` apart, C rows `c_stride` apart.
[[gnu::always_inline]] inline void product_block(const double* a, std::int64_t a_stride, const double* panel, double* c, std::int64_t c_stride, std::int64_t depth) {
    four_doubles sum[product_rows][2];
    for (int i = 0; i < product_rows; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] = *reinterpret_cast<const four_doubles*>(c + i * c_stride + 4 * j);
    for (std::int64_t k = 0; k < depth; ++k) {
        const four_doubles low = *reinterpret_cast<const four_doubles*>(panel + k * product_columns), high = *reinterpret_cast<const four_doubles*>(panel + k * product_columns + 4);
#pragma GCC unroll 4
        for (int i = 0; i < product_rows; ++i) {
            const double x = a[i * a_stride + k];
            sum[i][0] += x * low;
            sum[i][1] += x * high;
        }
    }
    for (int i = 0; i < product_rows; ++i)
        for (int j = 0; j < 2; ++j) *reinterpret_cast<four_doubles*>(c + i * c_stride + 4 * j) = sum[i][j];
}
using product_block_function = void (*)(const double*, std::int64_t, const double*, double*, std::int64_t, std::int64_t);
inline void product_block_plain(const double* a, std::int64_t a_stride, const double* panel, double* c, std::int64_t c_stride, std::int64_t depth) {
    product_block(a, a_stride, panel, c, c_stride, depth);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] inline void product_block_wide(const double* a, std::int64_t a_stride, const double* panel, double* c, std::int64_t c_stride, std::int64_t depth) {
    product_block(a, a_stride, panel, c, c_stride, depth);
}
#endif
inline product_block_function best_product_block() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return product_block_wide;
#endif
    return product_block_plain;
}

/// C[m,n] = A[m,k] * B[k,n], all row-major; `b_transposed`: B is given as [n,k].
inline void product(const double* a, const double* b, double* c, std::int64_t m, std::int64_t n, std::int64_t k, bool b_transposed) {
    const product_block_function block = best_product_block();
    std::fill(c, c + m * n, 0.0);
    std::vector<double> panel(static_cast<std::size_t>(product_depth * product_columns));
    std::vector<double> corner(static_cast<std::size_t>(product_rows * product_columns)), rows(static_cast<std::size_t>(product_rows * product_depth));
    for (std::int64_t j = 0; j < n; j += product_columns)
        for (std::int64_t p = 0; p < k; p += product_depth) {
            const std::int64_t depth = std::min(product_depth, k - p), width = std::min(product_columns, n - j);
            for (std::int64_t x = 0; x < depth; ++x)
                for (std::int64_t y = 0; y < product_columns; ++y)
                    panel[static_cast<std::size_t>(x * product_columns + y)] = y >= width ? 0 : b_transposed ? b[(j + y) * k + p + x] : b[(p + x) * n + j + y];
            std::int64_t i = 0;
            if (width == product_columns)
                for (; i + product_rows <= m; i += product_rows) block(a + i * k + p, k, panel.data(), c + i * n + j, n, depth);
            for (; i < m; i += product_rows) {  // edges: through copies padded with zeros
                const std::int64_t height = std::min(product_rows, m - i);
                std::fill(rows.begin(), rows.end(), 0.0);
                std::fill(corner.begin(), corner.end(), 0.0);
                for (std::int64_t r = 0; r < height; ++r) std::copy_n(a + (i + r) * k + p, depth, rows.data() + r * product_depth);
                block(rows.data(), product_depth, panel.data(), corner.data(), product_columns, depth);
                for (std::int64_t r = 0; r < height; ++r)
                    for (std::int64_t y = 0; y < width; ++y) c[(i + r) * n + j + y] += corner[static_cast<std::size_t>(r * product_columns + y)];
            }
        }
}

}  // namespace emmy::program::detail
