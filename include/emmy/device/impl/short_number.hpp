#pragma once
#include <cstdio>
#include <string>

// Numbers in sentences.
namespace emmy::device {

namespace detail {
inline std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}
}  // namespace detail

}  // namespace emmy::device
