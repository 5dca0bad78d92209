#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/program/pointwise.hpp>

#include <bit>
#include <cmath>

namespace emmy::program::detail {

using unary_function = double (*)(double);
using binary_function = double (*)(double, double);

inline double floor_remainder(double a, double b) {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
inline double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

struct named_unary { std::string_view name; unary_function f; };
struct named_binary { std::string_view name; binary_function f; };

inline constexpr named_unary unary_functions[] = {
    {"copy", [](double x) { return x; }}, {"pad", [](double x) { return x; }}, {"positive", [](double x) { return x; }},
    {"negative", [](double x) { return -x; }}, {"abs", [](double x) { return std::fabs(x); }}, {"absolute", [](double x) { return std::fabs(x); }},
    {"square", [](double x) { return x * x; }}, {"sqrt", [](double x) { return std::sqrt(x); }}, {"cbrt", [](double x) { return std::cbrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}, {"reciprocal", [](double x) { return 1 / x; }},
    {"sign", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }}, {"exp", [](double x) { return std::exp(x); }}, {"exp_fast", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }}, {"expm1", [](double x) { return std::expm1(x); }}, {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }}, {"log10", [](double x) { return std::log10(x); }}, {"log1p", [](double x) { return std::log1p(x); }},
    {"sin", [](double x) { return std::sin(x); }}, {"cos", [](double x) { return std::cos(x); }}, {"tan", [](double x) { return std::tan(x); }},
    {"arcsin", [](double x) { return std::asin(x); }}, {"arccos", [](double x) { return std::acos(x); }}, {"arctan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }}, {"cosh", [](double x) { return std::cosh(x); }}, {"tanh", [](double x) { return std::tanh(x); }},
    {"arcsinh", [](double x) { return std::asinh(x); }}, {"arccosh", [](double x) { return std::acosh(x); }}, {"arctanh", [](double x) { return std::atanh(x); }},
    {"erf", [](double x) { return std::erf(x); }}, {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }}, {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
    {"softplus", softplus}, {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x * 0.7071067811865476)); }}, {"gelu_tanh", gelu_tanh},
    {"relu", [](double x) { return std::fmax(0.0, x); }}, {"floor", [](double x) { return std::floor(x); }}, {"ceil", [](double x) { return std::ceil(x); }},
    {"trunc", [](double x) { return std::trunc(x); }}, {"rint", [](double x) { return std::nearbyint(x); }},
    {"isnan", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }}, {"isinf", [](double x) { return std::isinf(x) ? 1.0 : 0.0; }},
    {"isfinite", [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }}, {"signbit", [](double x) { return std::signbit(x) ? 1.0 : 0.0; }},
    {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
    // f8 tensors are held as the values they encode: coding is rounding, decoding changes nothing.
    {"from_f8e4m3", [](double x) { return x; }}, {"from_f8e5m2", [](double x) { return x; }}, {"to_f8e4m3", [](double x) { return round_to(dtype::f8e4m3, x); }},
    {"to_f8e5m2", [](double x) { return round_to(dtype::f8e5m2, x); }}, {"from_f4e2m1", [](double x) { return f4e2m1_to_f64(static_cast<unsigned>(x) & 15u); }},
    {"to_f4e2m1", [](double x) { return static_cast<double>(f64_to_f4e2m1(x)); }}};

