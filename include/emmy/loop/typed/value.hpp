#pragma once
#include <emmy/core/refused.hpp>
#include <emmy/loop/typed/index.hpp>
#include <emmy/loop/typed/scalar.hpp>

#include <type_traits>

/// Values of a kernel under construction: handles that know their scalar type.
namespace emmy::loop::typed {

namespace detail {
template <class T>
consteval void undefined_value() {
    say<[] {
        sentence out("val<");
        out.append(T::name).append(">: found no definition, expected the result of a load, an operator or a fold");
        return out;
    }>();
}
}  // namespace detail

/// A scalar that a statement defines. There is none without a statement: an undefined value does not compile.
template <scalar T>
class val {
public:
    using type = T;

    template <class U = T>
    constexpr val() { detail::undefined_value<U>(); }
    constexpr val(detail::recorder* in, const detail::handle& h) : in_(in), handle_(h) {}

    constexpr detail::recorder* owner() const { return in_; }
    constexpr const detail::handle& handle() const { return handle_; }
    constexpr val value() const { return *this; }

private:
    detail::recorder* in_ = nullptr;
    detail::handle handle_;
};

/// What an operator takes: a value, an element of an input (loaded where it is used), an accumulator.
template <class X>
concept operand = requires(const X& x) {
    typename X::type;
    requires scalar<typename X::type>;
    { x.value() } -> std::same_as<val<typename X::type>>;
};

namespace detail {
template <class To, class From>
consteval void cannot_widen() {
    say<[] {
        sentence out("widen<");
        out.append(To::name).append(">: found ").append(From::name).append(", expected f16, bf16 or the type itself (cast rounds)");
        return out;
    }>();
}
}  // namespace detail

/// A value in a wider type that holds it exactly: no statement, an operator that mixes types promotes its operands.
template <scalar To, operand X>
class widened {
public:
    using type = To;

    constexpr explicit widened(const X& from) : from_(from) {
        using From = typename X::type;
        constexpr bool half = std::is_same_v<From, f16> || std::is_same_v<From, bf16>;
        if constexpr (!std::is_same_v<From, To> && !(half && std::is_same_v<To, f32>)) detail::cannot_widen<To, From>();
    }
    constexpr val<To> value() const {
        const auto from = from_.value();
        return {from.owner(), from.handle()};
    }

private:
    X from_;
};
template <scalar To, operand X>
constexpr widened<To, X> widen(const X& x) { return widened<To, X>(x); }
/// To f32, the type that mixed operands meet in.
template <operand X>
constexpr widened<f32, X> wide(const X& x) { return widened<f32, X>(x); }

/// A value that the store rounds to its buffer's type.
template <scalar T>
struct rounded_value {
    val<T> from;
};
template <operand X>
constexpr rounded_value<typename X::type> rounded(const X& x) { return {x.value()}; }

/// An integer value as an index (a gather).
template <operand X>
constexpr index index_of(const X& x) {
    using T = typename X::type;
    if constexpr (!is_integer(T::type))
        say<[] {
            sentence out("index_of: found ");
            out.append(T::name).append(", expected an integer value");
            return out;
        }>();
    const val<T> v = x.value();
    loop::body& body = v.owner()->body;
    const expr_id name = body.exprs.name(v.owner()->use(v.owner(), v.handle()));
    return {v.owner(), body.exprs.cast(body.names.intern("int"), name)};
}

}  // namespace emmy::loop::typed
