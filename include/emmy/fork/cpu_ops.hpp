#pragma once
#include <emmy/loop/op.hpp>

/// Operators that CPU text has, on floating values (computed in f32) and on integers (64 bits, wrapped to the result's type).
namespace emmy::fork {

constexpr bool cpu_takes_floats(loop::op o) {
    using loop::op;
    switch (o) {
        case op::add: case op::subtract: case op::multiply: case op::divide: case op::divide_rn_f32: case op::fmod: case op::reciprocal: case op::negative:
        case op::positive: case op::absolute: case op::square: case op::sqrt: case op::rsqrt: case op::pow: case op::maximum: case op::minimum: case op::sign:
        case op::exp: case op::exp_fast: case op::exp2: case op::expm1: case op::log: case op::log2: case op::log10: case op::log1p: case op::sin: case op::cos:
        case op::tan: case op::arcsin: case op::arccos: case op::arctan: case op::arctan2: case op::sinh: case op::cosh: case op::tanh: case op::erf:
        case op::sigmoid: case op::silu: case op::softplus: case op::gelu: case op::gelu_tanh: case op::relu: case op::floor: case op::ceil: case op::trunc:
        case op::rint: case op::copy: case op::pad: case op::where: case op::equal: case op::not_equal: case op::less: case op::less_equal: case op::greater:
        case op::greater_equal: case op::isnan: case op::copysign: case op::fmax: case op::fmin: case op::bitwise_and: case op::bitwise_or: case op::logical_and:
        case op::logical_or: case op::logical_not: case op::hypot: case op::cbrt: case op::conjugate: return true;
        default: return false;
    }
}

constexpr bool cpu_takes_integers(loop::op o) {
    using loop::op;
    switch (o) {
        case op::add: case op::subtract: case op::multiply: case op::negative: case op::positive: case op::absolute: case op::square: case op::relu: case op::maximum:
        case op::minimum: case op::copy: case op::pad: case op::left_shift: case op::right_shift: case op::bitwise_and: case op::bitwise_or: case op::bitwise_xor:
        case op::invert: case op::equal: case op::not_equal: case op::less: case op::less_equal: case op::greater: case op::greater_equal: case op::logical_and:
        case op::logical_or: case op::logical_not: case op::where: case op::conjugate: return true;
        default: return false;
    }
}

}  // namespace emmy::fork
