#pragma once
#include <emmy/core/expr.hpp>

#include <cstdint>
#include <limits>
#include <optional>

/// Evaluation of expressions over integers: sizes, and whatever has integer names only.
namespace emmy {

/// `/`, `//` round to minus infinity, `%` takes the divisor's sign. The divisor is not 0. Overflow wraps.
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
    const std::int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
    if (b == -1) return 0;
    const std::int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// One binary operator; a division by zero gives 0, overflow wraps, shifts take the count modulo 64 (>> is arithmetic).
constexpr std::int64_t apply(binary_op op, std::int64_t a, std::int64_t b) {
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    switch (op) {
        case binary_op::logical_or: return a != 0 || b != 0;
        case binary_op::logical_and: return a != 0 && b != 0;
        case binary_op::equal: return a == b;
        case binary_op::not_equal: return a != b;
        case binary_op::less: return a < b;
        case binary_op::greater: return a > b;
        case binary_op::less_equal: return a <= b;
        case binary_op::greater_equal: return a >= b;
        case binary_op::bit_xor: return a ^ b;
        case binary_op::bit_and: return a & b;
        case binary_op::bit_or: return a | b;
        case binary_op::shift_left: return static_cast<std::int64_t>(ua << (ub & 63));
        case binary_op::shift_right: return a >> (ub & 63);
        case binary_op::add: return static_cast<std::int64_t>(ua + ub);
        case binary_op::subtract: return static_cast<std::int64_t>(ua - ub);
        case binary_op::multiply: return static_cast<std::int64_t>(ua * ub);
        case binary_op::divide:
        case binary_op::floor_divide: return b == 0 ? 0 : floor_divide(a, b);
        case binary_op::remainder: return b == 0 ? 0 : floor_remainder(a, b);
    }
    return 0;
}

/// Value of an expression whose names `lookup(name_id) -> std::optional<std::int64_t>` knows. Nothing when a name is unknown, a number is
/// not whole, or it holds a call, builtin or division by zero. Nesting is what parse_expr admits.
template <class Lookup>
constexpr std::optional<std::int64_t> evaluate_integer(const expr_pool& pool, expr_id id, const Lookup& lookup) {
    if (id == no_expr) return std::nullopt;
    const expr& e = pool[id];
    switch (e.kind) {
        case expr_kind::integer:
        case expr_kind::boolean: return e.integer;
        case expr_kind::name: return lookup(e.name);
        case expr_kind::cast: return evaluate_integer(pool, e.a, lookup);
        case expr_kind::ternary: {
            const auto condition = evaluate_integer(pool, e.a, lookup);
            return condition ? evaluate_integer(pool, *condition != 0 ? e.b : e.c, lookup) : std::nullopt;
        }
        case expr_kind::binary: {
            const auto a = evaluate_integer(pool, e.a, lookup);
            if (!a) return std::nullopt;
            if (e.op == binary_op::logical_and && *a == 0) return 0;
            if (e.op == binary_op::logical_or && *a != 0) return 1;
            const auto b = evaluate_integer(pool, e.b, lookup);
            if (!b || (*b == 0 && (e.op == binary_op::divide || e.op == binary_op::floor_divide || e.op == binary_op::remainder))) return std::nullopt;
            return apply(e.op, *a, *b);
        }
        default: return std::nullopt;
    }
}

/// Concrete size of a dimension; nothing when an expression does not evaluate.
template <class Lookup>
constexpr std::optional<std::int64_t> evaluate_dim(const dim& d, const expr_pool& pool, const Lookup& lookup) {
    switch (d.kind) {
        case dim::form::number: return d.number;
        case dim::form::symbol: return lookup(d.symbol);
        case dim::form::expression: return evaluate_integer(pool, d.value, lookup);
    }
    return std::nullopt;
}

}  // namespace emmy
