#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace emmy::fork::structure {

/// Letters to insert, drop or exchange.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t corner = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            corner = above;
        }
    }
    return row[b.size()];
}

/// ", nearest: A, B, C" of what is offered; ", which offers none" of nothing.
inline std::string nearest_text(std::string_view asked, std::vector<std::string> offered) {
    if (offered.empty()) return ", which offers none";
    std::stable_sort(offered.begin(), offered.end(),
                     [&](const std::string& a, const std::string& b) { return edit_distance(asked, a) < edit_distance(asked, b); });
    std::string out = ", nearest: ";
    for (std::size_t i = 0; i < offered.size() && i < 3; ++i) out += (i ? ", " : "") + offered[i];
    return out;
}

}  // namespace emmy::fork::structure