inline constexpr named_binary binary_functions[] = {
    {"add", [](double a, double b) { return a + b; }}, {"subtract", [](double a, double b) { return a - b; }}, {"multiply", [](double a, double b) { return a * b; }},
    {"divide", [](double a, double b) { return a / b; }}, {"divide_rn_f32", [](double a, double b) { return round_to(dtype::f32, a / b); }},
    {"maximum", [](double a, double b) { return std::fmax(a, b); }}, {"fmax", [](double a, double b) { return std::fmax(a, b); }},
    {"minimum", [](double a, double b) { return std::fmin(a, b); }}, {"fmin", [](double a, double b) { return std::fmin(a, b); }},
    {"pow", [](double a, double b) { return std::pow(a, b); }}, {"power", [](double a, double b) { return std::pow(a, b); }},
    {"floor_divide", [](double a, double b) { return std::floor(a / b); }}, {"remainder", floor_remainder}, {"mod", floor_remainder},
    {"fmod", [](double a, double b) { return std::fmod(a, b); }}, {"arctan2", [](double a, double b) { return std::atan2(a, b); }},
    {"hypot", [](double a, double b) { return std::hypot(a, b); }}, {"copysign", [](double a, double b) { return std::copysign(a, b); }},
    {"equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }}, {"not_equal", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
    {"less", [](double a, double b) { return a < b ? 1.0 : 0.0; }}, {"less_equal", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }}, {"greater_equal", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"logical_and", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }}, {"logical_or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"logical_xor", [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
    // On reals and, or mean logical and, or.
    {"bitwise_and", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }}, {"bitwise_or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }}};

// Integers: exact modulo 2^64, brought into the computing type by the caller. `u`: operands are unsigned 64-bit bits.
using integer_function = std::int64_t (*)(std::int64_t a, std::int64_t b, bool u);
struct named_integer { std::string_view name; integer_function f; };
constexpr std::uint64_t bits(std::int64_t v) { return static_cast<std::uint64_t>(v); }
constexpr std::int64_t held(std::uint64_t v) { return static_cast<std::int64_t>(v); }
constexpr bool below(std::int64_t a, std::int64_t b, bool u) { return u ? bits(a) < bits(b) : a < b; }
constexpr std::int64_t shifted_right(std::int64_t a, std::int64_t b, bool u) {
    if (bits(b) > 63) return !u && a < 0 ? -1 : 0;
    return u ? held(bits(a) >> b) : a >> b;
}
constexpr std::int64_t integer_power(std::int64_t a, std::int64_t b, bool) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    std::uint64_t out = 1, base = bits(a);
    for (; b > 0; b >>= 1, base *= base)
        if (b & 1) out *= base;
    return held(out);
}
/// Division by zero gives 0.
constexpr std::int64_t quotient(std::int64_t a, std::int64_t b, bool u) { return b == 0 ? 0 : u ? held(bits(a) / bits(b)) : emmy::floor_divide(a, b); }
constexpr std::int64_t rest(std::int64_t a, std::int64_t b, bool u) { return b == 0 ? 0 : u ? held(bits(a) % bits(b)) : emmy::floor_remainder(a, b); }

