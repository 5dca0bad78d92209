// Operand positions of closed terms: the numbers that stored routes are made of.
#include "unit/fold/lifted.hpp"

using namespace emmy;
using namespace emmy::test;

namespace {

lifted matmul(const list& x, const list& w, bool swapped = false) {
    return lift({"w", "x"}, {"y"},
                {over("a0", 8, {over("a1", 16, {over("a2", 32, {load("in0", swapped ? "w" : "x", swapped ? w : x), load("in1", swapped ? "x" : "w", swapped ? x : w),
                                                                assign("v0", "multiply", {"in0", "in1"}), accum("acc0", "v0", "a2")}),
                                                write("y", {"a0", "a1"}, "acc0")})})});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_matmul_is_a_contraction_whose_first_operand_has_the_axis_last) {
    for (const bool swapped : {false, true}) {
        const lifted plain = matmul({"a0", "a2"}, {"a2", "a1"}, swapped), turned = matmul({"a0", "a2"}, {"a1", "a2"}, swapped);
        for (const lifted* m : {&plain, &turned}) {  // both last: the alphabetically first private coordinate, whatever the product's order
            BOOST_TEST(m->addresses() == list{"inner"});
            BOOST_TEST(m->slab("inner", 1) == "x");
            BOOST_TEST(m->slab("inner", 2) == "w");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_normalised_row_is_the_first_operand_of_its_linear) {
    const lifted k = lift({"c_eps", "g", "w", "x"}, {"y"},
                          {load("in0", "c_eps", {"0"}), over("a0", 8, {over("a1", 32, {load("in1", "x", {"a0", "a1"}), assign("v0", "square", {"in1"}), accum("acc0", "v0", "a1")}),
                                                                     assign("v1", "add", {"acc0", "in0"}), assign("v2", "rsqrt", {"v1"}),
                                                                     over("a2", 16, {over("a3", 32, {load("in2", "x", {"a0", "a3"}), load("in3", "g", {"0", "a3"}),
                                                                                                    load("in4", "w", {"a3", "a2"}), assign("v3", "multiply", {"in2", "v2"}),
                                                                                                    assign("v4", "multiply", {"in3", "v3"}), assign("v5", "multiply", {"in4", "v4"}),
                                                                                                    accum("acc1", "v5", "a3")}),
                                                                                    write("y", {"a0", "a2"}, "acc1")})})});
    BOOST_TEST(k.addresses() == (list{"inner", "inner.1/map", "inner.1/map.3/map", "inner.1/map.3/map.1/reduce"}));
    BOOST_TEST(k.slab("inner", 2) == "w");
    BOOST_TEST(k.slab("inner.1/map", 1) == "x");  // the step's reads in order, then the supplied scalar
    BOOST_TEST(k.slab("inner.1/map", 2) == "g");
    // Each is a seam; the row's workspace is over token and contracted coordinate, the statistic's over the token.
    const auto cuts = closed::seams(k.forest);
    BOOST_REQUIRE(cuts.size() == 3u);
    BOOST_TEST(cuts[0].address == "inner.1/map");
    BOOST_TEST(cuts[0].axes.size() == 2u);
    BOOST_TEST(cuts[2].axes.size() == 1u);
    BOOST_CHECK(cuts[2].types[0] == dtype::f32);
}

BOOST_AUTO_TEST_CASE(twin_products_share_their_first_operand) {
    const lifted k = lift({"c_one", "w1", "w2", "x"}, {"y", "z"},
                          {over("a0", 8, {over("a1", 16, {over("a2", 32, {load("in0", "w1", {"a1", "a2"}), load("in1", "w2", {"a1", "a2"}), load("in2", "x", {"a0", "a2"}),
                                                                        assign("v0", "multiply", {"in0", "in2"}), assign("v1", "multiply", {"in1", "in2"}),
                                                                        accum("acc0", "v0", "a2"), accum("acc1", "v1", "a2")}),
                                                         write("y", {"a0", "a1"}, "acc0"), write("z", {"a0", "a1"}, "acc1")})})});
    BOOST_TEST(k.addresses() == list{"inner"});
    BOOST_TEST(k.slab("inner", 1) == "x");
    BOOST_TEST(k.slab("inner", 2) == "w1");
    BOOST_TEST(k.slab("inner", 3) == "w2");
    BOOST_TEST(closed::is_whole(k.forest, k.forest.root));
}

BOOST_AUTO_TEST_CASE(stores_in_another_order_keep_the_root_map) {
    const lifted k = lift({"w1", "w2", "x"}, {"y", "z"},
                          {over("a0", 8, {over("a1", 16, {over("a2", 32, {load("in0", "w1", {"a1", "a2"}), load("in1", "w2", {"a1", "a2"}), load("in2", "x", {"a0", "a2"}),
                                                                        assign("v0", "multiply", {"in0", "in2"}), assign("v1", "multiply", {"in1", "in2"}),
                                                                        accum("acc0", "v0", "a2"), accum("acc1", "v1", "a2")}),
                                                         write("y", {"a0", "a1"}, "acc1"), write("z", {"a0", "a1"}, "acc0")})})});
    BOOST_TEST(k.addresses() == (list{"map", "map.1/inner"}));
}

BOOST_AUTO_TEST_CASE(a_root_lists_statistics_then_each_sweep) {
    const auto sweep = [](const std::string& axis, const std::string& n, const std::string& weight, const std::string& out) {
        return over(axis, n == "1" ? 16 : 24, {over("b" + n, 32, {load("in" + n, "x", {"a0", "b" + n}), load("im" + n, weight, {axis, "b" + n}),
                                                                 assign("v" + n, "multiply", {"in" + n, "im" + n}), accum("acc" + n, "v" + n, "b" + n)}),
                                              assign("u" + n, "multiply", {"acc" + n, "acc0"}), write(out, {"a0", axis}, "u" + n)});
    };
    const lifted k = lift({"w1", "w2", "x"}, {"s", "y", "z"},
                          {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), assign("v0", "square", {"in0"}), accum("acc0", "v0", "a1")}), write("s", {"a0"}, "acc0"),
                                          sweep("a2", "1", "w1", "y"), sweep("a3", "2", "w2", "z")})});
    BOOST_TEST(k.addresses() == (list{"map", "map.1/reduce", "map.2/map", "map.2/map.2/inner", "map.3/map", "map.3/map.2/inner"}));
    BOOST_TEST(closed::regions(k.forest).size() == 3u);
    // A statistic that nobody stores is no operand of the root.
    const lifted inner = lift({"w1", "w2", "x"}, {"y", "z"},
                              {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), assign("v0", "square", {"in0"}), accum("acc0", "v0", "a1")}),
                                              sweep("a2", "1", "w1", "y"), sweep("a3", "2", "w2", "z")})});
    BOOST_TEST(inner.addresses() == (list{"map", "map.1/map", "map.1/map.1/reduce", "map.1/map.2/inner", "map.2/map", "map.2/map.2/inner"}));
}

