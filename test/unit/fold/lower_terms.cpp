// Closed terms as bodies again: where values stand, what shares a loop, how rescaled folds and recurrences are spelled.
#include "unit/fold/lifted.hpp"

#include <emmy/fold/form.hpp>
#include <emmy/fold/lower_terms.hpp>
#include <emmy/loop/identity.hpp>
#include <emmy/loop/print.hpp>
#include <emmy/loop/validate.hpp>

using namespace emmy;
using namespace emmy::test;

namespace {

/// The lines of a printed body, without the head.
std::string body_of(const loop::kernel& k) {
    const std::string text = loop::print(k);
    return text.substr(text.find('\n') + 1);
}
loop::kernel lowered(const closed::forest& f, closed::grid_nesting grid = closed::grid_nesting::tree) {
    auto k = closed::lower(f, grid);
    BOOST_REQUIRE_MESSAGE(k, (k ? "" : k.error().line()));
    BOOST_REQUIRE(loop::validate(*k));
    return std::move(*k);
}
lifted softmax() {
    return lift({"x"}, {"y"},
                {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), accum("acc0", "in0", "a1", "maximum")}),
                                over("a1", 32, {load("in1", "x", {"a0", "a1"}), assign("v0", "subtract", {"in1", "acc0"}), assign("v1", "exp", {"v0"}), accum("acc1", "v1", "a1")}),
                                over("a3", 32, {load("in2", "x", {"a0", "a3"}), assign("v2", "subtract", {"in2", "acc0"}), assign("v3", "exp", {"v2"}),
                                                assign("v4", "divide", {"v3", "acc1"}), write("y", {"a0", "a3"}, "v4")})})});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_rescaled_fold_moves_its_pivot_last) {
    const loop::kernel k = lowered(softmax().forest);
    BOOST_TEST(body_of(k) ==
               "v0 = let 1.0\n"
               "a0<8:\n"
               "  a1<32:\n"
               "    in0 = x[a0, a1]\n"
               "    v1 = maximum(acc1, in0)\n"
               "    v2 = subtract(acc1, v1)\n"
               "    v3 = exp(v2)\n"
               "    v4 = multiply(acc0, v3)\n"
               "    v5 = subtract(in0, v1)\n"
               "    v6 = exp(v5)\n"
               "    v7 = multiply(v0, v6)\n"
               "    acc0 <add- v7 base v4 /a1\n"
               "    acc1 <maximum- in0 /a1\n"
               "  a2<32:\n"
               "    in1 = x[a0, a2]\n"
               "    v8 = subtract(in1, acc1)\n"
               "    v9 = exp(v8)\n"
               "    v10 = divide(v9, acc0)\n"
               "    y[a0, a2] = v10\n");
    // That body lifts to the same terms, and they say the same body.
    const auto again = closed::lift_terms(k);
    BOOST_REQUIRE(again);
    BOOST_TEST(lifted({k, *again}).addresses() == softmax().addresses());
    BOOST_TEST(loop::print(lowered(*again)) == loop::print(k));
}

BOOST_AUTO_TEST_CASE(folds_share_a_loop_unless_one_needs_the_other) {
    const lifted k = lift({"x"}, {"s1", "s2", "s3"},
                          {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), accum("acc0", "in0", "a1")}), write("s1", {"a0"}, "acc0"),
                                          over("a1", 32, {load("in1", "x", {"a0", "a1"}), assign("v0", "exp", {"in1"}), accum("acc1", "v0", "a1")}), write("s2", {"a0"}, "acc1"),
                                          over("a1", 32, {load("in2", "x", {"a0", "a1"}), assign("v1", "subtract", {"in2", "acc0"}), assign("v2", "abs", {"v1"}), accum("acc2", "v2", "a1")}),
                                          write("s3", {"a0"}, "acc2")})});
    const loop::kernel out = lowered(k.forest);
    std::size_t loops = 0;
    for (const loop::stmt& s : out.body.stmts) loops += s.kind == loop::stmt_kind::loop;
    BOOST_TEST(loops == 3u);  // rows, one loop for two sums, one for the third
    BOOST_CHECK(loop::identity(out) == loop::identity(k.kernel));
}