inline constexpr named_integer integer_functions[] = {
    {"positive", [](std::int64_t a, std::int64_t, bool) { return a; }}, {"negative", [](std::int64_t a, std::int64_t, bool) { return held(0 - bits(a)); }},
    {"abs", [](std::int64_t a, std::int64_t, bool u) { return !u && a < 0 ? held(0 - bits(a)) : a; }},
    {"absolute", [](std::int64_t a, std::int64_t, bool u) { return !u && a < 0 ? held(0 - bits(a)) : a; }},
    {"square", [](std::int64_t a, std::int64_t, bool) { return held(bits(a) * bits(a)); }},
    {"sign", [](std::int64_t a, std::int64_t, bool u) { return std::int64_t{a == 0 ? 0 : u || a > 0 ? 1 : -1}; }},
    {"relu", [](std::int64_t a, std::int64_t, bool u) { return !u && a < 0 ? 0 : a; }},
    {"floor", [](std::int64_t a, std::int64_t, bool) { return a; }}, {"ceil", [](std::int64_t a, std::int64_t, bool) { return a; }},
    {"trunc", [](std::int64_t a, std::int64_t, bool) { return a; }}, {"rint", [](std::int64_t a, std::int64_t, bool) { return a; }},
    {"invert", [](std::int64_t a, std::int64_t, bool) { return ~a; }}, {"logical_not", [](std::int64_t a, std::int64_t, bool) { return std::int64_t{a == 0}; }},
    {"signbit", [](std::int64_t a, std::int64_t, bool u) { return std::int64_t{!u && a < 0}; }},
    {"bitwise_count", [](std::int64_t a, std::int64_t, bool u) { return std::int64_t{std::popcount(!u && a < 0 ? 0 - bits(a) : bits(a))}; }},
    {"add", [](std::int64_t a, std::int64_t b, bool) { return held(bits(a) + bits(b)); }}, {"subtract", [](std::int64_t a, std::int64_t b, bool) { return held(bits(a) - bits(b)); }},
    {"multiply", [](std::int64_t a, std::int64_t b, bool) { return held(bits(a) * bits(b)); }}, {"floor_divide", quotient}, {"remainder", rest}, {"mod", rest},
    {"fmod", [](std::int64_t a, std::int64_t b, bool u) { return b == 0 || b == -1 ? std::int64_t{0} : u ? held(bits(a) % bits(b)) : a % b; }},
    {"maximum", [](std::int64_t a, std::int64_t b, bool u) { return below(a, b, u) ? b : a; }}, {"fmax", [](std::int64_t a, std::int64_t b, bool u) { return below(a, b, u) ? b : a; }},
    {"minimum", [](std::int64_t a, std::int64_t b, bool u) { return below(b, a, u) ? b : a; }}, {"fmin", [](std::int64_t a, std::int64_t b, bool u) { return below(b, a, u) ? b : a; }},
    {"pow", integer_power}, {"power", integer_power},
    {"equal", [](std::int64_t a, std::int64_t b, bool) { return std::int64_t{a == b}; }}, {"not_equal", [](std::int64_t a, std::int64_t b, bool) { return std::int64_t{a != b}; }},
    {"less", [](std::int64_t a, std::int64_t b, bool u) { return std::int64_t{below(a, b, u)}; }}, {"less_equal", [](std::int64_t a, std::int64_t b, bool u) { return std::int64_t{!below(b, a, u)}; }},
    {"greater", [](std::int64_t a, std::int64_t b, bool u) { return std::int64_t{below(b, a, u)}; }}, {"greater_equal", [](std::int64_t a, std::int64_t b, bool u) { return std::int64_t{!below(a, b, u)}; }},
    {"logical_and", [](std::int64_t a, std::int64_t b, bool) { return std::int64_t{a != 0 && b != 0}; }}, {"logical_or", [](std::int64_t a, std::int64_t b, bool) { return std::int64_t{a != 0 || b != 0}; }},
    {"logical_xor", [](std::int64_t a, std::int64_t b, bool) { return std::int64_t{(a != 0) != (b != 0)}; }},
    {"left_shift", [](std::int64_t a, std::int64_t b, bool) { return bits(b) > 63 ? std::int64_t{0} : held(bits(a) << b); }},
    {"right_shift", shifted_right}, {"__rshift__", shifted_right}, {"bitwise_right_shift", shifted_right},
    {"bitwise_and", [](std::int64_t a, std::int64_t b, bool) { return a & b; }}, {"bitwise_or", [](std::int64_t a, std::int64_t b, bool) { return a | b; }},
    {"bitwise_xor", [](std::int64_t a, std::int64_t b, bool) { return a ^ b; }}};

/// The type that an integer function of these operands computes in: the widest, unsigned among equals; bool is the narrowest.
inline dtype integer_promotion(dtype a, dtype b) {
    const auto rank = [](dtype t) { return t == dtype::boolean ? 0 : 2 * static_cast<int>(facts(t).bits) + (facts(t).is_signed ? 0 : 1); };
    return rank(a) >= rank(b) ? a : b;
}
inline unary_function find_unary(std::string_view name) {
    for (const named_unary& f : unary_functions)
        if (f.name == name) return f.f;
    return nullptr;
}
inline binary_function find_binary(std::string_view name) {
    for (const named_binary& f : binary_functions)
        if (f.name == name) return f.f;
    return nullptr;
}

inline integer_function find_integer(std::string_view name) {
    for (const named_integer& f : integer_functions)
        if (f.name == name) return f.f;
    return nullptr;
}

}  // namespace emmy::program::detail
