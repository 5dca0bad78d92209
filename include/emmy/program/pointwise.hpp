#pragma once
#include <cstdint>
#include <string_view>

/// The vocabulary of tensor.elementwise and of --op.
namespace emmy::program {

struct pointwise_facts {
    std::string_view name;
    std::uint8_t operands;
    bool same_type;  ///< result and operands are plain numbers of one type: what --op offers
};

namespace detail {
inline constexpr pointwise_facts pointwise_table[] = {
    {"copy", 1, true}, {"pad", 1, false}, {"negative", 1, true}, {"positive", 1, true}, {"abs", 1, true}, {"absolute", 1, true}, {"square", 1, true}, {"sqrt", 1, true}, {"cbrt", 1, true},
    {"rsqrt", 1, true}, {"reciprocal", 1, true}, {"sign", 1, true}, {"exp", 1, true}, {"exp_fast", 1, true}, {"exp2", 1, true}, {"expm1", 1, true},
    {"log", 1, true}, {"log2", 1, true}, {"log10", 1, true}, {"log1p", 1, true}, {"sin", 1, true}, {"cos", 1, true}, {"tan", 1, true},
    {"arcsin", 1, true}, {"arccos", 1, true}, {"arctan", 1, true}, {"sinh", 1, true}, {"cosh", 1, true}, {"tanh", 1, true}, {"arcsinh", 1, true},
    {"arccosh", 1, true}, {"arctanh", 1, true}, {"erf", 1, true}, {"sigmoid", 1, true}, {"silu", 1, true}, {"softplus", 1, true}, {"gelu", 1, true},
    {"gelu_tanh", 1, true}, {"relu", 1, true}, {"floor", 1, true}, {"ceil", 1, true}, {"trunc", 1, true}, {"rint", 1, true},
    {"isnan", 1, false}, {"isinf", 1, false}, {"isfinite", 1, false}, {"signbit", 1, false}, {"logical_not", 1, false}, {"invert", 1, false},
    {"bitwise_count", 1, false}, {"from_f8e4m3", 1, false}, {"to_f8e4m3", 1, false}, {"from_f8e5m2", 1, false}, {"to_f8e5m2", 1, false},
    {"from_f4e2m1", 1, false}, {"to_f4e2m1", 1, false},
    {"add", 2, true}, {"subtract", 2, true}, {"multiply", 2, true}, {"divide", 2, true}, {"divide_rn_f32", 2, false}, {"maximum", 2, true},
    {"minimum", 2, true}, {"fmax", 2, true}, {"fmin", 2, true}, {"pow", 2, true}, {"power", 2, false}, {"floor_divide", 2, true}, {"remainder", 2, true}, {"mod", 2, false},
    {"fmod", 2, true}, {"arctan2", 2, true}, {"hypot", 2, true}, {"copysign", 2, true}, {"equal", 2, false}, {"not_equal", 2, false}, {"less", 2, false},
    {"less_equal", 2, false}, {"greater", 2, false}, {"greater_equal", 2, false}, {"logical_and", 2, false}, {"logical_or", 2, false},
    {"logical_xor", 2, false}, {"left_shift", 2, false}, {"right_shift", 2, false}, {"__rshift__", 2, false}, {"bitwise_right_shift", 2, false},
    {"bitwise_and", 2, false}, {"bitwise_or", 2, false}, {"bitwise_xor", 2, false}, {"where", 3, false}};
}  // namespace detail

/// The facts of a name, or nullptr.
constexpr const pointwise_facts* find_pointwise(std::string_view name) {
    for (const pointwise_facts& f : detail::pointwise_table)
        if (f.name == name) return &f;
    return nullptr;
}

/// Names of tensor.reduce and tensor.scan.
constexpr bool is_fold_name(std::string_view name) {
    constexpr std::string_view names[] = {"sum", "add", "prod", "multiply", "maximum", "amax", "fmax", "minimum", "amin", "fmin"};
    for (std::string_view n : names)
        if (n == name) return true;
    return false;
}

}  // namespace emmy::program
