#pragma once
#include <emmy/core/expr_eval.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/loop/op.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

/// Scalar operators: reals in double (the caller rounds to f32, which is exact for + - * / sqrt), integers in int64.
namespace emmy::loop::interp {

/// fmax / fmin: a NaN loses.
inline double larger(double a, double b) { return a != a ? b : b != b ? a : a < b ? b : a; }
inline double smaller(double a, double b) { return a != a ? b : b != b ? a : b < a ? b : a; }

inline double apply_real(op o, double a, double b, double c) {
    constexpr double pi = 3.14159265358979323846;
    switch (o) {
        case op::add: return a + b;
        case op::subtract: return a - b;
        case op::multiply: return a * b;
        case op::divide:
        case op::divide_rn_f32: return a / b;
        case op::floor_divide: return std::floor(a / b);
        case op::remainder:
        case op::mod: return a - std::floor(a / b) * b;
        case op::fmod: return std::fmod(a, b);
        case op::reciprocal: return 1 / a;
        case op::negative: return 0 - a;
        case op::absolute: return std::fabs(a);
        case op::square: return a * a;
        case op::sqrt: return std::sqrt(a);
        case op::rsqrt: return 1 / std::sqrt(a);
        case op::pow: return std::pow(a, b);
        case op::maximum:
        case op::fmax: return larger(a, b);
        case op::minimum:
        case op::fmin: return smaller(a, b);
        case op::sign: return a > 0 ? 1 : a < 0 ? -1 : a;
        case op::exp:
        case op::exp_fast: return std::exp(a);
        case op::exp2: return std::exp2(a);
        case op::expm1: return std::expm1(a);
        case op::log: return std::log(a);
        case op::log2: return std::log2(a);
        case op::log10: return std::log10(a);
        case op::log1p: return std::log1p(a);
        case op::sin: return std::sin(a);
        case op::cos: return std::cos(a);
        case op::tan: return std::tan(a);
        case op::arcsin: return std::asin(a);
        case op::arccos: return std::acos(a);
        case op::arctan: return std::atan(a);
        case op::arctan2: return std::atan2(a, b);
        case op::sinh: return std::sinh(a);
        case op::cosh: return std::cosh(a);
        case op::tanh: return std::tanh(a);
        case op::arcsinh: return std::asinh(a);
        case op::arccosh: return std::acosh(a);
        case op::arctanh: return std::atanh(a);
        case op::erf: return std::erf(a);
        case op::sigmoid: return 1 / (1 + std::exp(-a));
        case op::silu: return a / (1 + std::exp(-a));
        case op::softplus: return a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a));
        case op::gelu: return 0.5 * a * (1 + std::erf(a / std::sqrt(2.0)));
        case op::gelu_tanh: return 0.5 * a * (1 + std::tanh(std::sqrt(2 / pi) * (a + 0.044715 * a * a * a)));
        case op::relu: return larger(0, a);
        case op::floor: return std::floor(a);
        case op::ceil: return std::ceil(a);
        case op::trunc: return std::trunc(a);
        case op::rint: return std::nearbyint(a);
        case op::from_f4e2m1: return f4e2m1_to_f64(static_cast<unsigned>(real_to_integer(dtype::i64, a)) & 15u);
        case op::where: return a != 0 ? b : c;
        case op::equal: return a == b;
        case op::not_equal: return a != b;
        case op::less: return a < b;
        case op::less_equal: return a <= b;
        case op::greater: return a > b;
        case op::greater_equal: return a >= b;
        case op::isnan: return a != a;
        case op::isinf: return std::isinf(a) ? 1 : 0;
        case op::isfinite: return std::isfinite(a) ? 1 : 0;
        case op::signbit: return std::signbit(a) ? 1 : 0;
        case op::copysign: return std::copysign(a, b);
        case op::bitwise_and:
        case op::logical_and: return a != 0 && b != 0;
        case op::bitwise_or:
        case op::logical_or: return a != 0 || b != 0;
        case op::bitwise_xor:
        case op::logical_xor: return (a != 0) != (b != 0);
        case op::invert:
        case op::logical_not: return a == 0;
        case op::left_shift: return std::ldexp(a, static_cast<int>(smaller(larger(b, -2000), 2000)));
        case op::right_shift: return std::floor(std::ldexp(a, -static_cast<int>(smaller(larger(b, -2000), 2000))));
        case op::bitwise_count: return std::popcount(static_cast<std::uint64_t>(real_to_integer(dtype::i64, std::fabs(a))));
        case op::gcd: return static_cast<double>(std::gcd(real_to_integer(dtype::i32, a), real_to_integer(dtype::i32, b)));
        case op::lcm: return static_cast<double>(std::lcm(real_to_integer(dtype::i32, a), real_to_integer(dtype::i32, b)));
        case op::next: return b;
        case op::hypot: return std::hypot(a, b);
        case op::logaddexp: return larger(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
        case op::logaddexp2: return larger(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) / std::log(2.0);
        case op::heaviside: return a < 0 ? 0 : a > 0 ? 1 : a == 0 ? b : a;
        case op::nextafter: return static_cast<double>(std::nextafter(static_cast<float>(a), static_cast<float>(b)));
        case op::cbrt: return std::cbrt(a);
        case op::deg2rad:
        case op::radians: return a * (pi / 180);
        case op::rad2deg:
        case op::degrees: return a * (180 / pi);
        case op::spacing: {
            const float f = static_cast<float>(a);
            return static_cast<double>(std::nextafter(f, std::copysign(std::numeric_limits<float>::infinity(), f)) - f);
        }
        case op::ldexp: return std::ldexp(a, static_cast<int>(smaller(larger(b, -2000), 2000)));
        default: return a;
    }
}

