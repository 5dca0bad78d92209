#pragma once
#include <emmy/core/dtype.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

/// Exact conversions between the element types: every narrowing rounds once, to nearest, ties to even.
///
/// Codes are raw bits. f8e4m3 is the finite-only format (no infinity, 0x7f / 0xff NaN, largest 448); f8e5m2 follows IEEE (largest
/// 57344). Encoding to f8 saturates to the largest finite value, infinity included, and writes every NaN as 0x7f. f4e2m1 codes 0 … 15
/// are 0 .5 1 1.5 2 3 4 6 and their negatives (bit 3), saturating at 6; NaN becomes 6.
/// Conversions to integers truncate, saturate at the type's ends and give 0 for NaN; between integers they wrap modulo 2^bits.
namespace emmy {

namespace detail {

struct float_format {
    int exponent_bits, mantissa_bits;
    bool infinities;       ///< false: the top exponent holds finite values, only all ones is NaN
    bool saturates;
    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
};
inline constexpr float_format f16_format{5, 10, true, false}, bf16_format{8, 7, true, false}, f8e4m3_format{4, 3, false, true}, f8e5m2_format{5, 2, true, true};

constexpr double power_of_two(int exponent) {  // -1022 … 1023
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

constexpr double decode(std::uint32_t code, float_format f) {
    const int exponent = static_cast<int>(code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1));
    const std::uint32_t mantissa = code & ((1u << f.mantissa_bits) - 1);
    const bool negative = (code >> (f.bits() - 1) & 1) != 0, top = exponent == (1 << f.exponent_bits) - 1;
    double out = 0;
    if (top && f.infinities)
        out = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    else if (top && mantissa == (1u << f.mantissa_bits) - 1)
        out = std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
        out = static_cast<double>(mantissa) * power_of_two(1 - f.bias() - f.mantissa_bits);
    else
        out = static_cast<double>(mantissa | 1u << f.mantissa_bits) * power_of_two(exponent - f.bias() - f.mantissa_bits);
    return negative ? -out : out;
}

constexpr std::uint32_t encode(double value, float_format f) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (f.bits() - 1);
    const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
    const std::uint32_t top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    const std::uint32_t largest = f.infinities ? top - 1 : (top | ((1u << f.mantissa_bits) - 1)) - 1;
    if (magnitude > 0x7ff0000000000000u) return f.saturates ? 0x7fu : sign | top | 1u << (f.mantissa_bits - 1);
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;  // of zero and doubles' subnormals: -1023, far below every format
    if (exponent > f.bias() + 1) return sign | (f.saturates ? largest : top);
    const int lowest = 1 - f.bias();
    // Mantissa bits to drop: below the smallest normal each step down costs one more.
    const int drop = 52 - f.mantissa_bits + (exponent < lowest ? lowest - exponent : 0);
    if (drop > 54) return sign;
    std::uint64_t fraction = (magnitude & 0xfffffffffffffu) | (exponent == -1023 ? 0u : 1ull << 52);
    const std::uint64_t half = 1ull << (drop - 1), rest = fraction & ((half << 1) - 1);
    fraction >>= drop;
    if (rest > half || (rest == half && (fraction & 1) != 0)) ++fraction;
    // A carry out of the mantissa runs into the exponent, which is exactly the next binade.
    const std::uint64_t code = exponent < lowest ? fraction : fraction + (static_cast<std::uint64_t>(exponent + f.bias() - 1) << f.mantissa_bits);
    if (code > largest) return sign | (f.saturates ? largest : top);
    return sign | static_cast<std::uint32_t>(code);
}

}  // namespace detail

constexpr double f16_to_f64(std::uint16_t code) { return detail::decode(code, detail::f16_format); }
constexpr std::uint16_t f64_to_f16(double value) { return static_cast<std::uint16_t>(detail::encode(value, detail::f16_format)); }
constexpr double bf16_to_f64(std::uint16_t code) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16)); }
constexpr std::uint16_t f64_to_bf16(double value) { return static_cast<std::uint16_t>(detail::encode(value, detail::bf16_format)); }
constexpr double f8e4m3_to_f64(std::uint8_t code) { return detail::decode(code, detail::f8e4m3_format); }
constexpr std::uint8_t f64_to_f8e4m3(double value) { return static_cast<std::uint8_t>(detail::encode(value, detail::f8e4m3_format)); }
constexpr double f8e5m2_to_f64(std::uint8_t code) { return detail::decode(code, detail::f8e5m2_format); }
constexpr std::uint8_t f64_to_f8e5m2(double value) { return static_cast<std::uint8_t>(detail::encode(value, detail::f8e5m2_format)); }

