#pragma once
#include <emmy/loop/typed/identity.hpp>

/// Kernels every model has, written with the typed Loop IR. Each is the body that the lowering of its operator gives.
namespace emmy::loop::typed::kernels {

/// matmul[m, n] = sum over k of x0[m, k] * x1[k, n], products and sum in f32.
template <scalar T>
constexpr builder matmul(T, extent m, extent n, extent k) {
    builder b;
    auto x0 = b.input<T, "x0">(m, k);
    auto x1 = b.input<T, "x1">(k, n);
    auto y = b.output<T, "matmul">(m, n);
    b.loop(m, n, [&](axis i, axis j) {
        y(i, j) = rounded(b.sum(k, [&](axis l) { return wide(x0(i, l)) * wide(x1(l, j)); }));
    });
    return b;
}

/// linear[m, n] = sum over k of input[m, k] * linear_wt[k, n] + p_bias[n]
template <scalar T>
constexpr builder linear(T, extent m, extent n, extent k) {
    builder b;
    auto x = b.input<T, "input">(m, k);
    auto w = b.input<T, "linear_wt">(k, n);
    auto bias = b.input<T, "p_bias">(n);
    auto y = b.output<T, "linear">(m, n);
    b.loop(m, n, [&](axis i, axis j) {
        auto product = b.sum(k, [&](axis l) { return wide(x(i, l)) * wide(w(l, j)); });
        y(i, j) = rounded(product + wide(bias(j)));
    });
    return b;
}

/// softmax[r, k] = exp(x[r, k] - max x[r, :]) / sum of these
template <scalar T>
constexpr builder softmax(T, extent rows, extent columns) {
    builder b;
    auto x = b.input<T, "x">(rows, columns);
    auto y = b.output<T, "softmax">(rows, columns);
    b.loop(rows, [&](axis i) {
        auto k = b.axis(columns);
        auto top = b.largest(k, [&](axis) { return x(i, k); });
        auto total = b.sum(k, [&](axis) { return exp(x(i, k) - top); });
        b.loop(columns, [&](axis j) { y(i, j) = rounded(wide(exp(x(i, j) - top)) / total); });
    });
    return b;
}

/// rms_norm[r, k] = x[r, k] * rsqrt(sum of squares / count + eps) * p_weight[k]
template <scalar T>
constexpr builder rms_norm(T, extent rows, extent columns) {
    builder b;
    val<f32> eps = b.input<f32, "rms_norm_eps">(1)(0);
    val<f32> count = b.input<f32, "rms_norm_mean_count">(1)(0);
    auto x = b.input<T, "x">(rows, columns);
    auto w = b.input<T, "p_weight">(columns);
    auto y = b.output<T, "rms_norm">(rows, columns);
    b.loop(rows, [&](axis i) {
        auto squares = b.sum(columns, [&](axis k) { return wide(x(i, k)) * wide(x(i, k)); });
        auto scale = rsqrt(eps + squares / count);
        b.loop(columns, [&](axis k) {
            auto scaled = wide(x(i, k)) * scale;
            y(i, k) = rounded(wide(w(k)) * scaled);
        });
    });
    return b;
}

/// Causal attention of one batch: softmax over keys up to the query's own of (q . k) * scale, times v. Shapes [1, heads, length, width].
template <scalar T>
constexpr builder causal_sdpa(T, extent heads, extent length, extent width) {
    builder b;
    val<T> masked = b.input<T, "mask_fill">(1)(0);
    val<T> shown = b.input<T, "mask_zero">(1)(0);
    val<f32> scale = b.input<f32, "scale">(1)(0);
    auto q = b.input<T, "x0">(1, heads, length, width);
    auto k = b.input<T, "x1">(1, heads, length, width);
    auto v = b.input<T, "x2">(1, heads, length, width);
    auto y = b.output<T, "scaled_dot_product_attention">(1, heads, length, width);
    b.loop(heads, length, [&](axis h, axis i) {
        const auto score = [&](axis j) {
            auto dot = b.sum(width, [&](axis d) { return wide(q(0, h, i, d)) * wide(k(0, h, j, d)); });
            return dot * scale + wide(b.select(j <= i, shown, i < j, masked));
        };
        auto key = b.axis(length);
        auto top = b.largest(key, score);
        auto total = b.sum(key, [&](axis j) { return exp(score(j) - top); });
        b.loop(width, [&](axis d) {
            y(0, h, i, d) = rounded(b.sum(length, [&](axis j) { return wide(v(0, h, j, d)) * (exp(score(j) - top) / total); }));
        });
    });
    return b;
}

}  // namespace emmy::loop::typed::kernels
