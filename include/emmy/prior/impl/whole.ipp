#pragma once
#include <cstdint>

namespace emmy::prior::detail {

// No library function takes part in a prediction: whole numbers by truncation, exact below 2^53.
inline double whole(double x) { return static_cast<double>(static_cast<std::int64_t>(x)); }
inline double ceiling(double x) {
    const double down = whole(x);
    return down < x ? down + 1 : down;
}
inline double rest(double x, double step) { return x - whole(x / step) * step; }

}  // namespace emmy::prior::detail
