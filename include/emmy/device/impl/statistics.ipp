#pragma once
#include <emmy/device/statistics.hpp>

#include <algorithm>
#include <cmath>

namespace emmy::device {

EMMY_DECL statistics summarise(std::vector<double> samples) {
    statistics out;
    if (samples.empty()) return out;
    std::sort(samples.begin(), samples.end());
    const auto n = samples.size();
    out.samples = static_cast<int>(n);
    out.min = samples.front(), out.max = samples.back();
    out.median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    double sum = 0, squares = 0;
    for (double s : samples) sum += s;
    out.mean = sum / static_cast<double>(n);
    for (double s : samples) squares += (s - out.mean) * (s - out.mean);
    out.variance = squares / static_cast<double>(n);
    // The number of samples below the true median is binomial(n, 1/2): its 95 % range gives the ranks of the interval.
    const double half = 1.96 * std::sqrt(static_cast<double>(n)) / 2, middle = static_cast<double>(n) / 2;
    const auto low = static_cast<std::ptrdiff_t>(std::floor(middle - half)), high = static_cast<std::ptrdiff_t>(std::ceil(middle + half));
    out.low = samples[static_cast<std::size_t>(std::max<std::ptrdiff_t>(low, 0))];
    out.high = samples[static_cast<std::size_t>(std::min<std::ptrdiff_t>(high, static_cast<std::ptrdiff_t>(n) - 1))];
    return out;
}

}  // namespace emmy::device
