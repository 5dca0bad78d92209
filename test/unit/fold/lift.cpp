#include <boost/test/unit_test.hpp>

#include <emmy/fold/access.hpp>
#include <emmy/fold/tree.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/op_text.hpp>

using namespace emmy;

namespace {

loop::kernel kernel_of(const std::string& op) {
    auto graph = program::parse_op(op);
    BOOST_REQUIRE_MESSAGE(graph, op);
    auto made = loop::lower_single_op(*graph);
    BOOST_REQUIRE_MESSAGE(made, op);
    made->kernel.name = "k";
    return std::move(made->kernel);
}
std::string tree_of(const std::string& op) {
    const loop::kernel k = kernel_of(op);
    auto t = fold::lift(k);
    BOOST_REQUIRE_MESSAGE(t, (t ? "" : t.error().line()));
    return fold::print(k, *t);
}
/// x: f32[4, 8] -> y: f32[4, 8] with these statements; the refusal of the lift.
std::string refusal(const std::string& body) {
    auto k = loop::parse_kernel(R"({"inputs":["x"],"outputs":["y"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[4,8]]]},{"id":"y","op":"loop","attrs":{"body":[)" + body +
                                R"(],"name":"k"},"inputs":["x"],"outputs":[["y","f32",[4,8]]]}]})");
    BOOST_REQUIRE_MESSAGE(k, (k ? "" : k.error().line()));
    auto t = fold::lift(*k);
    return t ? "" : t.error().line();
}
std::string over(const std::string& axis, int n, const std::string& body) {
    return R"({"Loop":{"axis":{"name":")" + axis + R"(","extent":)" + std::to_string(n) + R"(},"body":[)" + body + "]}}";
}

}  // namespace

BOOST_AUTO_TEST_CASE(trees_of_the_standard_kernels) {
    BOOST_CHECK_EQUAL(tree_of("relu(x: f32[512,4096])"), "k: grid a0<2097152\n  map (1 slabs, 1 stores)\n");
    BOOST_CHECK_EQUAL(tree_of("sum(x: f32[512,2048], dim=-1)"), "k: grid a0<512\n  map (0 slabs, 1 stores)\n    reduce a1<2048 acc0:f32 (1 slabs, 0 stores)\n");
    BOOST_CHECK_EQUAL(tree_of("matmul(f32[seq_len,64],f32[64,96])"), "k: grid a0<seq_len a1<96\n  map (0 slabs, 1 stores)\n    inner a2<64 acc0:f32 (2 slabs, 0 stores)\n");
    BOOST_CHECK_EQUAL(tree_of("softmax(x: f32[512,2048], dim=-1)"),
                      "k: grid a0<512\n  map (0 slabs, 0 stores)\n    twist a1<2048 acc0:f32 acc1:f32 (2 slabs, 0 stores)\n    map a3<2048 (1 slabs, 1 stores)\n");
    // A sum of squares is one operand twice: no contraction.
    BOOST_CHECK_EQUAL(tree_of("rms_norm(x: f32[512,4096], weight: f32[4096])").find("inner"), std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_does_not_lift_says_so) {
    const std::string load = R"({"Load":{"names":["in0"],"input":"x","index":["a0","a1"]}})", write = R"({"Write":{"output":"y","index":["a0","a1"],"values":["acc0"]}})";
    const std::string accum = R"({"Accum":{"name":"acc0","value":"in0","axes":["a1"]}})";
    BOOST_CHECK_EQUAL(refusal(over("a0", 4, over("a1", 8, load + "," + accum + "," + write))), "no fold tree for a prefix value: 'acc0' is read while its reduction runs");
    BOOST_CHECK_EQUAL(refusal(over("a0", 4, over("a1", 8, load + R"(,{"Write":{"output":"y","index":["a0","a1"],"values":["in0"],"atomic":true}})"))), "no fold tree for an atomic store");
    BOOST_CHECK_EQUAL(refusal(over("a0", 4, over("a1", 8, load + "," + accum + R"(,{"Accum":{"name":"acc0","value":"in0","axes":["a1"]}})"))),
                      "no fold tree for several updates of accumulator 'acc0'");
}

BOOST_AUTO_TEST_CASE(offsets_recompose_and_know_their_lanes) {
    loop::kernel k = kernel_of("relu(x: f32[512,4096])");
    auto t = fold::lift(k);
    BOOST_REQUIRE(t);
    BOOST_REQUIRE_EQUAL(t->grid.size(), 1u);
    const name_id axis = t->axes[t->grid[0]].name;
    const auto place = k.body.exprs.name(axis);
    const auto quotient = k.body.exprs.binary(binary_op::divide, place, k.body.exprs.integer(4096)), rest = k.body.exprs.binary(binary_op::remainder, place, k.body.exprs.integer(4096));
    const auto stride = [&](std::vector<dim> shape, std::vector<expr_id> index, int lanes) {
        const auto o = fold::flatten(k, shape, index);
        BOOST_REQUIRE(o);
        return fold::lane_stride(k, *o, axis, lanes);
    };
    const dim rows{dim::form::number, 512}, columns{dim::form::number, 4096};
    // x[a0 / 4096, a0 % 4096] is element a0.
    BOOST_CHECK_EQUAL(fold::flatten(k, {rows, columns}, std::vector{quotient, rest})->size(), 1u);
    BOOST_CHECK(stride({rows, columns}, {quotient, rest}, 3) == 1);
    // A row vector is adjacent, a column vector uniform, within runs that divide a row.
    BOOST_CHECK(stride({columns}, {rest}, 16) == 1);
    BOOST_CHECK(stride({rows}, {quotient}, 16) == 0);
    BOOST_CHECK(!stride({columns}, {rest}, 3));
    BOOST_CHECK(stride({columns, rows}, {rest, quotient}, 16) == 512);
}