/// Shifts by the type's width or more give 0 (-1 for negative values shifted right). Division by zero gives 0.
inline std::int64_t apply_integer(op o, dtype type, std::int64_t a, std::int64_t b, std::int64_t c) {
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    const bool is_unsigned = type == dtype::u64;
    switch (o) {
        case op::add: return static_cast<std::int64_t>(ua + ub);
        case op::subtract: return static_cast<std::int64_t>(ua - ub);
        case op::multiply: return static_cast<std::int64_t>(ua * ub);
        case op::floor_divide: return b == 0 ? 0 : is_unsigned ? static_cast<std::int64_t>(ua / ub) : floor_divide(a, b);
        case op::remainder:
        case op::mod: return b == 0 ? 0 : is_unsigned ? static_cast<std::int64_t>(ua % ub) : floor_remainder(a, b);
        case op::fmod: return b == 0 || b == -1 ? 0 : is_unsigned ? static_cast<std::int64_t>(ua % ub) : a % b;
        case op::negative: return static_cast<std::int64_t>(0 - ua);
        case op::absolute: return a < 0 && !is_unsigned ? static_cast<std::int64_t>(0 - ua) : a;
        case op::square: return static_cast<std::int64_t>(ua * ua);
        case op::maximum:
        case op::fmax: return (is_unsigned ? ua < ub : a < b) ? b : a;
        case op::minimum:
        case op::fmin: return (is_unsigned ? ub < ua : b < a) ? b : a;
        case op::sign: return a > 0 || (is_unsigned && a != 0) ? 1 : a < 0 ? -1 : 0;
        case op::relu: return a < 0 && !is_unsigned ? 0 : a;
        case op::to_f4e2m1: return a;
        case op::where: return a != 0 ? b : c;
        case op::equal: return a == b;
        case op::not_equal: return a != b;
        case op::less: return is_unsigned ? ua < ub : a < b;
        case op::less_equal: return is_unsigned ? ua <= ub : a <= b;
        case op::greater: return is_unsigned ? ua > ub : a > b;
        case op::greater_equal: return is_unsigned ? ua >= ub : a >= b;
        case op::left_shift: return ub > 63 ? 0 : static_cast<std::int64_t>(ua << ub);
        case op::right_shift: return is_unsigned ? (ub > 63 ? 0 : static_cast<std::int64_t>(ua >> ub)) : a >> (ub > 63 ? 63 : ub);
        case op::bitwise_and: return a & b;
        case op::bitwise_or: return a | b;
        case op::bitwise_xor: return a ^ b;
        case op::bitwise_count: return std::popcount(a < 0 && !is_unsigned ? 0 - ua : ua);
        case op::invert: return type == dtype::boolean ? a == 0 : ~a;
        case op::logical_and: return a != 0 && b != 0;
        case op::logical_or: return a != 0 || b != 0;
        case op::logical_xor: return (a != 0) != (b != 0);
        case op::logical_not: return a == 0;
        case op::gcd: return static_cast<std::int64_t>(std::gcd(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
        case op::lcm: return static_cast<std::int64_t>(std::lcm(static_cast<std::int64_t>(static_cast<std::int32_t>(a)), static_cast<std::int64_t>(static_cast<std::int32_t>(b))));
        case op::next: return b;
        default: return a;
    }
}

}  // namespace emmy::loop::interp
