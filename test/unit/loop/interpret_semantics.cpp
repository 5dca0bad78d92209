#include "interpret_support.hpp"

#include <cmath>

using namespace emmy;
using namespace emmy::test;
using loop::numeric_mode;

namespace {
constexpr auto each = boost::test_tools::per_element();
const std::string sym = R"([{"sym":"n","hint":3}])";
std::string over_symbol(const std::string& axis, const std::string& body) { return R"({"Loop":{"axis":{"name":")" + axis + R"(","extent":{"sym":"n","hint":3}},"body":[)" + body + "]}}"; }
}  // namespace

BOOST_AUTO_TEST_SUITE(loop_interpret_semantics)

BOOST_AUTO_TEST_CASE(accumulators_start_on_every_entry) {
    const auto k = kernel_of({{"x", "f32", "[2,3]"}}, {{"y", "f32", "[2]"}}, over("i", 2, over("j", 3, join({load("a", "x", {"i", "j"}), accum("s", "a")})) + "," + write("y", {"i"}, "s")));
    BOOST_TEST(outputs(k, {{1, 2, 3, 10, 20, 30}}) == (reals{6, 60}), each);
}

BOOST_AUTO_TEST_CASE(maximum_starts_at_minus_1e30) {
    const auto k = kernel_of({{"x", "f32", "[3]"}}, {{"y", "f32", "[1]"}}, join({over("j", 3, join({load("a", "x", {"j"}), accum("s", "a", "maximum")})), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(k, {{-1, -3, -2}}) == (reals{-1}), each);
    BOOST_TEST(outputs(k, {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}}) == (reals{static_cast<double>(-1e30f)}), each);
    const auto low = kernel_of({{"x", "f16", "[2]"}}, {{"y", "f32", "[1]"}}, join({over("j", 2, join({load("a", "x", {"j"}), accum("s", "a", "minimum")})), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(low, {{3, 2}}) == (reals{2}), each);
}

BOOST_AUTO_TEST_CASE(two_updates_of_one_accumulator) {
    const auto k = kernel_of({{"x", "f32", "[3]"}}, {{"y", "f32", "[1]"}}, join({over("j", 3, join({load("a", "x", {"j"}), accum("s", "a"), accum("s", "a")})), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(k, {{1, 2, 3}}) == (reals{12}), each);
}

BOOST_AUTO_TEST_CASE(a_running_accumulator_is_an_ordered_prefix) {
    const auto k = kernel_of({{"x", "f32", "[2,4]"}}, {{"y", "f32", "[2,4]"}}, over("i", 2, over("j", 4, join({load("a", "x", {"i", "j"}), accum("s", "a"), write("y", {"i", "j"}, "s")}))));
    BOOST_TEST(outputs(k, {{1, 2, 3, 4, 5, 6, 7, 8}}) == (reals{1, 3, 6, 10, 5, 11, 18, 26}), each);
    const auto before = kernel_of({{"x", "f32", "[4]"}}, {{"y", "f32", "[4]"}}, over("j", 4, join({load("a", "x", {"j"}), assign("t", "add", {"s", "a"}), write("y", {"j"}, "t"), accum("s", "a")})));
    BOOST_TEST(outputs(before, {{1, 2, 3, 4}}) == (reals{1, 3, 6, 10}), each);
}

BOOST_AUTO_TEST_CASE(the_first_true_branch_wins_and_the_last_is_else) {
    const auto select = [](const std::string& branches) { return R"({"Select":{"name":"r","branches":[)" + branches + "]}}"; };
    const std::string ab = join({load("a", "x", {"j"}), let("z", "0.0")});
    const auto k = kernel_of({{"x", "f32", "[4]"}}, {{"y", "f32", "[4]"}}, over("j", 4, join({ab, select(R"({"value":"z","select":"j < 2"},{"value":"a","select":"false"})"), write("y", {"j"}, "r")})));
    BOOST_TEST(outputs(k, {{1, 2, 3, 4}}) == (reals{0, 0, 3, 4}), each);
    const auto one = kernel_of({{"x", "f32", "[4]"}}, {{"y", "f32", "[4]"}}, over("j", 4, join({ab, select(R"({"value":"a","select":"0"})"), write("y", {"j"}, "r")})));
    BOOST_TEST(outputs(one, {{1, 2, 3, 4}}) == (reals{1, 2, 3, 4}), each);
}

BOOST_AUTO_TEST_CASE(a_condition_guards_its_loads) {
    const std::string inside = join({load("a", "x", {"j"}), accum("s", "a")});
    const auto k = kernel_of({{"x", "f32", "[2]"}}, {{"y", "f32", "[1]"}}, join({R"({"Init":{"name":"s","identity":100.0,"dtype":"f32"}})", over("j", 4, R"({"Cond":{"cond":"j < 2","body":[)" + inside + "]}}"), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(k, {{5, 6}}) == (reals{111}), each);
    const auto writes = kernel_of({{"x", "f32", "[2]"}}, {{"y", "f32", "[4]"}}, over("j", 4, R"({"Cond":{"cond":"j < 2","body":[)" + join({load("a", "x", {"j"}), write("y", {"j"}, "a")}) + R"(],"else_body":[)" + join({let("z", "9.0"), write("y", {"j"}, "z")}) + "]}}"));
    BOOST_TEST(outputs(writes, {{5, 6}}) == (reals{5, 6, 9, 9}), each);
}

BOOST_AUTO_TEST_CASE(online_softmax_with_base) {
    const std::string step = join({load("s", "x", {"j"}), let("one", "1.0"), assign("g", "maximum", {"m", "s"}), assign("d", "subtract", {"m", "g"}), assign("al", "exp", {"d"}), assign("c", "subtract", {"s", "g"}),
                                   assign("be", "exp", {"c"}), assign("la", "multiply", {"l", "al"}), assign("lb", "multiply", {"be", "one"}), accum("l", "lb", "add", "la"), accum("m", "s", "maximum")});
    const auto k = kernel_of({{"x", "f32", "[4]"}}, {{"y", "f32", "[4]"}},
                             join({over("j", 4, step), over("q", 4, join({load("t", "x", {"q"}), assign("u", "subtract", {"t", "m"}), assign("e", "exp", {"u"}), assign("r", "divide", {"e", "l"}), write("y", {"q"}, "r")}))}));
    const reals got = outputs(k, {{0, 1, 3, 2}});
    double sum = 0;
    for (double v : {0, 1, 3, 2}) sum += std::exp(v);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(got[i] == std::exp(reals{0, 1, 3, 2}[i]) / sum, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_state_sees_the_previous_step_only) {
    const std::string step = join({R"({"Pre":{"name":"p","carrier":"S","index":["1 - c"]}})", load("a", "x", {"t", "c"}), assign("q", "add", {"p", "a"}),
                                   R"({"Carry":{"name":"S","value":"q","index":["c"],"seed":0.0}})", write("y", {"t", "c"}, "q")});
    const auto k = kernel_of({{"x", "f32", "[3,2]"}}, {{"y", "f32", "[3,2]"}}, over("t", 3, over("c", 2, step)));
    BOOST_TEST(outputs(k, {{1, 2, 3, 4, 5, 6}}) == (reals{1, 2, 5, 5, 10, 11}), each);
    // Read after its own Carry in the same step: still the previous step's.
    const std::string late = join({load("a", "x", {"t", "c"}), R"({"Carry":{"name":"S","value":"a","index":["c"],"seed":"z"}})", R"({"Pre":{"name":"p","carrier":"S","index":["c"]}})", write("y", {"t", "c"}, "p")});
    const auto after = kernel_of({{"x", "f32", "[3,2]"}, {"z", "f32", "[2]"}}, {{"y", "f32", "[3,2]"}}, over("t", 3, over("c", 2, late)));
    BOOST_TEST(outputs(after, {{1, 2, 3, 4, 5, 6}, {8, 9}}) == (reals{8, 9, 1, 2, 3, 4}), each);
    // After the loop a Pre reads the last step; a cell that no Carry wrote keeps its value; each entry of the loop starts at the seed.
    const std::string partial = R"({"Cond":{"cond":"c < 1","body":[)" + join({load("a", "x", {"t", "c"}), R"({"Carry":{"name":"S","value":"a","index":["c"],"seed":7.0}})"}) + "]}}";
    const auto end = kernel_of({{"x", "f32", "[3,2]"}}, {{"y", "f32", "[2]"}}, join({over("t", 3, over("c", 2, partial)), over("q", 2, join({R"({"Pre":{"name":"p","carrier":"S","index":["q"]}})", write("y", {"q"}, "p")}))}));
    BOOST_TEST(outputs(end, {{1, 2, 3, 4, 5, 6}}) == (reals{5, 7}), each);
}

BOOST_AUTO_TEST_CASE(atomic_writes_add) {
    const auto k = kernel_of({{"x", "f32", "[3,2]"}}, {{"y", "f32", "[2]"}}, over("s", 3, over("c", 2, join({load("a", "x", {"s", "c"}), write("y", {"c"}, "a", R"(,"atomic":true)")}))));
    BOOST_TEST(outputs(k, {{1, 2, 3, 4, 5, 6}}) == (reals{9, 12}), each);
}

BOOST_AUTO_TEST_CASE(several_writes_of_one_output) {
    const auto k = kernel_of({{"x", "f32", "[2]"}}, {{"y", "f32", "[5]"}}, join({over("i", 2, join({load("a", "x", {"i"}), write("y", {"i"}, "a")})), over("k", 2, join({load("b", "x", {"1 - k"}), write("y", {"k + 2"}, "b")}))}));
    BOOST_TEST(outputs(k, {{1, 2}}) == (reals{1, 2, 2, 1, 0}), each);
}

BOOST_AUTO_TEST_CASE(split_stores_are_solved) {
    const auto k = kernel_of({{"x", "f32", "[12]"}}, {{"y", "f32", "[3,4]"}}, over("a", 12, join({load("v", "x", {"a"}), write("y", {"a / 4", "a % 4"}, "v")})));
    BOOST_TEST(outputs(k, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}) == (reals{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), each);
    const auto odd = kernel_of({{"x", "f32", "[6]"}}, {{"y", "f32", "[6]"}}, over("a", 2, over("b", 3, join({load("v", "x", {"3 * a + b"}), write("y", {"(a + 2 * b) % 6"}, "v")}))));
    BOOST_TEST(outputs(odd, {{0, 1, 2, 3, 4, 5}}) == (reals{0, 3, 1, 4, 2, 5}), each);
}

BOOST_AUTO_TEST_CASE(gather) {
    const auto k = kernel_of({{"i", "i64", "[3]"}, {"x", "f32", "[4]"}}, {{"y", "f32", "[3]"}}, over("a", 3, join({load("n", "i", {"a"}), load("v", "x", {"(int)n < 0 ? (int)n + 4 : (int)n"}), write("y", {"a"}, "v")})));
    BOOST_TEST(outputs(k, {{2, -1, 0}, {10, 11, 12, 13}}) == (reals{12, 13, 10}), each);
}

BOOST_AUTO_TEST_CASE(symbols_take_given_sizes) {
    const auto k = kernel_of({{"x", "f32", sym}}, {{"y", "f32", sym}}, over_symbol("i", join({load("a", "x", {"i"}), assign("b", "negative", {"a"}), write("y", {"i"}, "b")})));
    BOOST_TEST(outputs(k, {{1, 2, 3}}) == (reals{-1, -2, -3}), each);
    loop::interpret_options five;
    five.sizes = {{"n", 5}};
    BOOST_TEST(outputs(k, {{1, 2, 3, 4, 5}}, five) == (reals{-1, -2, -3, -4, -5}), each);
    five.sizes = {{"m", 5}};
    auto refused = loop::interpreter::make(k, five);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST(refused.error().line() == "m: the kernel has no symbol m");
}

BOOST_AUTO_TEST_CASE(out_of_bounds_is_a_fault) {
    const auto k = kernel_of({{"i", "i64", "[3]"}, {"x", "f32", "[4]"}}, {{"y", "f32", "[3]"}}, over("a", 3, join({load("n", "i", {"a"}), load("v", "x", {"(int)n"}), write("y", {"a"}, "v")})));
    loop::interpreter it = compiled(k);
    const auto i = bytes_of(dtype::i64, {1, 4, 2}), x = bytes_of(dtype::f32, {1, 2, 3, 4});
    const std::vector<loop::input_data> data{loop::input_data::of_bytes(i), loop::input_data::of_bytes(x)};
    BOOST_REQUIRE(it.bind(data).has_value());
    const std::string expected = "Load v: index 4 of dimension 0 of x is outside 0 … 3";
    BOOST_TEST(it.run().error().line() == expected);
    const std::int64_t at[] = {1}, fine[] = {2}, outside[] = {3};
    BOOST_TEST(it.cell(0, at).error().line() == expected);
    BOOST_TEST(*it.cell(0, fine) == 3);
    BOOST_TEST(it.cell(0, outside).error().line() == "y: the cell lies outside the output");
    const auto writes = kernel_of({{"x", "f32", "[4]"}}, {{"y", "f32", "[3]"}}, over("a", 4, join({load("v", "x", {"a"}), write("y", {"a"}, "v")})));
    loop::interpreter out = compiled(writes);
    const std::vector<loop::input_data> one{loop::input_data::of_bytes(x)};
    BOOST_REQUIRE(out.bind(one).has_value());
    BOOST_TEST(out.run().error().line() == "Write y: index 3 of dimension 0 of y is outside 0 … 2");
}

BOOST_AUTO_TEST_CASE(data_and_budget_are_checked) {
    const auto k = kernel_of({{"x", "f32", "[2,3]"}, {"unread", "f32", "[9]"}}, {{"y", "f32", "[2]"}}, over("i", 2, over("j", 3, join({load("a", "x", {"i", "j"}), accum("s", "a")})) + "," + write("y", {"i"}, "s")));
    loop::interpret_options tight;
    tight.budget = 4;
    loop::interpreter it = compiled(k);
    std::vector<loop::input_data> data(2);
    BOOST_REQUIRE(it.bind(data).has_value());
    BOOST_TEST(it.run().error().line() == "Load a: input x is read, and no data was given");
    it = compiled(k, tight);
    data[0] = loop::input_data::of_seed(1);
    BOOST_REQUIRE(it.bind(data).has_value());
    BOOST_TEST(it.run().error().line() == "statement: the budget of computed values is spent");
    const std::vector<std::byte> few(8);
    data[0] = loop::input_data::of_bytes(few);
    BOOST_TEST(it.bind(data).error().line() == "x: found 8 bytes, expected 24");
    data.pop_back();
    BOOST_TEST(it.bind(data).error().line() == "found 1 inputs, expected 2");
}

BOOST_AUTO_TEST_CASE(row_statistics_are_computed_once_a_row) {
    const auto k = kernel_of({{"x", "f32", "[2,100]"}}, {{"y", "f32", "[2,100]"}},
                             over("i", 2, over("j", 100, join({load("a", "x", {"i", "j"}), accum("s", "a")})) + "," + over("c", 100, join({load("b", "x", {"i", "c"}), assign("r", "divide", {"b", "s"}), write("y", {"i", "c"}, "r")}))));
    loop::interpreter it = compiled(k);
    const std::vector<loop::input_data> data{loop::input_data::of_seed(3)};
    BOOST_REQUIRE(it.bind(data).has_value());
    std::int64_t at[] = {1, 0};
    BOOST_REQUIRE(it.cell(0, at).has_value());
    const std::uint64_t first = it.evaluations();
    for (at[1] = 1; at[1] < 100; ++at[1]) BOOST_REQUIRE(it.cell(0, at).has_value());
    BOOST_TEST(first > 200u);
    BOOST_TEST((it.evaluations() - first) / 99 < 20u);
    BOOST_TEST(it.cell_cost(0) == 102u);
    BOOST_TEST(it.run_cost() == 2u * 2 * 100 + 2 * 3 * 100);
}

BOOST_AUTO_TEST_CASE(a_reduction_behind_an_unrelated_loop_is_tabled) {
    // Σ_i Σ_j (Σ_k x[j,k]) * w[i]: the inner sum does not vary with i.
    const std::string inner = join({over("k", 50, join({load("a", "x", {"j", "k"}), accum("s", "a")})), load("b", "w", {"i"}), assign("p", "multiply", {"s", "b"}), accum("t", "p")});
    const auto k = kernel_of({{"x", "f32", "[40,50]"}, {"w", "f32", "[30]"}}, {{"y", "f32", "[1]"}}, join({over("i", 30, join({over("j", 40, inner), accum("u", "t")})), write("y", {"0"}, "u")}));
    loop::interpreter it = compiled(k);
    const std::vector<loop::input_data> data{loop::input_data::of_seed(1), loop::input_data::of_seed(2)};
    BOOST_REQUIRE(it.bind(data).has_value());
    const std::int64_t at[] = {0};
    const auto alone = it.cell(0, at);
    BOOST_REQUIRE(alone.has_value());
    BOOST_TEST(it.evaluations() < 12000u);  // 2 * 40 * 50 + 30 * 40 * 3, not 30 * 40 * 50 * 2
    const auto whole = it.run();
    BOOST_REQUIRE(whole.has_value());
    BOOST_TEST(load_real(dtype::f32, (*whole)[0].data(), 0) == *alone);
}

BOOST_AUTO_TEST_CASE(unseeded_and_strided_loops) {
    const auto strided = [](const std::string& body) { return R"({"StridedLoop":{"axis":{"name":"j","extent":9},"start":"1","step":"3","body":[)" + body + "]}}"; };
    const auto every_third = kernel_of({{"x", "f32", "[9]"}}, {{"y", "f32", "[1]"}}, join({strided(join({load("a", "x", {"j"}), accum("s", "a")})), write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(every_third, {{0, 1, 2, 3, 4, 5, 6, 7, 8}}) == (reals{1 + 4 + 7}), each);
    const std::string again = R"({"Loop":{"axis":{"name":"i","extent":2},"seed":false,"body":[)" + join({load("b", "x", {"i"}), accum("s", "b")}) + "]}}";
    const auto continued = kernel_of({{"x", "f32", "[3]"}}, {{"y", "f32", "[1]"}}, join({over("j", 3, join({load("a", "x", {"j"}), accum("s", "a")})), again, write("y", {"0"}, "s")}));
    BOOST_TEST(outputs(continued, {{1, 2, 4}}) == (reals{10}), each);
}

BOOST_AUTO_TEST_CASE(reduce_loops_can_be_cut) {
    const auto k = kernel_of({{"x", "f32", "[2,9]"}}, {{"y", "f32", "[2]"}}, over("i", 2, over("j", 9, join({load("a", "x", {"i", "j"}), accum("s", "a")})) + "," + write("y", {"i"}, "s")));
    loop::interpret_options cut;
    cut.reduce_steps = 4;
    reals x;
    for (int i = 0; i < 18; ++i) x.push_back(i);
    BOOST_TEST(outputs(k, {x}, cut) == (reals{6, 42}), each);
}

BOOST_AUTO_TEST_SUITE_END()
