#pragma once
#include <emmy/core/result.hpp>
#include <emmy/program/extent.hpp>

#include <span>
#include <string_view>
#include <vector>

/// Size expressions of exporters as functions of the program's one symbol.
namespace emmy::program::pt2 {

/// What the symbols of a text stand for: a number where it is pinned, else the program's one symbol.
struct symbol_meaning {
    std::string_view name = {};
    extent value = {};
};

/// Reads both spellings, "2*s0 + 1" and "Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))": sums, products,
/// whole powers, floor division, remainders, Min and Max where one side is never the other's. Errors (input): another function, a symbol that
/// `symbols` does not hold, nesting over 64, numbers beyond 62 bits.
EMMY_DECL result<extent> parse_size(std::string_view text, std::span<const symbol_meaning> symbols);
/// Names of the symbols in a text, each once, in order.
EMMY_DECL std::vector<std::string_view> symbols_in(std::string_view text);

}  // namespace emmy::program::pt2

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/import/impl/symbolic.ipp>
#endif
