#include <emmy/core/numeric.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace emmy;

/// A format checked code by code: decoding and encoding are inverse, the value halfway between neighbours goes to the even one, and
/// everything a little to either side of it goes to its side.
template <class Decode, class Encode>
void every_code(unsigned codes, unsigned sign_bit, unsigned largest, Decode decode, Encode encode) {
    for (unsigned code = 0; code < codes; ++code) {
        const double v = decode(code);
        if (v != v) continue;
        BOOST_REQUIRE_EQUAL(encode(v), code);
    }
    for (unsigned code = 0; code < largest; ++code) {
        const double low = decode(code), high = decode(code + 1), middle = (low + high) / 2;
        BOOST_REQUIRE(low < high);
        const unsigned even = code % 2 == 0 ? code : code + 1;
        BOOST_REQUIRE_EQUAL(encode(middle), even);
        BOOST_REQUIRE_EQUAL(encode(-middle), even | sign_bit);
        BOOST_REQUIRE_EQUAL(encode(std::nextafter(middle, low)), code);
        BOOST_REQUIRE_EQUAL(encode(std::nextafter(middle, high)), code + 1);
    }
}

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(f64_to_f16(1.0) == 0x3c00 && f64_to_f16(65519.99) == 0x7bff && f64_to_f16(65520) == 0x7c00 && f64_to_f16(-inf) == 0xfc00);
static_assert(f64_to_f8e4m3(448) == 0x7e && f64_to_f8e4m3(1e9) == 0x7e && f64_to_f8e4m3(-inf) == 0xfe && f64_to_f8e4m3(not_a_number) == 0x7f);
static_assert(f64_to_f8e5m2(57344) == 0x7b && f64_to_f8e5m2(inf) == 0x7b && f64_to_f8e5m2(not_a_number) == 0x7f);
static_assert(f64_to_f4e2m1(100) == 7 && f64_to_f4e2m1(-inf) == 15 && f64_to_f4e2m1(5) == 6 && f64_to_f4e2m1(-0.25) == 8 && f64_to_f4e2m1(0.75) == 2);
static_assert(real_to_integer(dtype::i32, 3e9) == 2147483647 && real_to_integer(dtype::u8, -1) == 0 && real_to_integer(dtype::i16, -1.9) == -1);

}  // namespace

BOOST_AUTO_TEST_SUITE(core_numeric)

BOOST_AUTO_TEST_CASE(f16_every_pattern) {
    every_code(0x10000, 0x8000, 0x7bff, [](unsigned c) { return f16_to_f64(static_cast<std::uint16_t>(c)); }, [](double v) { return unsigned{f64_to_f16(v)}; });
    BOOST_TEST(f16_to_f64(0x7c00) == inf);
    BOOST_TEST(std::isnan(f16_to_f64(0x7e00)));
    BOOST_TEST(f16_to_f64(1) == 0x1p-24);
    BOOST_TEST(f64_to_f16(not_a_number) == 0x7e00);
}

BOOST_AUTO_TEST_CASE(bf16_every_pattern) {
    every_code(0x10000, 0x8000, 0x7f7f, [](unsigned c) { return bf16_to_f64(static_cast<std::uint16_t>(c)); }, [](double v) { return unsigned{f64_to_bf16(v)}; });
    BOOST_TEST(f64_to_bf16(inf) == 0x7f80);
    BOOST_TEST(f64_to_bf16(3.4e38) == 0x7f80);  // beyond halfway to the next binade
}

BOOST_AUTO_TEST_CASE(f8_every_code) {
    every_code(0x100, 0x80, 0x7e, [](unsigned c) { return f8e4m3_to_f64(static_cast<std::uint8_t>(c)); }, [](double v) { return unsigned{f64_to_f8e4m3(v)}; });
    for (unsigned c = 0; c < 0x100; ++c) {
        const double v = f8e5m2_to_f64(static_cast<std::uint8_t>(c));
        if (std::isfinite(v)) BOOST_TEST(unsigned{f64_to_f8e5m2(v)} == c);
    }
    every_code(0x7c, 0x80, 0x7b, [](unsigned c) { return f8e5m2_to_f64(static_cast<std::uint8_t>(c)); }, [](double v) { return unsigned{f64_to_f8e5m2(v)}; });
    BOOST_TEST(std::isnan(f8e4m3_to_f64(0x7f)));
    BOOST_TEST(std::isnan(f8e4m3_to_f64(0xff)));
    BOOST_TEST(f8e4m3_to_f64(0x01) == 0x1p-9);
    BOOST_TEST(f8e5m2_to_f64(0x7c) == inf);
}