BOOST_AUTO_TEST_CASE(a_value_stands_in_the_outermost_loop_that_binds_it_or_inside_the_grid) {
    const lifted k = lift({"c_eps", "x"}, {"y"},
                          {load("in0", "c_eps", {"0"}), over("a0", 8, {over("a1", 32, {load("in1", "x", {"a0", "a1"}), assign("v0", "square", {"in1"}), accum("acc0", "v0", "a1")}),
                                                                     over("a2", 16, {load("in2", "x", {"a0", "a2"}), assign("v1", "add", {"acc0", "in0"}), assign("v2", "multiply", {"in2", "v1"}),
                                                                                     write("y", {"a0", "a2"}, "v2")})})});
    closed::forest f = k.forest;
    BOOST_TEST(body_of(lowered(f)) ==
               "in0 = c_eps[0]\n"
               "a0<8:\n"
               "  a1<32:\n"
               "    in1 = x[a0, a1]\n"
               "    v0 = square(in1)\n"
               "    acc0 <add- v0 /a1\n"
               "  v1 = add(acc0, in0)\n"
               "  a2<16:\n"
               "    in2 = x[a0, a2]\n"
               "    v2 = multiply(in2, v1)\n"
               "    y[a0, a2] = v2\n");
    f.free.push_back(f.stores[0].sweeps[0]);
    f.stores[0].sweeps.clear();
    BOOST_TEST(body_of(lowered(f, closed::grid_nesting::inside)) ==
               "a0<8:\n"
               "  a1<16:\n"
               "    a2<32:\n"
               "      in0 = x[a0, a2]\n"
               "      v0 = square(in0)\n"
               "      acc0 <add- v0 /a2\n"
               "    in1 = c_eps[0]\n"
               "    v1 = add(acc0, in1)\n"
               "    in2 = x[a0, a1]\n"
               "    v2 = multiply(in2, v1)\n"
               "    y[a0, a1] = v2\n");
}

BOOST_AUTO_TEST_CASE(loops_of_one_turn_are_gone) {
    const lifted k = lift({"x"}, {"y"}, {over("a0", 1, {over("a1", 8, {over("a2", 1, {load("in0", "x", {"a0 + a1", "a2"}), accum("acc0", "in0", "a2")}), write("y", {"a0", "a1"}, "acc0")})})});
    BOOST_TEST(body_of(lowered(k.forest)) == "a0<8:\n  in0 = x[a0, 0]\n  y[0, a0] = in0\n");
}

BOOST_AUTO_TEST_CASE(a_running_sum_is_stored_in_its_loop) {
    const lifted k = lift({"x"}, {"y"}, {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), accum("acc0", "in0", "a1"), write("y", {"a0", "a1"}, "acc0")})})});
    BOOST_TEST(k.addresses() == (list{"map", "map.1/scan"}));
    BOOST_CHECK(loop::identity(lowered(k.forest)) == loop::identity(k.kernel));
    // Stored before it was updated: another recurrence, which no term says.
    auto early = loop::parse_kernel(R"({"inputs":["x"],"outputs":["y"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[8]]]},{"id":"y","op":"loop","attrs":{"body":[)" +
                                    over("a0", 8, {load("in0", "x", {"a0"}), write("y", {"a0"}, "acc0"), accum("acc0", "in0", "a0")}) +
                                    R"(],"name":"k"},"inputs":["x"],"outputs":[["y","f32",[8]]]}]})");
    BOOST_REQUIRE(early);
    BOOST_TEST(closed::lift_terms(*early).error().message() == "no fold term for a store inside a reduction");
}

BOOST_AUTO_TEST_CASE(a_recurrence_is_the_terms_of_its_step) {
    const lifted k = lift({"x"}, {"y"},
                          {over("a0", 6, {over("a1", 4, {over("a2", 4, {load("in0", "x", {"a1", "a2"}), R"({"Pre":{"name":"v0","carrier":"acc1","index":["a2"]}})", assign("v1", "multiply", {"in0", "v0"}),
                                                                       accum("acc0", "v1", "a2")}),
                                                         assign("v2", "tanh", {"acc0"}), R"({"Carry":{"name":"acc1","value":"v2","index":["a1"],"seed":0.5}})", write("y", {"a0", "a1"}, "v2")})})});
    BOOST_CHECK(k.forest.text(k.forest.step) == "a0");
    BOOST_TEST(k.forest.carried.size() == 1u);
    BOOST_TEST(closed::seams(k.forest).empty());
    const loop::kernel out = lowered(k.forest);
    BOOST_CHECK(loop::identity(out) == loop::identity(k.kernel));
    BOOST_TEST(loop::print(out) == loop::print(k.kernel));
}

BOOST_AUTO_TEST_CASE(a_piece_is_formed_where_no_sweep_stays) {
    // Columns of a contraction belong to the grid; a row statistic is not computed again for every column.
    const lifted product = lift({"w", "x"}, {"y"},
                                {over("a0", 8, {over("a1", 16, {over("a2", 32, {load("in0", "x", {"a0", "a2"}), load("in1", "w", {"a2", "a1"}), assign("v0", "multiply", {"in0", "in1"}), accum("acc0", "v0", "a2")}),
                                                                write("y", {"a0", "a1"}, "acc0")})})});
    closed::forest swept = product.forest;
    swept.stores[0].sweeps = {swept.free[1]}, swept.free.pop_back();
    const auto formed = closed::form(swept);
    BOOST_REQUIRE(formed);
    BOOST_TEST(formed->formed);
    BOOST_TEST(formed->terms.free.size() == 2u);
    BOOST_CHECK(loop::identity(formed->kernel) == loop::identity(product.kernel));
    const auto kept = closed::form(softmax().forest);
    BOOST_REQUIRE(kept);
    BOOST_TEST(!kept->formed);
    BOOST_TEST(lifted({kept->kernel, kept->terms}).addresses() == softmax().addresses());
}
