#pragma once
// Where tests find the peer's real files, and the one printed reason when they are absent.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace emmy::test {

inline std::filesystem::path shared_data() {
    if (const char* named = std::getenv("EMMY_SHARED_DATA")) return named;
    return EMMY_SHARED_DATA;
}

/// The peer's golden files in path order; empty, with one printed line, where the folder is absent.
inline std::vector<std::filesystem::path> peer_goldens() {
    std::vector<std::filesystem::path> out;
    const auto root = shared_data() / "golden";
    if (!std::filesystem::is_directory(root)) {
        std::cout << "skipped: no peer files at " << root.string() << " (set EMMY_SHARED_DATA)\n";
        return out;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
        if (entry.path().extension() == ".json") out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace emmy::test
