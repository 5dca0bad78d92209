#pragma once
#include <emmy/loop/impl/interpret_program.ipp>
#include <emmy/loop/impl/interpret_scalar.ipp>

#include <cmath>

/// Running error bounds: how far a value of the typed mode can lie from the same value of the relaxed mode.
///
/// Rules (u = 2^-24, v the typed result, e the operands' bounds; a value whose operands agree exactly and that rounds to f32 agrees exactly):
///   a ± b        ea + eb                              + 2u|v|     both modes round to f32
///   a * b        |a| eb + |b| ea + ea eb              + 2u|v|
///   a / b        (ea + |v| eb) / (|b| - eb)           + 2u|v|     no bound when eb >= |b|
///   f(a)         max |f(a ± ea) - f(a)|, f monotone   + 2u|v|     else Lipschitz constant * ea
///   max, min     max(ea, eb)
///   sum of n     Σe + 2u n (|start| + Σ(|v| + e))
///   round to T   e + half a step of T at |v|                      T narrower than f32: the typed mode only
///   encode f8    e + one step where e > 0                         both modes encode
///   choice       the branch's bound; with an uncertain condition |b - c| + max(eb, ec)
namespace emmy::loop::interp {

constexpr double no_bound = std::numeric_limits<double>::infinity();

/// Half the distance between neighbours of a type around a value.
inline double half_step(dtype t, double v) {
    const double magnitude = std::fabs(v);
    switch (t) {
        case dtype::f32: return magnitude * 0x1p-24 + 0x1p-150;
        case dtype::f16: return magnitude * 0x1p-11 + 0x1p-25;
        case dtype::bf16: return magnitude * 0x1p-8 + 0x1p-134;
        case dtype::f8e4m3: return magnitude * 0x1p-4 + 0x1p-10;
        case dtype::f8e5m2: return magnitude * 0x1p-3 + 0x1p-17;
        default: return 0;
    }
}

/// Bound of a monotone function by its values at the ends; of the few others by their slope.
inline double unary_bound(op o, double a, double v, double e) {
    switch (o) {
        case op::negative:
        case op::absolute:
        case op::relu:
        case op::positive: return e;
        case op::sin:
        case op::cos: return std::fmin(e, 2);
        case op::silu:
        case op::gelu:
        case op::gelu_tanh: return 1.13 * e;
        case op::square: return (2 * std::fabs(a) + e) * e;
        case op::floor:
        case op::ceil:
        case op::trunc:
        case op::rint:
        case op::sign: return e + 1;
        case op::reciprocal: return e < std::fabs(a) ? std::fabs(v) * e / (std::fabs(a) - e) : no_bound;
        case op::sqrt:
        case op::rsqrt:
        case op::log:
        case op::log2:
        case op::log10:
            if (e >= a) return no_bound;
            [[fallthrough]];
        case op::exp:
        case op::exp_fast:
        case op::exp2:
        case op::expm1:
        case op::log1p:
        case op::tanh:
        case op::erf:
        case op::sigmoid:
        case op::softplus:
        case op::arctan:
        case op::arcsinh:
        case op::cbrt: {
            const double above = std::fabs(apply_real(o, a + e, 0, 0) - v), below = std::fabs(apply_real(o, a - e, 0, 0) - v);
            return above == above && below == below ? larger(above, below) : no_bound;
        }
        default: return no_bound;
    }
}

inline double binary_bound(op o, double a, double b, double v, double ea, double eb) {
    switch (o) {
        case op::add:
        case op::subtract: return ea + eb;
        case op::multiply: return std::fabs(a) * eb + std::fabs(b) * ea + ea * eb;
        case op::divide:
        case op::divide_rn_f32: return eb < std::fabs(b) ? (ea + std::fabs(v) * eb) / (std::fabs(b) - eb) : no_bound;
        case op::maximum:
        case op::fmax:
        case op::minimum:
        case op::fmin: return larger(ea, eb);
        case op::pow: {
            if (eb > 0 || ea >= a) return no_bound;
            return larger(std::fabs(std::pow(a + ea, b) - v), std::fabs(std::pow(a - ea, b) - v));
        }
        case op::equal:
        case op::not_equal:
        case op::less:
        case op::less_equal:
        case op::greater:
        case op::greater_equal: return std::fabs(a - b) <= ea + eb ? 1 : 0;
        case op::logical_and:
        case op::logical_or:
        case op::logical_xor:
        case op::bitwise_and:
        case op::bitwise_or:
        case op::bitwise_xor: return 1;
        default: return no_bound;
    }
}

inline double integer_bound(op o, std::int64_t a, std::int64_t b, double ea, double eb) {
    const double x = std::fabs(static_cast<double>(a)), y = std::fabs(static_cast<double>(b));
    switch (o) {
        case op::add:
        case op::subtract: return ea + eb;
        case op::multiply: return x * eb + y * ea + ea * eb;
        case op::left_shift: return eb > 0 || b < 0 || b > 62 ? no_bound : ea * static_cast<double>(1ull << b);
        case op::right_shift: return eb > 0 || b < 0 || b > 62 ? no_bound : ea / static_cast<double>(1ull << b) + 1;
        case op::bitwise_and: return b >= 0 && eb == 0 ? y : a >= 0 && ea == 0 ? x : x + y + ea + eb;
        case op::bitwise_or:
        case op::bitwise_xor: return 2 * (x + y + ea + eb);
        case op::maximum:
        case op::minimum: return larger(ea, eb);
        case op::negative:
        case op::absolute: return ea;
        case op::equal:
        case op::not_equal:
        case op::less:
        case op::less_equal:
        case op::greater:
        case op::greater_equal:
        case op::logical_and:
        case op::logical_or:
        case op::logical_not: return 1;
        default: return no_bound;
    }
}

/// Bound of a step's result, from its operands' values and bounds. `e` has the layout of the registers.
template <class Slot>
void bound_value(const step& s, const Slot* r, double* e, std::size_t n) {
    constexpr double u = 0x1p-24;
    for (std::size_t l = 0; l < n; ++l) {
        const auto of = [&](reg x, std::uint8_t stride) { return x == none ? 0.0 : e[x + l * stride]; };
        const double ea = of(s.a, s.sa), eb = of(s.b, s.sb), ec = of(s.c, s.sc);
        double& out = e[s.dst + l * s.sd];
        const Slot v = r[s.dst + l * s.sd];
        const auto slot = [&](reg x, std::uint8_t stride) { return x == none ? Slot{} : r[x + l * stride]; };
        if (s.kind == value_kind::round) {
            const double x = slot(s.a, s.sa).real;
            if (s.op == op::to_f8e4m3 || s.op == op::to_f8e5m2) out = ea > 0 ? ea + 2 * half_step(s.type, std::fabs(v.real) + ea) : 0;
            else if (s.type == dtype::f32) out = ea > 0 ? ea + 2 * half_step(s.type, x) : 0;
            else out = std::isfinite(v.real) || !std::isfinite(x) ? ea + half_step(s.type, x) : no_bound;
            if (out != out) out = no_bound;
            continue;
        }
        if (ea == 0 && eb == 0 && ec == 0) {
            out = 0;
            continue;
        }
        switch (s.kind) {
            case value_kind::assign: {
                if (s.op == op::to_f4e2m1) {
                    const double a = slot(s.a, s.sa).real;
                    out = f64_to_f4e2m1(a - ea) == f64_to_f4e2m1(a + ea) ? 0 : 15;
                } else if (s.op == op::from_f4e2m1) {
                    out = 12;
                } else if (s.is_integer) {
                    out = integer_bound(s.op, slot(s.a, s.sa).integer, slot(s.b, s.sb).integer, ea, eb);
                } else {
                    const double a = slot(s.a, s.sa).real, b = slot(s.b, s.sb).real;
                    out = (s.b == none ? unary_bound(s.op, a, v.real, ea) : binary_bound(s.op, a, b, v.real, ea, eb)) + 2 * u * std::fabs(v.real);
                }
                break;
            }
            case value_kind::choose: {
                const Slot b = slot(s.b, s.sb), c = slot(s.c, s.sc);
                const double apart = s.is_integer ? std::fabs(static_cast<double>(b.integer) - static_cast<double>(c.integer)) : std::fabs(b.real - c.real);
                out = ea > 0 ? apart + larger(eb, ec) : slot(s.a, s.sa).integer != 0 ? eb : ec;
                break;
            }
            case value_kind::to_real: out = ea; break;
            case value_kind::to_integer: out = ea + 1; break;
            case value_kind::wrap: out = ea; break;
            case value_kind::real_op: out = no_bound; break;
            default: out = no_bound;  // an address, or bits, computed from values that differ
        }
        if (out != out) out = no_bound;
    }
}

/// Accumulators: `before` is the accumulator's value and bound before the step's lanes.
template <class Slot>
void bound_accumulate(const step& s, const Slot* r, double* e, std::size_t n, double before) {
    double& out = e[s.dst];
    if (s.b != none) out = e[s.b];
    if (s.op == op::add) {
        double sum = 0, magnitude = std::fabs(before);
        for (std::size_t l = 0; l < n; ++l) {
            const double ev = e[s.a + l * s.sa];
            sum += ev, magnitude += std::fabs(s.is_integer ? static_cast<double>(r[s.a + l * s.sa].integer) : r[s.a + l * s.sa].real) + ev;
        }
        if (out > 0 || sum > 0) out += sum + 0x1p-23 * static_cast<double>(n) * (magnitude + out);
        if (!s.is_integer && s.type != dtype::f32) out += static_cast<double>(n) * half_step(s.type, magnitude + out);
    } else if (s.op == op::maximum || s.op == op::minimum) {
        for (std::size_t l = 0; l < n; ++l) out = larger(out, e[s.a + l * s.sa]);
    } else {
        for (std::size_t l = 0; l < n; ++l)
            if (out > 0 || e[s.a + l * s.sa] > 0) out = no_bound;
    }
    if (out != out) out = no_bound;
}

}  // namespace emmy::loop::interp
