#pragma once
#include <emmy/loop/op.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// What is known of each scalar operator: the only place that spells one.
namespace emmy::loop {

/// Functional unit an operator needs; operators of one unit count as equal in clustered comparisons of kernels.
enum class op_unit : std::uint8_t { move, add, multiply, maximum, divide, exp, convert, compare, integer, select };

struct op_facts {
    loop::op op = loop::op::none;
    std::string_view text;       ///< spelling on the wire
    int arity = 0;
    op_unit unit = op_unit::move;
    bool integer_capable = false;  ///< all-integer arguments give an integer result
    bool commutative = false;
    bool associative = false;    ///< as a fold; rounding apart
    bool folds = false;          ///< an Accum may use it
    double identity = 0;         ///< of a fold. maximum / minimum start at -1e30 / +1e30, not at infinity
    std::string_view meaning;    ///< of arguments a, b, c
};

constexpr std::array<op_facts, static_cast<std::size_t>(op::count_)> op_table{{
    {op::none, "", 0, op_unit::move, false, false, false, false, 0, "no operator"},
    {op::add, "add", 2, op_unit::add, true, true, true, true, 0, "a + b"},
    {op::subtract, "subtract", 2, op_unit::add, true, false, false, false, 0, "a - b"},
    {op::multiply, "multiply", 2, op_unit::multiply, true, true, true, true, 1, "a * b"},
    {op::divide, "divide", 2, op_unit::divide, false, false, false, false, 0, "a / b"},
    {op::divide_rn_f32, "divide_rn_f32", 2, op_unit::divide, false, false, false, false, 0, "a / b in f32, rounded to nearest even whatever the math mode"},
    {op::floor_divide, "floor_divide", 2, op_unit::divide, true, false, false, false, 0, "floor(a / b)"},
    {op::remainder, "remainder", 2, op_unit::divide, true, false, false, false, 0, "a - floor(a / b) * b"},
    {op::mod, "mod", 2, op_unit::divide, true, false, false, false, 0, "remainder under another name"},
    {op::fmod, "fmod", 2, op_unit::divide, true, false, false, false, 0, "a - trunc(a / b) * b"},
    {op::reciprocal, "reciprocal", 1, op_unit::divide, false, false, false, false, 0, "1 / a"},
    {op::negative, "negative", 1, op_unit::add, true, false, false, false, 0, "0 - a"},
    {op::positive, "positive", 1, op_unit::move, true, false, false, false, 0, "a"},
    {op::absolute, "abs", 1, op_unit::add, true, false, false, false, 0, "|a|"},
    {op::square, "square", 1, op_unit::multiply, true, false, false, false, 0, "a * a"},
    {op::sqrt, "sqrt", 1, op_unit::exp, false, false, false, false, 0, "square root"},
    {op::rsqrt, "rsqrt", 1, op_unit::exp, false, false, false, false, 0, "1 / sqrt(a)"},
    {op::pow, "pow", 2, op_unit::exp, false, false, false, false, 0, "a to the power b"},
    {op::maximum, "maximum", 2, op_unit::maximum, true, true, true, true, -1e30, "fmax(a, b)"},
    {op::minimum, "minimum", 2, op_unit::maximum, true, true, true, true, 1e30, "fmin(a, b)"},
    {op::sign, "sign", 1, op_unit::maximum, true, false, false, false, 0, "-1, 0 or 1"},
    {op::exp, "exp", 1, op_unit::exp, false, false, false, false, 0, "e to the power a"},
    {op::exp_fast, "exp_fast", 1, op_unit::exp, false, false, false, false, 0, "exp by the fast unit of the device"},
    {op::exp2, "exp2", 1, op_unit::exp, false, false, false, false, 0, "2 to the power a"},
    {op::expm1, "expm1", 1, op_unit::exp, false, false, false, false, 0, "exp(a) - 1"},
    {op::log, "log", 1, op_unit::exp, false, false, false, false, 0, "natural logarithm"},
    {op::log2, "log2", 1, op_unit::exp, false, false, false, false, 0, "logarithm to base 2"},
    {op::log10, "log10", 1, op_unit::exp, false, false, false, false, 0, "logarithm to base 10"},
    {op::log1p, "log1p", 1, op_unit::exp, false, false, false, false, 0, "log(1 + a)"},
    {op::sin, "sin", 1, op_unit::exp, false, false, false, false, 0, "sine"},
    {op::cos, "cos", 1, op_unit::exp, false, false, false, false, 0, "cosine"},
    {op::tan, "tan", 1, op_unit::exp, false, false, false, false, 0, "tangent"},
    {op::arcsin, "arcsin", 1, op_unit::exp, false, false, false, false, 0, "inverse sine"},
    {op::arccos, "arccos", 1, op_unit::exp, false, false, false, false, 0, "inverse cosine"},
    {op::arctan, "arctan", 1, op_unit::exp, false, false, false, false, 0, "inverse tangent"},
    {op::arctan2, "arctan2", 2, op_unit::exp, false, false, false, false, 0, "angle of (b, a)"},
    {op::sinh, "sinh", 1, op_unit::exp, false, false, false, false, 0, "hyperbolic sine"},
    {op::cosh, "cosh", 1, op_unit::exp, false, false, false, false, 0, "hyperbolic cosine"},
    {op::tanh, "tanh", 1, op_unit::exp, false, false, false, false, 0, "hyperbolic tangent"},
    {op::erf, "erf", 1, op_unit::exp, false, false, false, false, 0, "error function"},
    {op::sigmoid, "sigmoid", 1, op_unit::exp, false, false, false, false, 0, "1 / (1 + exp(-a))"},
    {op::silu, "silu", 1, op_unit::exp, false, false, false, false, 0, "a * sigmoid(a)"},
    {op::softplus, "softplus", 1, op_unit::exp, false, false, false, false, 0, "log(1 + exp(a))"},
    {op::gelu, "gelu", 1, op_unit::exp, false, false, false, false, 0, "a / 2 * (1 + erf(a / sqrt(2)))"},
    {op::gelu_tanh, "gelu_tanh", 1, op_unit::exp, false, false, false, false, 0, "a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 * a * a * a)))"},
    {op::relu, "relu", 1, op_unit::exp, true, false, false, false, 0, "fmax(0, a): NaN gives 0"},
    {op::floor, "floor", 1, op_unit::convert, true, false, false, false, 0, "largest whole number not above a"},
    {op::ceil, "ceil", 1, op_unit::convert, true, false, false, false, 0, "smallest whole number not below a"},
    {op::trunc, "trunc", 1, op_unit::convert, true, false, false, false, 0, "whole part of a"},
    {op::rint, "rint", 1, op_unit::convert, false, false, false, false, 0, "nearest whole number, ties to even"},
    {op::copy, "copy", 1, op_unit::move, true, false, false, false, 0, "a; with a dtype a conversion that rounds"},
    {op::pad, "pad", 1, op_unit::move, true, false, false, false, 0, "a"},
    {op::bitcast, "bitcast", 1, op_unit::move, true, false, false, false, 0, "the bits of a as the stated dtype"},
    {op::from_f8e4m3, "from_f8e4m3", 1, op_unit::convert, false, false, false, false, 0, "value of an f8e4m3 code (0x7f and 0xff are NaN, no infinity)"},
    {op::to_f8e4m3, "to_f8e4m3", 1, op_unit::convert, false, false, false, false, 0, "nearest f8e4m3 code, ties to even, finite values saturate at 448"},
    {op::from_f8e5m2, "from_f8e5m2", 1, op_unit::convert, false, false, false, false, 0, "value of an f8e5m2 code"},
    {op::to_f8e5m2, "to_f8e5m2", 1, op_unit::convert, false, false, false, false, 0, "nearest f8e5m2 code, ties to even, finite values saturate"},
    {op::from_f4e2m1, "from_f4e2m1", 1, op_unit::convert, false, false, false, false, 0, "value of a 4-bit e2m1 code"},
    {op::to_f4e2m1, "to_f4e2m1", 1, op_unit::convert, false, false, false, false, 0, "nearest 4-bit e2m1 code, ties to even, saturates at 6"},
    {op::where, "where", 3, op_unit::select, true, false, false, false, 0, "a != 0 ? b : c"},
    {op::equal, "equal", 2, op_unit::compare, true, true, false, false, 0, "a == b"},
    {op::not_equal, "not_equal", 2, op_unit::compare, true, true, false, false, 0, "a != b"},
    {op::less, "less", 2, op_unit::compare, true, false, false, false, 0, "a < b"},
    {op::less_equal, "less_equal", 2, op_unit::compare, true, false, false, false, 0, "a <= b"},
    {op::greater, "greater", 2, op_unit::compare, true, false, false, false, 0, "a > b"},
    {op::greater_equal, "greater_equal", 2, op_unit::compare, true, false, false, false, 0, "a >= b"},
    {op::isnan, "isnan", 1, op_unit::compare, false, false, false, false, 0, "1 where a is NaN"},
    {op::isinf, "isinf", 1, op_unit::compare, false, false, false, false, 0, "1 where a is infinite"},
    {op::isfinite, "isfinite", 1, op_unit::compare, false, false, false, false, 0, "1 where a is finite"},
    {op::signbit, "signbit", 1, op_unit::compare, false, false, false, false, 0, "1 where the sign bit of a is set"},
    {op::copysign, "copysign", 2, op_unit::maximum, false, false, false, false, 0, "|a| with the sign of b"},
    {op::fmax, "fmax", 2, op_unit::maximum, true, true, true, false, 0, "maximum under another name"},
    {op::fmin, "fmin", 2, op_unit::maximum, true, true, true, false, 0, "minimum under another name"},
    {op::left_shift, "left_shift", 2, op_unit::integer, true, false, false, false, 0, "a << b"},
    {op::right_shift, "right_shift", 2, op_unit::integer, true, false, false, false, 0, "a >> b"},
    {op::bitwise_and, "bitwise_and", 2, op_unit::integer, true, true, true, false, 0, "a & b; on floats a && b"},
    {op::bitwise_or, "bitwise_or", 2, op_unit::integer, true, true, true, false, 0, "a | b; on floats a || b"},
    {op::bitwise_xor, "bitwise_xor", 2, op_unit::integer, true, true, true, false, 0, "a ^ b"},
    {op::bitwise_count, "bitwise_count", 1, op_unit::integer, true, false, false, false, 0, "one bits of |a|"},
    {op::invert, "invert", 1, op_unit::integer, true, false, false, false, 0, "~a"},
    {op::logical_and, "logical_and", 2, op_unit::compare, true, true, true, false, 0, "a && b"},
    {op::logical_or, "logical_or", 2, op_unit::compare, true, true, true, false, 0, "a || b"},
    {op::logical_xor, "logical_xor", 2, op_unit::compare, true, true, true, false, 0, "!a != !b"},
    {op::logical_not, "logical_not", 1, op_unit::compare, true, false, false, false, 0, "!a"},
    {op::gcd, "gcd", 2, op_unit::integer, true, true, true, false, 0, "greatest common divisor"},
    {op::lcm, "lcm", 2, op_unit::integer, true, true, true, false, 0, "least common multiple"},
    {op::next, "next", 2, op_unit::move, true, false, true, false, 0, "b: the fold of a carried state"},
    {op::hypot, "hypot", 2, op_unit::exp, false, true, false, false, 0, "sqrt(a * a + b * b)"},
    {op::logaddexp, "logaddexp", 2, op_unit::exp, false, true, false, false, 0, "log(exp(a) + exp(b))"},
    {op::logaddexp2, "logaddexp2", 2, op_unit::exp, false, true, false, false, 0, "log2(exp2(a) + exp2(b))"},
    {op::heaviside, "heaviside", 2, op_unit::maximum, false, false, false, false, 0, "a < 0 ? 0 : a > 0 ? 1 : b"},
    {op::nextafter, "nextafter", 2, op_unit::add, false, false, false, false, 0, "next float after a towards b"},
    {op::cbrt, "cbrt", 1, op_unit::exp, false, false, false, false, 0, "cube root"},
    {op::conjugate, "conjugate", 1, op_unit::move, true, false, false, false, 0, "a: no complex types"},
    {op::deg2rad, "deg2rad", 1, op_unit::multiply, false, false, false, false, 0, "a * pi / 180"},
    {op::rad2deg, "rad2deg", 1, op_unit::multiply, false, false, false, false, 0, "a * 180 / pi"},
    {op::degrees, "degrees", 1, op_unit::multiply, false, false, false, false, 0, "rad2deg under another name"},
    {op::radians, "radians", 1, op_unit::multiply, false, false, false, false, 0, "deg2rad under another name"},
    {op::arcsinh, "arcsinh", 1, op_unit::exp, false, false, false, false, 0, "inverse hyperbolic sine"},
    {op::arccosh, "arccosh", 1, op_unit::exp, false, false, false, false, 0, "inverse hyperbolic cosine"},
    {op::arctanh, "arctanh", 1, op_unit::exp, false, false, false, false, 0, "inverse hyperbolic tangent"},
    {op::spacing, "spacing", 1, op_unit::add, false, false, false, false, 0, "distance from a to the next float away from zero"},
    {op::ldexp, "ldexp", 2, op_unit::exp, false, false, false, false, 0, "a * 2 to the power b"},
}};

struct op_alias {
    std::string_view text;
    loop::op op;
};
/// Other spellings read; the canonical one is written.
constexpr op_alias op_aliases[] = {{"__rshift__", op::right_shift}, {"__lshift__", op::left_shift}, {"__and__", op::bitwise_and}, {"__or__", op::bitwise_or},
    {"__xor__", op::bitwise_xor}, {"bitwise_right_shift", op::right_shift}, {"bitwise_left_shift", op::left_shift}, {"bitwise_not", op::invert},
    {"bitwise_invert", op::invert}, {"absolute", op::absolute}, {"fabs", op::absolute}, {"power", op::pow}, {"float_power", op::pow},
    {"true_divide", op::divide}, {"conj", op::conjugate}, {"sum", op::add}, {"prod", op::multiply}, {"amax", op::maximum}, {"amin", op::minimum},
    {"acos", op::arccos}, {"acosh", op::arccosh}, {"asin", op::arcsin}, {"asinh", op::arcsinh}, {"atan", op::arctan}, {"atan2", op::arctan2},
    {"atanh", op::arctanh}};

constexpr const op_facts& facts(op o) { return op_table[static_cast<std::size_t>(o)]; }
constexpr std::string_view text(op o) { return facts(o).text; }

namespace detail {
struct op_index {
    static constexpr std::size_t size = 512;
    std::array<std::uint8_t, size> slots{};  // place in op_table, or op_table.size() + place in op_aliases; 0 = free