constexpr double f4e2m1_to_f64(unsigned code) {
    constexpr double magnitudes[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return (code & 8) != 0 ? -magnitudes[code & 7] : magnitudes[code & 7];
}
constexpr unsigned f64_to_f4e2m1(double value) {
    constexpr double midpoints[7] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};  // between code i and i + 1
    const unsigned sign = (std::bit_cast<std::uint64_t>(value) >> 63) != 0 ? 8 : 0;
    if (value != value) return 7;
    const double magnitude = value < 0 ? -value : value;
    unsigned code = 0;
    while (code < 7 && (magnitude > midpoints[code] || (magnitude == midpoints[code] && (code & 1) != 0))) ++code;
    return sign | code;
}
/// Two codes in one byte of an f4e2m1x2 buffer: the even element in the low nibble.
constexpr unsigned f4e2m1_nibble(std::uint8_t packed, bool odd_element) { return odd_element ? packed >> 4 : packed & 15u; }
constexpr std::uint8_t pack_f4e2m1(unsigned even_code, unsigned odd_code) { return static_cast<std::uint8_t>((even_code & 15) | (odd_code & 15) << 4); }

/// f32 to the nearest f16 / bf16 value, still as f32: the fast paths of round_to (same results; NaN stays NaN).
constexpr float round_f32_to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves a mantissa whose last place is f16's smallest step, 2^-24
        const float rounded = (std::bit_cast<float>(magnitude) + 0.5f) - 0.5f;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) | (bits & 0x80000000u));
    }
    if (magnitude >= 0x477ff000u) return magnitude > 0x7f800000u ? value : std::bit_cast<float>((bits & 0x80000000u) | 0x7f800000u);  // from 65520 on
    return std::bit_cast<float>((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}
constexpr float round_f32_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return value;
    return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

/// How an element is held once read: packed and vector types are their raw bits, an integer.
constexpr bool reads_as_integer(dtype t) { return is_integer(t) || t == dtype::f4e2m1x2 || t == dtype::f16x2; }

/// An integer brought into the range of an integer (or raw-bits) type, modulo 2^bits; bool: 0 or 1.
constexpr std::int64_t wrap_to(dtype t, std::int64_t value) {
    switch (t) {
        case dtype::i32: return static_cast<std::int32_t>(value);
        case dtype::i16: return static_cast<std::int16_t>(value);
        case dtype::u32:
        case dtype::f16x2: return static_cast<std::uint32_t>(value);
        case dtype::u16: return static_cast<std::uint16_t>(value);
        case dtype::u8:
        case dtype::f4e2m1x2: return static_cast<std::uint8_t>(value);
        case dtype::boolean: return value != 0 ? 1 : 0;
        default: return value;
    }
}

/// A real as an integer type: truncated, saturated at the type's ends, NaN is 0; bool: not zero (NaN is true). u64 values of 2^63 and
/// above are held as their two's complement bits.
constexpr std::int64_t real_to_integer(dtype t, double value) {
    if (t == dtype::boolean) return value != 0 ? 1 : 0;
    if (value != value) return 0;
    if (t == dtype::u64) {
        if (value <= 0) return 0;
        if (value >= 18446744073709551616.0) return -1;
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
    }
    if (t == dtype::f4e2m1x2 || t == dtype::f16x2) return wrap_to(t, real_to_integer(dtype::i64, value));
    if (t == dtype::i64) {
        if (value >= 9223372036854775808.0) return std::numeric_limits<std::int64_t>::max();
        if (value <= -9223372036854775808.0) return std::numeric_limits<std::int64_t>::min();
        return static_cast<std::int64_t>(value);
    }
    const int bits = facts(t).bits - (facts(t).is_signed ? 1 : 0);
    const double above = detail::power_of_two(bits);
    const std::int64_t highest = (std::int64_t{1} << bits) - 1, lowest = facts(t).is_signed ? -highest - 1 : 0;
    if (value >= above) return highest;
    if (value <= static_cast<double>(lowest)) return lowest;
    return static_cast<std::int64_t>(value);
}
constexpr double integer_to_real(dtype t, std::int64_t value) {
    return t == dtype::u64 ? static_cast<double>(static_cast<std::uint64_t>(value)) : static_cast<double>(value);
}

/// The nearest value that the type can hold (f8: saturating). Integer types truncate and saturate, as real_to_integer.
constexpr double round_to(dtype t, double value) {
    switch (t) {
        case dtype::none:
        case dtype::f64: return value;
        case dtype::f32: return static_cast<double>(static_cast<float>(value));
        case dtype::f16: return f16_to_f64(f64_to_f16(value));
        case dtype::bf16: return bf16_to_f64(f64_to_bf16(value));
        case dtype::f8e4m3: return f8e4m3_to_f64(f64_to_f8e4m3(value));
        case dtype::f8e5m2: return f8e5m2_to_f64(f64_to_f8e5m2(value));
        default: return integer_to_real(t, real_to_integer(t, value));
    }
}

namespace detail {
template <class T>
T read_bytes(const void* bytes, std::size_t element) {
    T out;
    std::memcpy(&out, static_cast<const unsigned char*>(bytes) + element * sizeof(T), sizeof(T));
    return out;
}
template <class T>
void write_bytes(void* bytes, std::size_t element, T value) {
    std::memcpy(static_cast<unsigned char*>(bytes) + element * sizeof(T), &value, sizeof(T));
}
}  // namespace detail

/// Element of a raw buffer (no alignment asked). For types that hold reals; reads_as_integer types: load_integer.
inline double load_real(dtype t, const void* bytes, std::size_t element) {
    switch (t) {
        case dtype::f64: return detail::read_bytes<double>(bytes, element);
        case dtype::f32: return static_cast<double>(detail::read_bytes<float>(bytes, element));
        case dtype::f16: return f16_to_f64(detail::read_bytes<std::uint16_t>(bytes, element));
        case dtype::bf16: return bf16_to_f64(detail::read_bytes<std::uint16_t>(bytes, element));
        case dtype::f8e4m3: return f8e4m3_to_f64(detail::read_bytes<std::uint8_t>(bytes, element));
        case dtype::f8e5m2: return f8e5m2_to_f64(detail::read_bytes<std::uint8_t>(bytes, element));
        default: return 0;
    }
}
/// u64 of 2^63 and above comes as its two's complement bits; f4e2m1x2 as its byte; bool as 0 or 1.
inline std::int64_t load_integer(dtype t, const void* bytes, std::size_t element) {
    switch (t) {
        case dtype::i64:
        case dtype::u64: return detail::read_bytes<std::int64_t>(bytes, element);
        case dtype::i32: return detail::read_bytes<std::int32_t>(bytes, element);
        case dtype::u32:
        case dtype::f16x2: return detail::read_bytes<std::uint32_t>(bytes, element);
        case dtype::i16: return detail::read_bytes<std::int16_t>(bytes, element);
        case dtype::u16: return detail::read_bytes<std::uint16_t>(bytes, element);
        case dtype::u8:
        case dtype::f4e2m1x2: return detail::read_bytes<std::uint8_t>(bytes, element);
        case dtype::boolean: return detail::read_bytes<std::uint8_t>(bytes, element) != 0 ? 1 : 0;
        default: return 0;
    }
}
/// Either kind as a real number.
inline double load_element(dtype t, const void* bytes, std::size_t element) {
    return reads_as_integer(t) ? integer_to_real(t, load_integer(t, bytes, element)) : load_real(t, bytes, element);
}

inline void store_integer(dtype t, void* bytes, std::size_t element, std::int64_t value) {
    const std::int64_t v = wrap_to(t, value);
    switch (byte_size(t)) {
        case 8: detail::write_bytes(bytes, element, v); break;
        case 4: detail::write_bytes(bytes, element, static_cast<std::uint32_t>(v)); break;
        case 2: detail::write_bytes(bytes, element, static_cast<std::uint16_t>(v)); break;
        case 1: detail::write_bytes(bytes, element, static_cast<std::uint8_t>(v)); break;
        default: break;
    }
}
/// Rounds once to the type; integer types truncate and saturate.
inline void store_real(dtype t, void* bytes, std::size_t element, double value) {
    switch (t) {
        case dtype::f64: detail::write_bytes(bytes, element, value); break;
        case dtype::f32: detail::write_bytes(bytes, element, static_cast<float>(value)); break;
        case dtype::f16: detail::write_bytes(bytes, element, f64_to_f16(value)); break;
        case dtype::bf16: detail::write_bytes(bytes, element, f64_to_bf16(value)); break;
        case dtype::f8e4m3: detail::write_bytes(bytes, element, f64_to_f8e4m3(value)); break;
        case dtype::f8e5m2: detail::write_bytes(bytes, element, f64_to_f8e5m2(value)); break;
        default: store_integer(t, bytes, element, real_to_integer(t, value)); break;
    }
}

}  // namespace emmy
