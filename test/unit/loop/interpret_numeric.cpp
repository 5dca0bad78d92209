#include "interpret_support.hpp"

#include <cmath>

using namespace emmy;
using namespace emmy::test;
using loop::numeric_mode;

namespace {
constexpr auto each = boost::test_tools::per_element();
/// One value through some statements that end in v.
double through(const std::string& type, double x, const std::string& statements, const std::string& out = "f32", numeric_mode mode = numeric_mode::typed) {
    const auto k = kernel_of({{"x", type, "[1]"}}, {{"y", out, "[1]"}}, join({load("a", "x", {"0"}), statements, write("y", {"0"}, "v")}));
    loop::interpret_options options;
    options.mode = mode;
    return outputs(k, {{x}}, options)[0];
}
}  // namespace

BOOST_AUTO_TEST_SUITE(loop_interpret_numeric)

BOOST_AUTO_TEST_CASE(f16_stays_f16_but_squares_are_f32) {
    BOOST_TEST(through("f16", 1000, assign("v", "add", {"a", "a"})) == 2000);
    BOOST_TEST(through("f16", 2049, assign("v", "add", {"a", "a"})) == 4096);     // 2049 is stored as 2048
    BOOST_TEST(through("f16", 1.0009765625, join({assign("b", "copy", {"a"}, "f16"), assign("c", "negative", {"a"}), assign("d", "negative", {"c"}), assign("v", "multiply", {"b", "d"})})) == 1.001953125);  // rounded to f16
    BOOST_TEST(through("f16", 300, assign("v", "multiply", {"a", "a"})) == 90000);  // f32: no overflow
    BOOST_TEST(through("f16", 300, assign("v", "square", {"a"})) == 90000);
    BOOST_TEST(through("f16", 300, join({assign("b", "negative", {"a"}), assign("v", "multiply", {"a", "b"})})) == -HUGE_VAL);  // f16
    BOOST_TEST(through("f16", 300, join({assign("b", "negative", {"a"}), assign("v", "multiply", {"a", "b"}, "f32")})) == -90000);
}

BOOST_AUTO_TEST_CASE(bf16_promotes_and_rounds_where_it_says) {
    const double third = round_to(dtype::bf16, 1.0 / 3);
    BOOST_TEST(through("bf16", 1.0 / 3, assign("v", "multiply", {"a", "a"})) == third * third);
    BOOST_TEST(through("bf16", 1.0 / 3, assign("v", "multiply", {"a", "a"}, "bf16")) == round_to(dtype::bf16, third * third));
    BOOST_TEST(through("bf16", 1.0 / 3, assign("v", "multiply", {"a", "a"}, "bf16"), "f32", numeric_mode::relaxed_f32) == third * third);
}

BOOST_AUTO_TEST_CASE(relaxed_ignores_copies_but_stores_round) {
    BOOST_TEST(through("f32", 1.0001, assign("v", "copy", {"a"}, "f16")) == 1.0);
    BOOST_TEST(through("f32", 1.0001, assign("v", "copy", {"a"}, "f16"), "f32", numeric_mode::relaxed_f32) == static_cast<double>(1.0001f));
    BOOST_TEST(through("f32", 1.0001, assign("v", "copy", {"a"}), "f16", numeric_mode::relaxed_f32) == 1.0);
}

BOOST_AUTO_TEST_CASE(codes) {
    const std::string there_and_back = join({assign("b", "to_f8e4m3", {"a"}, "f8e4m3"), assign("v", "from_f8e4m3", {"b"})});
    for (const numeric_mode mode : {numeric_mode::typed, numeric_mode::relaxed_f32}) {
        BOOST_TEST(through("f32", 1.05, there_and_back, "f32", mode) == 1.0);
        BOOST_TEST(through("f32", 500, there_and_back, "f32", mode) == 448);
        BOOST_TEST(std::isnan(through("f32", NAN, there_and_back, "f32", mode)));
        BOOST_TEST(through("u8", 0x38, assign("v", "from_f8e4m3", {"a"}), "f32", mode) == 1);
        BOOST_TEST(through("f32", 2.6, assign("v", "to_f4e2m1", {"a"}, "i32"), "i32", mode) == 5);
        BOOST_TEST(through("f32", -7, assign("v", "to_f4e2m1", {"a"}, "i32"), "i32", mode) == 15);
        BOOST_TEST(through("i32", 13, assign("v", "from_f4e2m1", {"a"}), "f32", mode) == -3);
        BOOST_TEST(through("u16", 0x3c00, assign("v", "bitcast", {"a"}, "f16"), "f32", mode) == 1);
        BOOST_TEST(through("f32", 1, assign("v", "bitcast", {"a"}, "u32"), "u32", mode) == 0x3f800000);
    }
    BOOST_TEST(through("f8e4m3", 1.125, assign("v", "from_f8e4m3", {"a"}, "f16")) == 1.125);
}

