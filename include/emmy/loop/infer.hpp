#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/core/expr.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/loop/op_table.hpp>

#include <span>

/// Element types of values that a body does not state: the type inference of the deployed kernel, one rule for interpreter and printers.
namespace emmy::loop {

/// Result type of an Assign without `dtype`. `args`: types of the arguments; `same_args`: both arguments of a binary operator are one value.
/// All integers and an integer-capable operator: the widest type, unsigned winning ties (where: of the two branches). Else all f16: f16,
/// but multiply(x,x) and pow are f32 (overflow guard). Else f32: bf16 and f8 operands promote. Encoders give their code's type (f4: i32).
constexpr dtype infer_assign(op o, std::span<const dtype> args, bool same_args = false) {
    if (o == op::to_f8e4m3) return dtype::f8e4m3;
    if (o == op::to_f8e5m2) return dtype::f8e5m2;
    if (o == op::to_f4e2m1) return dtype::i32;
    if (o == op::where && args.size() == 3) args = args.subspan(1);
    bool integers = !args.empty() && facts(o).integer_capable, halves = !args.empty();
    for (dtype t : args) integers = integers && reads_as_integer(t), halves = halves && t == dtype::f16;
    if (integers) {
        dtype widest = args[0];
        for (dtype t : args.subspan(1)) {
            const int bits = emmy::facts(t).bits, best = emmy::facts(widest).bits;
            if (bits > best || (bits == best && !emmy::facts(t).is_signed)) widest = t;
        }
        return widest;
    }
    if (!halves) return dtype::f32;
    return (o == op::multiply && same_args) || o == op::square || o == op::pow ? dtype::f32 : dtype::f16;
}

/// Accum without `dtype`: sums and products accumulate in f32, maximum and minimum in their value's type.
constexpr dtype infer_accum(op o, dtype value) { return o == op::maximum || o == op::minimum ? value : dtype::f32; }

/// Select: f16 when every branch is; an integer type when every branch has that one; else f32.
constexpr dtype infer_select(std::span<const dtype> branches) {
    for (dtype t : branches)
        if (t != branches[0]) return dtype::f32;
    return !branches.empty() && (branches[0] == dtype::f16 || reads_as_integer(branches[0])) ? branches[0] : dtype::f32;
}

/// Whether an expression gives a real number; `is_real_name(name_id)` says it of names. Comparisons and logic are whole.
template <class Names>
constexpr bool is_real(const expr_pool& pool, expr_id id, const Names& is_real_name) {
    const expr& e = pool[id];
    switch (e.kind) {
        case expr_kind::real: return true;
        case expr_kind::name: return is_real_name(e.name);
        case expr_kind::binary:
            if (emmy::facts(e.op).level < 5) return false;
            return is_real(pool, e.a, is_real_name) || is_real(pool, e.b, is_real_name);
        case expr_kind::ternary: return is_real(pool, e.b, is_real_name) || is_real(pool, e.c, is_real_name);
        case expr_kind::cast: return false;
        default: return false;
    }
}
/// Let: what it states; else f32 for a real, i64 for a whole number.
constexpr dtype infer_let(dtype stated, bool real) { return stated != dtype::none ? stated : real ? dtype::f32 : dtype::i64; }

}  // namespace emmy::loop
