#pragma once
#include <emmy/program/impl/evaluation.ipp>

namespace emmy::program::detail {

/// Convolutions as sums over channels of the group and taps; what lies outside the input is 0. Transposed: each input element is spread over
/// the results that a convolution would read it for.
inline result<evaluated> evaluation::convolution(const node& n, std::size_t spatial, bool transposed) const {
    EMMY_TRY(out, blank(n));
    const evaluated &x = input(n, 0), &w = input(n, 1);
    const std::vector<double> from = reals_of(x), weight = reals_of(w);
    const std::vector<double> bias = n.inputs.count == 3 ? reals_of(input(n, 2)) : std::vector<double>{};
    const std::int64_t stride = g.integer(n, attr::stride), padding = g.integer(n, attr::padding), dilation = g.integer(n, attr::dilation),
                       groups = g.integer(n, attr::groups);
    // One axis is a plane of height 1.
    const auto tail = [&](const sizes_list& shape) { return std::pair(spatial == 2 ? shape[2] : std::int64_t{1}, shape.back()); };
    const auto [in_h, in_w] = tail(x.shape);
    const auto [out_h, out_w] = tail(out.shape);
    const auto [taps_h, taps_w] = tail(w.shape);
    const std::int64_t pad_h = spatial == 2 ? padding : 0, channels = x.shape[1], results = out.shape[1];
    const std::int64_t in_group = channels / groups, out_group = results / groups;
    evaluated sums{.type = dtype::f64, .shape = out.shape};
    allocate(sums);
    const auto cell = [](std::int64_t a, std::int64_t size_b, std::int64_t b, std::int64_t height, std::int64_t y, std::int64_t width, std::int64_t z) {
        return static_cast<std::size_t>(((a * size_b + b) * height + y) * width + z);
    };
    for (std::int64_t batch = 0; batch < x.shape[0]; ++batch)
        for (std::int64_t o = 0; o < results; ++o)
            for (std::int64_t k = 0; k < in_group; ++k) {
                const std::int64_t channel = o / out_group * in_group + k;
                for (std::int64_t ty = 0; ty < taps_h; ++ty)
                    for (std::int64_t tx = 0; tx < taps_w; ++tx) {
                        const double factor = transposed ? weight[cell(channel, out_group, o % out_group, taps_h, ty, taps_w, tx)]
                                                         : weight[cell(o, in_group, k, taps_h, ty, taps_w, tx)];
                        const std::int64_t rows = transposed ? in_h : out_h, columns = transposed ? in_w : out_w;
                        for (std::int64_t y = 0; y < rows; ++y)
                            for (std::int64_t z = 0; z < columns; ++z) {
                                const std::int64_t other_y = spatial == 2 ? y * stride + ty * dilation - pad_h : 0,
                                                   other_z = z * stride + tx * dilation - padding;
                                const std::int64_t height = transposed ? out_h : in_h, width = transposed ? out_w : in_w;
                                if (other_y < 0 || other_y >= height || other_z < 0 || other_z >= width) continue;
                                if (transposed)
                                    sums.values[cell(batch, results, o, out_h, other_y, out_w, other_z)] +=
                                        factor * from[cell(batch, channels, channel, in_h, y, in_w, z)];
                                else
                                    sums.values[cell(batch, results, o, out_h, y, out_w, z)] +=
                                        factor * from[cell(batch, channels, channel, in_h, other_y, in_w, other_z)];
                            }
                    }
            }
    if (!bias.empty()) {
        const auto plane = static_cast<std::size_t>(out_h * out_w);
        for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += bias[i / plane % static_cast<std::size_t>(results)];
    }
    return converted(sums, out.type);
}

}  // namespace emmy::program::detail
