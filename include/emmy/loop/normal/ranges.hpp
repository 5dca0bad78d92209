#pragma once
#include <emmy/core/expr.hpp>

#include <cstdint>
#include <vector>

/// What is known of the variables of index expressions: the ground on which expressions are simplified.
namespace emmy::loop::normal {

/// Values that an integer expression can take, both ends included; not known = any.
struct interval {
    std::int64_t low = 0, high = 0;
    bool known = false;

    constexpr bool within(std::int64_t first, std::int64_t last) const { return known && low >= first && high <= last; }
    constexpr bool at_least(std::int64_t v) const { return known && low >= v; }
    constexpr bool operator==(const interval&) const = default;
};
constexpr interval exactly(std::int64_t v) { return {v, v, true}; }

/// Largest value a symbolic size is taken to have.
constexpr std::int64_t symbol_limit = std::int64_t{1} << 30;

/// One variable: its values, for an axis of symbolic extent the expression it stays below, and its place in the order of binding.
struct variable_range {
    interval values = {};
    expr_id extent = no_expr;  ///< the variable is below this expression
    std::uint32_t rank = 0;    ///< binding depth: the smaller the further out
    bool axis = false;         ///< takes part in affine sums
};

/// By variable (the `name` of a name expression). A variable never set has unknown values.
class ranges {
public:
    constexpr void set(name_id variable, const variable_range& r) {
        if (list_.size() <= variable) list_.resize(variable + 1, variable_range{});
        list_[variable] = r;
    }
    /// An axis of `extent`, rank as given. A symbolic extent gives [0, symbol_limit] and "below the symbol": `size` is its expression.
    constexpr void axis(name_id variable, std::int64_t extent, std::uint32_t rank) {
        set(variable, {.values = {0, extent > 0 ? extent - 1 : 0, true}, .rank = rank, .axis = true});
    }
    constexpr void symbolic_axis(name_id variable, expr_id size, std::uint32_t rank) {
        set(variable, {.values = {0, symbol_limit, true}, .extent = size, .rank = rank, .axis = true});
    }
    /// An axis without any range: what simplification under static ranges alone sees of a symbolic one.
    constexpr void unknown_axis(name_id variable, std::uint32_t rank) { set(variable, {.rank = rank, .axis = true}); }
    /// A symbolic size: at least 1.
    constexpr void symbol(name_id variable) { set(variable, {.values = {1, symbol_limit, true}}); }
    constexpr void forget(name_id variable) {
        if (variable < list_.size()) list_[variable] = variable_range{};
    }
    constexpr variable_range operator[](name_id variable) const { return variable < list_.size() ? list_[variable] : variable_range{}; }

    name_id integer_cast = no_name;  ///< name of the cast `(int)` in the pool: of a literal it is the literal

private:
    std::vector<variable_range> list_;
};

}  // namespace emmy::loop::normal