BOOST_AUTO_TEST_CASE(a_softmax_is_one_rescaled_fold) {
    const lifted k = lift({"x"}, {"y"},
                          {over("a0", 8, {over("a1", 32, {load("in0", "x", {"a0", "a1"}), accum("acc0", "in0", "a1", "maximum")}),
                                          over("a1", 32, {load("in1", "x", {"a0", "a1"}), assign("v0", "subtract", {"in1", "acc0"}), assign("v1", "exp", {"v0"}), accum("acc1", "v1", "a1")}),
                                          over("a3", 32, {load("in2", "x", {"a0", "a3"}), assign("v2", "subtract", {"in2", "acc0"}), assign("v3", "exp", {"v2"}),
                                                          assign("v4", "divide", {"v3", "acc1"}), write("y", {"a0", "a3"}, "v4")})})});
    BOOST_TEST(k.addresses() == (list{"map", "map.1/twist"}));
    const closed::term& t = k.forest[*closed::find(k.forest, "map.1/twist")];
    BOOST_TEST(t.states.size() == 2u);
    BOOST_TEST(k.slab("map.1/twist", 1) == "x");
}

BOOST_AUTO_TEST_CASE(what_a_step_reads_from_outside_comes_last) {
    // Numerators of a softmax that is kept apart (another extent): the step's read, then values of statements, then values of folds.
    const lifted k = lift({"c_s", "x"}, {"s"},
                          {load("in9", "c_s", {"0"}),
                           over("a0", 8, {assign("v9", "exp", {"in9"}), over("a1", 16, {load("in0", "x", {"a0", "a1"}), accum("acc0", "in0", "a1", "maximum")}),
                                          over("a2", 32, {load("in1", "x", {"a0", "a2"}), assign("v0", "subtract", {"in1", "acc0"}), assign("v1", "exp", {"v0"}),
                                                          assign("v2", "add", {"v1", "v9"}), accum("acc1", "v2", "a2")}),
                                          write("s", {"a0"}, "acc1")})});
    BOOST_TEST(k.addresses() == (list{"reduce", "reduce.2/map", "reduce.3/reduce"}));
    BOOST_TEST(k.slab("reduce", 1) == "x");
}

BOOST_AUTO_TEST_CASE(addresses_are_checked_word_by_word) {
    const lifted k = matmul({"a0", "a2"}, {"a2", "a1"});
    BOOST_CHECK(closed::find(k.forest, "inner"));
    for (const char* wrong : {"", "map", "reduce", "inner.1/map", "inner.3/map", "inner.0/map", "inner.1", "inner/", "inner.x/map", "inner.99999999999999999999/map", "inner.1/"})
        BOOST_CHECK_MESSAGE(!closed::find(k.forest, wrong), wrong);
    BOOST_TEST(closed::find(k.forest, "inner.1/map").error().message() == "names no site: the route arrives at a buffer read");
}

BOOST_AUTO_TEST_CASE(bodies_without_a_closed_form_say_why) {
    auto k = loop::parse_kernel(R"({"inputs":["x"],"outputs":["y"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[8]]]},{"id":"y","op":"loop","attrs":{"body":[)" +
                                over("a0", 8, {over("a1", 8, {load("in0", "x", {"a1"}), R"({"Accum":{"name":"acc0","value":"in0","axes":["a1"],"dtype":"f16"}})"}), write("y", {"a0"}, "acc0")}) +
                                R"(],"name":"k"},"inputs":["x"],"outputs":[["y","f32",[8]]]}]})");
    BOOST_REQUIRE(k);
    const auto f = closed::lift_terms(*k);
    BOOST_REQUIRE(!f);
    BOOST_TEST(f.error().message() == "no fold term for an accumulator with a dtype");
}
