#pragma once
#include <emmy/core/dtype.hpp>

#include <concepts>
#include <string_view>

/// Scalar types of the typed Loop IR: tag types, so that every compiler prints them by name.
namespace emmy::loop::typed {

template <dtype Type>
struct scalar_of {
    static constexpr dtype type = Type;
    static constexpr std::string_view name = token(Type);
};
struct f64 : scalar_of<dtype::f64> {};
struct f32 : scalar_of<dtype::f32> {};
struct f16 : scalar_of<dtype::f16> {};
struct bf16 : scalar_of<dtype::bf16> {};
struct f8e4m3 : scalar_of<dtype::f8e4m3> {};      ///< a code: from_f8e4m3 gives its value
struct f8e5m2 : scalar_of<dtype::f8e5m2> {};      ///< a code
struct f4e2m1x2 : scalar_of<dtype::f4e2m1x2> {};  ///< two codes in a byte
struct f16x2 : scalar_of<dtype::f16x2> {};
struct i64 : scalar_of<dtype::i64> {};
struct i32 : scalar_of<dtype::i32> {};
struct i16 : scalar_of<dtype::i16> {};
struct u64 : scalar_of<dtype::u64> {};
struct u32 : scalar_of<dtype::u32> {};
struct u16 : scalar_of<dtype::u16> {};
struct u8 : scalar_of<dtype::u8> {};
struct boolean : scalar_of<dtype::boolean> {};

template <class T>
concept scalar = std::derived_from<T, scalar_of<T::type>>;

namespace detail {
template <dtype Type> struct tag;
template <> struct tag<dtype::f64> { using type = f64; };
template <> struct tag<dtype::f32> { using type = f32; };
template <> struct tag<dtype::f16> { using type = f16; };
template <> struct tag<dtype::bf16> { using type = bf16; };
template <> struct tag<dtype::f8e4m3> { using type = f8e4m3; };
template <> struct tag<dtype::f8e5m2> { using type = f8e5m2; };
template <> struct tag<dtype::f4e2m1x2> { using type = f4e2m1x2; };
template <> struct tag<dtype::f16x2> { using type = f16x2; };
template <> struct tag<dtype::i64> { using type = i64; };
template <> struct tag<dtype::i32> { using type = i32; };
template <> struct tag<dtype::i16> { using type = i16; };
template <> struct tag<dtype::u64> { using type = u64; };
template <> struct tag<dtype::u32> { using type = u32; };
template <> struct tag<dtype::u16> { using type = u16; };
template <> struct tag<dtype::u8> { using type = u8; };
template <> struct tag<dtype::boolean> { using type = boolean; };
}  // namespace detail

/// The tag of an element type: tag_of<dtype::f32> is f32.
template <dtype Type>
using tag_of = typename detail::tag<Type>::type;

/// Codes and packed pairs: moved and converted, never computed with.
constexpr bool is_storage(dtype t) { return t == dtype::f8e4m3 || t == dtype::f8e5m2 || t == dtype::f4e2m1x2 || t == dtype::f16x2; }

}  // namespace emmy::loop::typed