BOOST_AUTO_TEST_CASE(f4_every_code) {
    every_code(16, 8, 7, [](unsigned c) { return f4e2m1_to_f64(c); }, [](double v) { return f64_to_f4e2m1(v); });
    for (unsigned byte = 0; byte < 256; ++byte)
        BOOST_TEST(pack_f4e2m1(f4e2m1_nibble(static_cast<std::uint8_t>(byte), false), f4e2m1_nibble(static_cast<std::uint8_t>(byte), true)) == byte);
    BOOST_TEST(f4e2m1_nibble(0x21, false) == 1u);  // the even element is the low nibble
}

BOOST_AUTO_TEST_CASE(fast_roundings_agree_with_the_codes) {
    std::mt19937 random(7);
    const auto check = [](std::uint32_t bits) {
        const float f = std::bit_cast<float>(bits);
        if (f != f) return;
        BOOST_REQUIRE_EQUAL(std::bit_cast<std::uint32_t>(round_f32_to_f16(f)), std::bit_cast<std::uint32_t>(static_cast<float>(f16_to_f64(f64_to_f16(f)))));
        BOOST_REQUIRE_EQUAL(std::bit_cast<std::uint32_t>(round_f32_to_bf16(f)), std::bit_cast<std::uint32_t>(static_cast<float>(bf16_to_f64(f64_to_bf16(f)))));
    };
    for (int i = 0; i < 1000000; ++i) check(static_cast<std::uint32_t>(random()));
    for (std::uint32_t half = 0; half < 0x10000; ++half)  // around every f16 and bf16 boundary
        for (std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) check(half << 16 | low);
}

BOOST_AUTO_TEST_CASE(f32_goes_through_double_exactly) {
    std::mt19937 random(11);
    for (int i = 0; i < 1000000; ++i) {
        const float f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (f == f) BOOST_REQUIRE_EQUAL(static_cast<float>(round_to(dtype::f32, f)), f);
    }
    BOOST_TEST(round_to(dtype::f32, 1 + 0x1p-24) == 1.0);
    BOOST_TEST(round_to(dtype::f32, 1 + 0x3p-24) == 1 + 0x1p-22);
}

BOOST_AUTO_TEST_CASE(integers) {
    BOOST_TEST(wrap_to(dtype::i16, 40000) == -25536);
    BOOST_TEST(wrap_to(dtype::u32, -1) == 4294967295);
    BOOST_TEST(wrap_to(dtype::boolean, 2) == 1);
    BOOST_TEST(real_to_integer(dtype::i64, 1e19) == std::numeric_limits<std::int64_t>::max());
    BOOST_TEST(real_to_integer(dtype::i64, -1e19) == std::numeric_limits<std::int64_t>::min());
    BOOST_TEST(real_to_integer(dtype::u64, 1e19) == static_cast<std::int64_t>(10000000000000000000u));
    BOOST_TEST(integer_to_real(dtype::u64, real_to_integer(dtype::u64, 1e19)) == 1e19);
    BOOST_TEST(real_to_integer(dtype::i32, not_a_number) == 0);
    BOOST_TEST(real_to_integer(dtype::i32, -2147483648.9) == -2147483648);
    BOOST_TEST(real_to_integer(dtype::boolean, 0.25) == 1);
    BOOST_TEST(round_to(dtype::u8, 300) == 255);
}

BOOST_AUTO_TEST_CASE(elements_of_raw_buffers) {
    std::vector<unsigned char> bytes(1 + 8 * 4);  // misaligned on purpose
    void* at = bytes.data() + 1;
    for (std::size_t t = 1; t < dtype_table.size(); ++t) {
        const auto type = static_cast<dtype>(t);
        const double v = type == dtype::boolean ? 1 : 6;
        store_real(type, at, 3, v);
        BOOST_TEST(load_element(type, at, 3) == v, std::string(token(type)));
        if (!reads_as_integer(type)) continue;
        store_integer(type, at, 2, -1);
        BOOST_TEST(load_integer(type, at, 2) == wrap_to(type, -1), std::string(token(type)));
    }
    store_real(dtype::f16, at, 0, 1.0 / 3);
    BOOST_TEST(load_real(dtype::f16, at, 0) == f16_to_f64(0x3555));
}

BOOST_AUTO_TEST_SUITE_END()
