#pragma once
#include <emmy/program/impl/evaluate_products.ipp>
#include <emmy/program/impl/evaluation.ipp>

#include <cmath>
#include <limits>

namespace emmy::program::detail {

/// softmax(scale q kᵀ + masks) v. Causal keeps keys j ≤ i (aligned at the top left), a window of W keeps j > i - W, a bool mask keeps where it
/// is true, a float mask is added. What is not kept has no weight; a row that keeps nothing, or only -inf scores, gives 0.
inline result<evaluated> evaluation::attention(const node& n) const {
    EMMY_TRY(out, blank(n));
    const evaluated &q = input(n, 0), &k = input(n, 1), &v = input(n, 2);
    const std::size_t rank = q.shape.size();
    const std::int64_t queries = q.shape[rank - 2], keys = k.shape[rank - 2], width = q.shape[rank - 1], made = v.shape[rank - 1], groups = sdpa_groups(g, n);
    const std::int64_t batches = count_of(q.shape) / (queries * width), heads = rank > 2 ? q.shape[rank - 3] : 1;
    const attribute* scale_attr = g.find(n, attr::scale);
    const double scale = scale_attr ? scale_attr->number.as_double() : 1 / std::sqrt(static_cast<double>(width));
    const attribute* window = g.find(n, attr::sliding_window);
    const bool causal = g.boolean(n, attr::is_causal);
    const std::uint32_t mask_place = sdpa_mask(g, n);
    const evaluated* mask = mask_place ? &input(n, mask_place) : nullptr;
    const sizes_list mask_strides = mask ? strides_of(mask->shape) : sizes_list{};
    sizes_list scores_shape = q.shape;
    scores_shape[rank - 1] = keys;
    allocate(out);
    sizes_list c(rank, 0);
    std::vector<double> row(static_cast<std::size_t>(keys));
    for (std::int64_t b = 0; b < batches; ++b) {
        const std::int64_t shared = b / heads * (heads / groups) + b % heads / groups;  // the batch of k and v
        const double* keys_of = k.values.data() + shared * keys * width;
        const double* values_of = v.values.data() + shared * keys * made;
        for (std::int64_t i = 0; i < queries; ++i) {
            const double* query = q.values.data() + (b * queries + i) * width;
            double top = -std::numeric_limits<double>::infinity(), sum = 0;
            for (std::int64_t j = 0; j < keys; ++j, advance(c, scores_shape)) {
                double& score = row[static_cast<std::size_t>(j)];
                bool kept = (!causal || j <= i) && (!window || j > i - window->number.integer);
                double added = 0;
                if (mask) {
                    const std::size_t at = broadcast_place(mask->shape, mask_strides, c);
                    if (mask->type == dtype::boolean) kept = kept && mask->integers[at] != 0;
                    else added = mask->values[at];
                }
                score = 0;
                for (std::int64_t d = 0; d < width; ++d) score += query[d] * keys_of[j * width + d];
                score = kept ? score * scale + added : -std::numeric_limits<double>::infinity();
                top = std::fmax(top, score);
            }
            const bool any = top != -std::numeric_limits<double>::infinity();
            for (double& s : row) sum += s = any ? std::exp(s - top) : 0.0;
            double* to = out.values.data() + (b * queries + i) * made;
            for (std::int64_t j = 0; j < keys; ++j)
                for (std::int64_t d = 0; d < made; ++d) to[d] += row[static_cast<std::size_t>(j)] * values_of[j * made + d];
            for (std::int64_t d = 0; any && d < made; ++d) to[d] /= sum;
        }
    }
    return std::move(out);
}

}  // namespace emmy::program::detail
