#pragma once
#include <emmy/core/config.hpp>

#include <cstdint>
#include <vector>

namespace emmy::device {

/// Samples of one kernel in µs per launch, summarised.
struct statistics {
    double median = 0, min = 0, max = 0, mean = 0, variance = 0;  ///< variance of the population
    double low = 0, high = 0;     ///< 95 % interval of the median, from order statistics: no assumption on the distribution
    int samples = 0;
    int batch = 1;                ///< launches a sample
    bool cold = false;
    int disturbed = 0;            ///< samples during which the measuring thread did not always run: the machine was busy
    bool tight = false;           ///< stopped because the interval was narrow, not because the budget ended

    /// Half width of the interval as a part of the median.
    double spread() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

/// Summary of `samples` (µs per launch); all zero when empty.
EMMY_DECL statistics summarise(std::vector<double> samples);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/statistics.ipp>
#endif