    static constexpr std::size_t hash(std::string_view name) {
        std::uint32_t h = 2166136261u;
        for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
        return (h ^ h >> 15) & (size - 1);
    }
    static constexpr std::string_view spelling(std::size_t place) { return place < op_table.size() ? op_table[place].text : op_aliases[place - op_table.size()].text; }
    constexpr op_index() {
        for (std::size_t place = 1; place < op_table.size() + std::size(op_aliases); ++place) {
            std::size_t slot = hash(spelling(place));
            while (slots[slot] != 0) slot = (slot + 1) & (size - 1);
            slots[slot] = static_cast<std::uint8_t>(place);
        }
    }
};
inline constexpr op_index op_places;

constexpr bool op_table_is_in_order() {
    for (std::size_t i = 0; i < op_table.size(); ++i)
        if (op_table[i].op != static_cast<op>(i) || (i > 0 && op_table[i].text.empty())) return false;
    return true;
}
static_assert(op_table_is_in_order(), "op_table lists the operators in the order of the enumeration");
static_assert(op_table.size() + std::size(op_aliases) < 256, "op_index counts places in a byte");
}  // namespace detail

/// Operator of a spelling or alias; `none` when there is no such operator.
constexpr op op_from_text(std::string_view name) {
    if (name.empty() || name.size() > 32) return op::none;
    for (std::size_t slot = detail::op_index::hash(name);; slot = (slot + 1) & (detail::op_index::size - 1)) {
        const std::size_t place = detail::op_places.slots[slot];
        if (place == 0) return op::none;
        if (detail::op_index::spelling(place) == name) return place < op_table.size() ? static_cast<op>(place) : op_aliases[place - op_table.size()].op;
    }
}

}  // namespace emmy::loop
