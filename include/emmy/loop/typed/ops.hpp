#pragma once
#include <emmy/loop/infer.hpp>
#include <emmy/loop/typed/buffer.hpp>

/// Operators over typed operands. What one takes and gives follows from op_table and from the type inference of kernels (loop/infer.hpp).
namespace emmy::loop::typed {

using loop::op;

namespace detail {

enum class wrong : std::uint8_t { nothing, arity, code, mixed, integers, floats, result };

constexpr bool converts(op o) { return facts(o).unit == op_unit::convert || facts(o).unit == op_unit::move; }

/// First thing wrong with operands of these types; `stated` = the result type asked for, or none.
template <std::size_t Count>
constexpr wrong misuse(op o, const std::array<dtype, Count>& args, dtype stated) {
    const op_facts& f = facts(o);
    if (static_cast<std::size_t>(f.arity) != Count) return wrong::arity;
    const std::size_t first = o == op::where ? 1 : 0;
    bool floats = true, integers = true;
    for (std::size_t i = 0; i < Count; ++i) {
        if (!converts(o) && is_storage(args[i])) return wrong::code;
        if (i > first && args[i] != args[first] && o != op::ldexp) return wrong::mixed;
        floats = floats && is_floating(args[i]);
        integers = integers && is_integer(args[i]);
    }
    if (f.unit == op_unit::integer && !integers) return wrong::integers;
    if (!f.integer_capable && !converts(o) && o != op::ldexp && !floats) return wrong::floats;
    if (stated != dtype::none && !converts(o) && f.unit != op_unit::compare && is_integer(stated) != (integers && f.integer_capable)) return wrong::result;
    return wrong::nothing;
}

template <op O, class R, class... Ts>
constexpr sentence operands_sentence() {
    constexpr std::array<dtype, sizeof...(Ts)> args{Ts::type...};
    constexpr dtype stated = [] { if constexpr (scalar<R>) return R::type; else return dtype::none; }();
    sentence found, expected;
    constexpr wrong what = misuse(O, args, stated);
    if constexpr (what == wrong::arity) {
        found.append(sizeof...(Ts)).append(sizeof...(Ts) == 1 ? " operand" : " operands");
        expected.append(facts(O).arity);
        return says(text(O), found.view(), expected.view());
    }
    if constexpr (what == wrong::result) {
        found.append("a result of ").append(token(stated));
        return says(text(O), found.view(), is_integer(stated) ? "a floating type" : "an integer type");
    }
    for (std::size_t i = 0; i < args.size(); ++i) found.append(i == 0 ? "" : i + 1 == args.size() ? " and " : ", ").append(token(args[i]));
    switch (what) {
        case wrong::code: expected.append("values (from_").append("f8e4m3 and its like give the value of a code)"); break;
        case wrong::mixed: expected.append("operands of one type (widen promotes, cast rounds)"); break;
        case wrong::integers: expected.append("integers"); break;
        default: expected.append("floating types (cast<f32> converts)");
    }
    return says(text(O), found.view(), expected.view());
}

template <class R, op O, class... Ts>
consteval dtype result_type() {
    if constexpr (scalar<R>) {
        return R::type;
    } else {
        constexpr std::array<dtype, sizeof...(Ts)> args{Ts::type...};
        return infer_assign(O, args);
    }
}
}  // namespace detail

/// Applies an operator; R = result type, `void` = the one that inference gives. A dtype is written where inference over the types in the
/// body would give another.
template <op O, class R = void, operand... Xs>
constexpr auto apply(const Xs&... xs) {
    constexpr std::array<dtype, sizeof...(Xs)> types{Xs::type::type...};
    constexpr dtype stated = [] { if constexpr (scalar<R>) return R::type; else return dtype::none; }();
    if constexpr (detail::misuse(O, types, stated) != detail::wrong::nothing) {
        say<[] { return detail::operands_sentence<O, R, typename Xs::type...>(); }>();
        return val<f32>(nullptr, {});
    } else {
        using T = tag_of<detail::result_type<R, O, typename Xs::type...>()>;
        std::array<name_id, sizeof...(Xs)> names{};
        std::array<dtype, sizeof...(Xs)> stored{};
        detail::recorder* in = nullptr;
        std::size_t i = 0;
        const auto take = [&](const auto& v) {
            if (in == nullptr) in = v.owner();
            names[i] = in->use(v.owner(), v.handle());
            stored[i++] = v.handle().stored;
        };
        (take(xs.value()), ...);  // left to right: loads appear in the order of the operands
        const bool square = sizeof...(Xs) == 2 && names[0] == names[sizeof...(Xs) - 1];
        const bool state = stated != dtype::none || infer_assign(O, stored, square) != T::type;
        return val<T>(in, in->assign(O, names, state ? T::type : dtype::none, T::type));
    }
}

namespace detail {
template <class... Xs>
concept astray = (operand<Xs> || ...) && (no_value<Xs> || ...) && ((operand<Xs> || no_value<Xs>) && ...);
template <op O, class X, class... Rest>
constexpr auto first_astray() {
    if constexpr (no_value<X>) return no_value_sentence<X>(text(O));
    else return first_astray<O, Rest...>();
}
}  // namespace detail
/// An operator of a value and what is none: says so.
template <op O, class R = void, class... Xs>
    requires detail::astray<Xs...>
constexpr val<f32> apply(const Xs&...) {
    say<[] { return detail::first_astray<O, Xs...>(); }>();
    return {nullptr, {}};
}

/// A conversion that rounds: a statement of its own.
template <scalar To, operand X>
constexpr val<To> cast(const X& x) { return apply<op::copy, To>(x); }

#define EMMY_TYPED_OPERATOR(name) \
    template <class R = void, operand... Xs> \
    constexpr auto name(const Xs&... xs) { return apply<op::name, R>(xs...); } \
    template <class R = void, class... Xs> \
        requires detail::astray<Xs...> \
    constexpr auto name(const Xs&... xs) { return apply<op::name, R>(xs...); }
EMMY_TYPED_OPERATOR(add) EMMY_TYPED_OPERATOR(subtract) EMMY_TYPED_OPERATOR(multiply) EMMY_TYPED_OPERATOR(divide) EMMY_TYPED_OPERATOR(divide_rn_f32)
EMMY_TYPED_OPERATOR(remainder) EMMY_TYPED_OPERATOR(floor_divide) EMMY_TYPED_OPERATOR(reciprocal) EMMY_TYPED_OPERATOR(negative) EMMY_TYPED_OPERATOR(absolute)
EMMY_TYPED_OPERATOR(square) EMMY_TYPED_OPERATOR(sqrt) EMMY_TYPED_OPERATOR(rsqrt) EMMY_TYPED_OPERATOR(pow) EMMY_TYPED_OPERATOR(maximum) EMMY_TYPED_OPERATOR(minimum)
EMMY_TYPED_OPERATOR(sign) EMMY_TYPED_OPERATOR(exp) EMMY_TYPED_OPERATOR(exp2) EMMY_TYPED_OPERATOR(log) EMMY_TYPED_OPERATOR(log2) EMMY_TYPED_OPERATOR(sin)
EMMY_TYPED_OPERATOR(cos) EMMY_TYPED_OPERATOR(tanh) EMMY_TYPED_OPERATOR(erf) EMMY_TYPED_OPERATOR(sigmoid) EMMY_TYPED_OPERATOR(silu) EMMY_TYPED_OPERATOR(softplus)
EMMY_TYPED_OPERATOR(gelu) EMMY_TYPED_OPERATOR(gelu_tanh) EMMY_TYPED_OPERATOR(relu) EMMY_TYPED_OPERATOR(floor) EMMY_TYPED_OPERATOR(ceil) EMMY_TYPED_OPERATOR(trunc)
EMMY_TYPED_OPERATOR(rint) EMMY_TYPED_OPERATOR(copy) EMMY_TYPED_OPERATOR(from_f8e4m3) EMMY_TYPED_OPERATOR(to_f8e4m3) EMMY_TYPED_OPERATOR(from_f8e5m2)
EMMY_TYPED_OPERATOR(to_f8e5m2) EMMY_TYPED_OPERATOR(from_f4e2m1) EMMY_TYPED_OPERATOR(to_f4e2m1) EMMY_TYPED_OPERATOR(where) EMMY_TYPED_OPERATOR(equal)
EMMY_TYPED_OPERATOR(not_equal) EMMY_TYPED_OPERATOR(less) EMMY_TYPED_OPERATOR(less_equal) EMMY_TYPED_OPERATOR(greater) EMMY_TYPED_OPERATOR(greater_equal)
EMMY_TYPED_OPERATOR(left_shift) EMMY_TYPED_OPERATOR(right_shift) EMMY_TYPED_OPERATOR(bitwise_and) EMMY_TYPED_OPERATOR(bitwise_or) EMMY_TYPED_OPERATOR(bitwise_xor)
#undef EMMY_TYPED_OPERATOR

template <operand A, operand B> constexpr auto operator+(const A& a, const B& b) { return apply<op::add>(a, b); }
template <operand A, operand B> constexpr auto operator-(const A& a, const B& b) { return apply<op::subtract>(a, b); }
template <operand A, operand B> constexpr auto operator*(const A& a, const B& b) { return apply<op::multiply>(a, b); }
template <operand A, operand B> constexpr auto operator/(const A& a, const B& b) { return apply<op::divide>(a, b); }
template <class A, class B> requires detail::astray<A, B> constexpr auto operator+(const A& a, const B& b) { return apply<op::add>(a, b); }
template <class A, class B> requires detail::astray<A, B> constexpr auto operator-(const A& a, const B& b) { return apply<op::subtract>(a, b); }
template <class A, class B> requires detail::astray<A, B> constexpr auto operator*(const A& a, const B& b) { return apply<op::multiply>(a, b); }
template <class A, class B> requires detail::astray<A, B> constexpr auto operator/(const A& a, const B& b) { return apply<op::divide>(a, b); }
template <operand A> constexpr auto operator-(const A& a) { return apply<op::negative>(a); }

}  // namespace emmy::loop::typed