BOOST_AUTO_TEST_CASE(packed_f4) {
    // Two codes into a byte, the even element in the low nibble, and back.
    const auto pack = kernel_of({{"x", "f32", "[2]"}, {"four", "i32", "[1]"}}, {{"y", "f4e2m1x2", "[1]"}},
                                join({load("a", "x", {"0"}), load("b", "x", {"1"}), load("f", "four", {"0"}), assign("p", "to_f4e2m1", {"a"}, "i32"), assign("q", "to_f4e2m1", {"b"}, "i32"), assign("s", "left_shift", {"q", "f"}),
                                      assign("o", "bitwise_or", {"s", "p"}), assign("v", "copy", {"o"}, "f4e2m1x2"), write("y", {"0"}, "v")}));
    BOOST_TEST(outputs(pack, {{1.5, -6}, {4}}) == (reals{0xf3}), each);
    const auto unpack = kernel_of({{"x", "f4e2m1x2", "[1]"}, {"four", "i32", "[1]"}, {"mask", "i32", "[1]"}}, {{"y", "i32", "[2]"}},
                                  join({load("a", "x", {"0"}), load("f", "four", {"0"}), load("m", "mask", {"0"}), assign("i", "copy", {"a"}, "i32"), assign("l", "bitwise_and", {"i", "m"}), assign("h", "right_shift", {"i", "f"}),
                                        write("y", {"0"}, "l"), write("y", {"1"}, "h")}));
    BOOST_TEST(outputs(unpack, {{0xf3}, {4}, {15}}) == (reals{3, 15}), each);
}

BOOST_AUTO_TEST_CASE(integers_stay_integers) {
    BOOST_TEST(through("i32", 2147483647, assign("v", "add", {"a", "a"}), "i32") == -2);  // wraps at its width
    BOOST_TEST(through("i32", 16777217, join({assign("b", "copy", {"a"}), assign("v", "multiply", {"a", "b"}, "i64")}), "i64") == 281475010265089.0);
    BOOST_TEST(through("i32", -7, join({let("t", "2"), assign("v", "right_shift", {"a", "t"})}), "i32") == -2);
    BOOST_TEST(through("u32", 4294967289, join({let("t", "2"), assign("c", "copy", {"t"}, "u32"), assign("v", "right_shift", {"a", "c"})}), "u32") == 1073741822);
    BOOST_TEST(through("i32", -7, join({let("t", "2"), assign("v", "floor_divide", {"a", "t"})}), "i32") == -4);
    BOOST_TEST(through("i32", -7, join({let("t", "2"), assign("v", "remainder", {"a", "t"})}), "i32") == 1);
    BOOST_TEST(through("f32", -2.7, assign("v", "copy", {"a"}, "i32"), "i32") == -2);
    BOOST_TEST(through("f32", 1e10, assign("v", "copy", {"a"}, "i32"), "i32") == 2147483647);
    BOOST_TEST(through("i32", 7, join({let("h", "2.0"), assign("v", "divide", {"a", "h"})})) == 3.5);
}

