#pragma once
#include <cstdint>
#include <string_view>

namespace emmy::loop {

/// Scalar operators of Assign and Accum, by number in op_table (loop/op_table.hpp: spelling, arity, algebra).
enum class op : std::uint8_t {
    none,
    // arithmetic
    add, subtract, multiply, divide, divide_rn_f32, floor_divide, remainder, mod, fmod, reciprocal, negative, positive, absolute, square, sqrt, rsqrt, pow,
    maximum, minimum, sign,
    // transcendental
    exp, exp_fast, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, arcsin, arccos, arctan, arctan2, sinh, cosh, tanh, erf, sigmoid, silu, softplus,
    gelu, gelu_tanh, relu,
    // rounding
    floor, ceil, trunc, rint,
    // movement and conversion
    copy, pad, bitcast, from_f8e4m3, to_f8e4m3, from_f8e5m2, to_f8e5m2, from_f4e2m1, to_f4e2m1,
    // selection and comparison
    where, equal, not_equal, less, less_equal, greater, greater_equal, isnan, isinf, isfinite, signbit, copysign, fmax, fmin,
    // integers and logic
    left_shift, right_shift, bitwise_and, bitwise_or, bitwise_xor, bitwise_count, invert, logical_and, logical_or, logical_xor, logical_not, gcd, lcm,
    // folds
    next,
    // other binary functions of the vocabulary
    hypot, logaddexp, logaddexp2, heaviside, nextafter, cbrt, conjugate, deg2rad, rad2deg, degrees, radians, arcsinh, arccosh, arctanh, spacing, ldexp,
    count_
};

}  // namespace emmy::loop
