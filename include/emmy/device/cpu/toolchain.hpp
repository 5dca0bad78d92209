#pragma once
#include <emmy/device/cache.hpp>
#include <emmy/device/concept.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace emmy::device::cpu {

/// The host compiler: $EMMY_CXX, else $CXX, else g++, g++-14 … g++-12, clang++, clang++-18 … clang++-14, c++ on PATH.
struct toolchain {
    std::string path;                     ///< resolved executable
    std::string signature;                ///< what it says about itself: part of every cache key, unlike the path
};
/// Errors (device): none found; the message names what was looked for.
EMMY_DECL result<toolchain> find_toolchain();

EMMY_DECL std::vector<std::string> compile_flags(const kernel_text& text);

/// How the message of a compilation begins that was killed at its time limit: it says nothing about the kernel.
constexpr std::string_view compile_overrun = "compile_timeout";

/// Everything that decides whether an object is the answer to a request: text, flags, compiler, instruction set.
EMMY_DECL std::string cache_key(const kernel_text& text, const toolchain& compiler, const identification& host);

/// The shared object of `text`, from the cache or freshly compiled. An entry is published in one rename and carries the
/// digest of its object: a damaged one is a miss. Errors (device): no compiler; compiler failed (first lines of its
/// output) or overran `budget_seconds`.
EMMY_DECL result<compiled> compile_object(const kernel_text& text, const std::string& cache, const identification& host, double budget_seconds = 30);

/// The object of `text` where it lies compiled in `cache`; nothing is compiled. Its path; empty when there is none. Errors (device): no compiler.
EMMY_DECL result<std::string> find_object(const kernel_text& text, const std::string& cache, const identification& host);

}  // namespace emmy::device::cpu

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cpu_toolchain.ipp>
#endif
