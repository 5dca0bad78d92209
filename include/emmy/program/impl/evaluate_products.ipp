#pragma once
#include <emmy/program/impl/evaluation.ipp>
#include <emmy/program/impl/product.ipp>

#include <algorithm>

namespace emmy::program::detail {

inline result<evaluation::product_shape> evaluation::product_of(const node& n, const sizes_list& a, const sizes_list& b, const sizes_list& out) const {
    product_shape p;
    p.transposed = n.op == op::linear;
    if (a.size() < (p.transposed ? 1u : 2u) || b.size() < 2 || (p.transposed && b.size() != 2)) return refuse(wrong(n, "found operands " + shape_text(a) + " and " + shape_text(b) + ", expected matrices"));
    p.k = a.back();
    p.n = p.transposed ? b[0] : b.back();
    const std::int64_t inner = p.transposed ? b[1] : b[b.size() - 2];
    sizes_list wanted;
    if (p.transposed) {
        wanted = a;
        wanted.back() = p.n;
        p.m = count_of(a) / p.k;
    } else {
        p.m = a[a.size() - 2];
        const std::size_t rank = std::max(a.size(), b.size()) - 2;
        p.a_batch.assign(rank, 1);
        p.b_batch.assign(rank, 1);
        std::copy(a.begin(), a.end() - 2, p.a_batch.end() - static_cast<std::ptrdiff_t>(a.size() - 2));
        std::copy(b.begin(), b.end() - 2, p.b_batch.end() - static_cast<std::ptrdiff_t>(b.size() - 2));
        for (std::size_t i = 0; i < rank; ++i) {
            if (p.a_batch[i] != p.b_batch[i] && p.a_batch[i] != 1 && p.b_batch[i] != 1) return refuse(wrong(n, "found operands " + shape_text(a) + " and " + shape_text(b) + ", expected batch sizes that agree"));
            p.batch.push_back(std::max(p.a_batch[i], p.b_batch[i]));
        }
        wanted = p.batch;
        wanted.push_back(p.m);
        wanted.push_back(p.n);
    }
    if (inner != p.k) return refuse(wrong(n, "found operands " + shape_text(a) + " and " + shape_text(b) + ", expected equal inner sizes"));
    EMMY_CHECK_OK(same_shape(n, out, wanted));
    return p;
}

inline std::int64_t evaluation::batch_place(const sizes_list& batch, const sizes_list& operand, std::int64_t index) {
    std::int64_t place = 0, step = 1;
    for (std::size_t i = batch.size(); i-- > 0;) {
        const std::int64_t c = index % batch[i];
        index /= batch[i];
        if (operand[i] != 1) place += c * step;
        step *= operand[i];
    }
    return place;
}

inline result<evaluated> evaluation::product_node(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated &a = input(n, 0), &b = input(n, 1);
    EMMY_TRY(p, product_of(n, a.shape, b.shape, out.shape));
    allocate(out);
    const std::int64_t batches = count_of(p.batch);
    for (std::int64_t i = 0; i < batches; ++i)
        product(a.values.data() + batch_place(p.batch, p.a_batch, i) * p.m * p.k, b.values.data() + batch_place(p.batch, p.b_batch, i) * p.k * p.n,
                out.values.data() + i * p.m * p.n, p.m, p.n, p.k, p.transposed);
    if (n.inputs.count == 3) {
        const evaluated& bias = input(n, 2);
        EMMY_CHECK_OK(same_shape(n, bias.shape, {p.n}));
        for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] += bias.values[i % static_cast<std::size_t>(p.n)];
    }
    return std::move(out);
}

}  // namespace emmy::program::detail