BOOST_AUTO_TEST_CASE(functions) {
    const auto f = [](const std::string& op, double x) { return through("f32", x, assign("v", op, {"a"})); };
    BOOST_TEST(f("relu", -1) == 0);
    BOOST_TEST(f("relu", NAN) == 0);
    BOOST_TEST(f("abs", -2) == 2);
    BOOST_TEST(f("rsqrt", 4) == 0.5);
    BOOST_TEST(f("sigmoid", 0) == 0.5);
    BOOST_TEST(f("exp", 1) == static_cast<double>(static_cast<float>(std::exp(1.0))));
    BOOST_TEST(f("silu", 1) == static_cast<double>(static_cast<float>(1 / (1 + std::exp(-1.0)))));
    BOOST_TEST(f("softplus", 100) == 100);
    BOOST_TEST(f("rint", 2.5) == 2);
    const auto g = [](const std::string& op, double x, double y) {
        const auto k = kernel_of({{"x", "f32", "[2]"}}, {{"y", "f32", "[1]"}}, join({load("a", "x", {"0"}), load("b", "x", {"1"}), assign("v", op, {"a", "b"}), write("y", {"0"}, "v")}));
        return outputs(k, {{x, y}})[0];
    };
    BOOST_TEST(g("maximum", NAN, 3) == 3);
    BOOST_TEST(g("minimum", -1, NAN) == -1);
    BOOST_TEST(g("pow", 2, -3) == 0.125);
    BOOST_TEST(g("divide_rn_f32", 1, 3) == static_cast<double>(1.0f / 3.0f));
    BOOST_TEST(g("less", 1, 2) == 1);
    BOOST_TEST(g("bitwise_and", 2, 4) == 1);  // on floats: logical
    BOOST_TEST(g("subtract", 1, 1e-9) == static_cast<double>(1.0f - 1e-9f));
    const auto where = kernel_of({{"x", "f32", "[3]"}}, {{"y", "f32", "[1]"}}, join({load("c", "x", {"0"}), load("a", "x", {"1"}), load("b", "x", {"2"}), assign("v", "where", {"c", "a", "b"}), write("y", {"0"}, "v")}));
    BOOST_TEST(outputs(where, {{0.5, 7, 8}})[0] == 7);
    BOOST_TEST(outputs(where, {{0, 7, 8}})[0] == 8);
}

BOOST_AUTO_TEST_CASE(sums_round_to_f32_at_every_step) {
    const auto k = kernel_of({{"x", "f16", "[3]"}}, {{"y", "f32", "[1]"}}, join({over("j", 3, join({load("a", "x", {"j"}), accum("s", "a")})), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(k, {{2048, 1, 1}})[0] == 2050);  // not in f16
    const auto f = kernel_of({{"x", "f32", "[3]"}}, {{"y", "f32", "[1]"}}, join({over("j", 3, join({load("a", "x", {"j"}), accum("s", "a")})), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(f, {{16777216, 1, 1}})[0] == 16777216);  // nor exactly
}

BOOST_AUTO_TEST_CASE(the_bound_covers_the_other_mode) {
    // A mean-square norm in f16 with a dot product behind it.
    const auto k = kernel_of({{"x", "f16", "[64]"}, {"w", "f16", "[64]"}}, {{"y", "f16", "[1]"}},
                             join({over("j", 64, join({load("a", "x", {"j"}), assign("q", "multiply", {"a", "a"}), accum("s", "q")})), assign("r", "rsqrt", {"s"}), assign("h", "copy", {"r"}, "f16"),
                                   over("i", 64, join({load("b", "x", {"i"}), load("c", "w", {"i"}), assign("n", "multiply", {"b", "h"}), assign("p", "multiply", {"n", "c"}, "f32"), accum("t", "p")})), write("y", {"0"}, "t")}));
    const std::vector<loop::input_data> data{loop::input_data::of_seed(5), loop::input_data::of_seed(6)};
    loop::interpret_options typed, relaxed;
    typed.bounds = true;
    relaxed.mode = numeric_mode::relaxed_f32;
    loop::interpreter a = compiled(k, typed), b = compiled(k, relaxed);
    BOOST_REQUIRE((a.bind(data).has_value() && b.bind(data).has_value()));
    const std::int64_t at[] = {0};
    const auto x = a.bounded_cell(0, at);
    const auto y = b.cell(0, at);
    BOOST_REQUIRE((x.has_value() && y.has_value()));
    BOOST_TEST(x->value != *y);
    BOOST_TEST(std::fabs(x->value - *y) <= x->bound);
    BOOST_TEST(x->bound < 0.02);
}

BOOST_AUTO_TEST_SUITE_END()
