#include <support/random_program.hpp>
#include <support/run_formed.hpp>

#include <emmy/loop/print.hpp>
#include <emmy/loop/validate.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

// Fusion of programs made by hand: bodies to the letter, and what they compute.
namespace {
using namespace emmy;
using test::program_text;
using shape = std::vector<std::string>;

program_text text() {
    return program_text([](int least, int) { return least; }, test::form::plain);
}
struct fused_program {
    program::graph traced;
    program::primitive_graph primitives;
    std::vector<loop::formed> kernels;
};
fused_program fused(const std::string& wire) {
    const auto document = json::document::parse(wire);
    BOOST_REQUIRE(document);
    auto g = program::read_program(document->root());
    BOOST_REQUIRE_MESSAGE(g, (g ? "" : g.error().line()));
    auto p = program::lower(*g);
    BOOST_REQUIRE_MESSAGE(p, (p ? "" : p.error().line()));
    auto k = loop::fuse(*p);
    BOOST_REQUIRE_MESSAGE(k, (k ? "" : k.error().line()));
    for (const auto& f : *k) {
        const auto valid = loop::validate(f.kernel);
        BOOST_TEST(valid.has_value(), (valid ? "" : valid.error().line()));
    }
    return {std::move(*g), std::move(*p), std::move(*k)};
}
/// The body alone: from the first line's end.
std::string body(const loop::formed& f) {
    const std::string all = loop::print(f.kernel);
    return all.substr(all.find('\n') + 1);
}
/// The kernels in the interpreter against the program's own evaluator, relative to the largest value.
void agrees(const fused_program& p, double tolerance) {
    const auto given = test::fill(p.traced, 7);
    const auto wanted = program::evaluate(p.traced, given.all);
    const auto found = test::interpret_formed(p.traced, p.primitives, p.kernels, given.all, loop::numeric_mode::typed);
    BOOST_REQUIRE(wanted);
    BOOST_REQUIRE_MESSAGE(found, (found ? "" : found.error().line()));
    for (std::size_t o = 0; o < wanted->size(); ++o) {
        const auto values = program::from_bytes((*wanted)[o].type, (*found)[o]);
        double size = 1e-3, worst = 0;
        for (const double v : (*wanted)[o].values) size = std::max(size, std::abs(v));
        for (std::size_t i = 0; i < values.size(); ++i) worst = std::max(worst, std::abs(values[i] - (*wanted)[o].values[i]) / size);
        BOOST_TEST(worst <= tolerance, "output " << o << ": off by " << worst);
    }
}
const auto f16 = dtype::f16;
const auto f32 = dtype::f32;
}  // namespace

BOOST_AUTO_TEST_CASE(matmul_of_halves) {
    auto p = text();
    p.input("a", f16, {"3", "4"}), p.input("b", f16, {"4", "5"});
    p.node("matmul", "torch.matmul", "", {"a", "b"}, f16, {"3", "5"});
    const auto f = fused(p.finish("matmul"));
    BOOST_REQUIRE(f.kernels.size() == 1u);
    BOOST_TEST(body(f.kernels[0]) ==
               "a0<3:\n"
               "  a1<5:\n"
               "    a2<4:\n"
               "      in0 = a[a0, a2]\n"
               "      in1 = b[a2, a1]\n"
               "      v0:f32 = multiply(in0, in1)\n"
               "      acc0 <add- v0 /a2\n"
               "    matmul[a0, a1] = acc0\n");
    BOOST_TEST(f.kernels[0].kernel.name.substr(0, 9) == "k_matmul_");
    BOOST_TEST(f.kernels[0].origins == std::vector<std::string>{"matmul"}, boost::test_tools::per_element());
    agrees(f, 1e-3);
}

BOOST_AUTO_TEST_CASE(linear_with_bias) {
    auto p = text();
    p.weight("b", f32, {"5"}), p.input("input", f32, {"3", "4"}), p.weight("w", f32, {"5", "4"});
    p.node("linear", "torch.linear", "\"has_bias\":true", {"input", "w", "b"}, f32, {"3", "5"});
    const auto f = fused(p.finish("linear"));
    BOOST_REQUIRE(f.kernels.size() == 1u);
    BOOST_TEST(body(f.kernels[0]) ==
               "a0<3:\n"
               "  a1<5:\n"
               "    a2<4:\n"
               "      in0 = input[a0, a2]\n"
               "      in1 = linear_wt[a2, a1]\n"
               "      v0 = multiply(in0, in1)\n"
               "      acc0 <add- v0 /a2\n"
               "    in2 = b[a1]\n"
               "    v1 = add(acc0, in2)\n"
               "    linear[a0, a1] = v1\n");
    agrees(f, 1e-6);
}

BOOST_AUTO_TEST_CASE(norm_reads_its_row_twice) {
    auto p = text();
    p.weight("w", f32, {"6"}), p.input("x", f32, {"2", "6"});
    p.node("y", "torch.rms_norm", "", {"x", "w"}, f32, {"2", "6"});
    const auto f = fused(p.finish("y"));
    BOOST_TEST(body(f.kernels[0]) ==
               "in0 = y_eps[0]\n"
               "in1 = y_mean_count[0]\n"
               "a0<2:\n"
               "  a1<6:\n"
               "    in2 = x[a0, a1]\n"
               "    v0 = multiply(in2, in2)\n"
               "    acc0 <add- v0 /a1\n"
               "  v1 = divide(acc0, in1)\n"
               "  v2 = add(in0, v1)\n"
               "  v3 = rsqrt(v2)\n"
               "  a2<6:\n"
               "    in3 = x[a0, a2]\n"
               "    v4 = multiply(in3, v3)\n"
               "    in4 = w[a2]\n"
               "    v5 = multiply(in4, v4)\n"
               "    y[a0, a2] = v5\n");
    agrees(f, 1e-6);
}

BOOST_AUTO_TEST_CASE(pointwise_axes_fuse) {
    auto p = text();
    p.input("x", f32, {"2", "3", "4"});
    p.node("relu", "tensor.elementwise", "\"op\":\"relu\"", {"x"}, f32, {"2", "3", "4"});
    const auto f = fused(p.finish("relu"));
    BOOST_TEST(body(f.kernels[0]) ==
               "a0<24:\n"
               "  in0 = x[a0 / 12, a0 % 12 / 4, a0 % 12 % 4]\n"
               "  v0 = relu(in0)\n"
               "  relu[a0 / 12, a0 % 12 / 4, a0 % 12 % 4] = v0\n");
    agrees(f, 0);
}

// Norm, gate, up, silu, down and the residual of a layer in halves: one kernel, sums of one place and level in one loop.
BOOST_AUTO_TEST_CASE(gated_mlp_is_one_kernel) {
    auto p = text();
    p.weight("w0", f16, {"8"}), p.weight("w1", f16, {"12", "8"}), p.weight("w2", f16, {"12", "8"}), p.weight("w3", f16, {"8", "12"}), p.input("x", f16, {"2", "8"});
    p.node("m0", "torch.rms_norm", "", {"x", "w0"}, f16, {"2", "8"});
    p.node("m1", "torch.linear", "", {"m0", "w1"}, f16, {"2", "12"});
    p.node("m2", "torch.linear", "", {"m0", "w2"}, f16, {"2", "12"});
    p.node("m3", "tensor.elementwise", "\"op\":\"silu\"", {"m1"}, f16, {"2", "12"});
    p.node("m4", "tensor.elementwise", "\"op\":\"multiply\"", {"m2", "m3"}, f16, {"2", "12"});
    p.node("m5", "torch.linear", "", {"m4", "w3"}, f16, {"2", "8"});
    p.node("m6", "tensor.elementwise", "\"op\":\"add\"", {"m5", "x"}, f16, {"2", "8"});
    const auto f = fused(p.finish("m6"));
    BOOST_REQUIRE(f.kernels.size() == 1u);
    std::size_t sums = 0, loops = 0;
    for (const loop::stmt& s : f.kernels[0].kernel.body.stmts) sums += s.kind == loop::stmt_kind::accum, loops += s.kind == loop::stmt_kind::loop;
    BOOST_TEST(sums == 4u);   // the norm's, gate, up, down
    BOOST_TEST(loops == 5u);  // rows, columns; the norm's, down's, and one for gate and up
    agrees(f, 6e-3);
}

BOOST_AUTO_TEST_CASE(attention_with_groups_stores_through_its_layout) {
    auto p = text();
    p.input("k", f32, {"1", "2", "3", "4"}), p.input("q", f32, {"1", "4", "3", "4"}), p.input("v", f32, {"1", "2", "3", "4"});
    p.node("x0", "torch.sdpa", "\"is_causal\":true", {"q", "k", "v"}, f32, {"1", "4", "3", "4"});
    p.node("x1", "torch.transpose", "\"axes\":[1,2]", {"x0"}, f32, {"1", "3", "4", "4"});
    p.node("x2", "torch.reshape", "\"shape\":[3,16]", {"x1"}, f32, {"3", "16"});
    const auto f = fused(p.finish("x2"));
    BOOST_REQUIRE(f.kernels.size() == 1u);
    BOOST_TEST(body(f.kernels[0]).find("x2[a1, 4 * a0 + a6] = acc") != std::string::npos, body(f.kernels[0]));
    agrees(f, 1e-5);
}

// Rows and columns divided by their sums in turns: the turns roll into one loop that carries the matrix.
BOOST_AUTO_TEST_CASE(recurrences_roll) {
    auto p = text();
    const shape whole{"3", "3"};
    p.input("a", f32, whole);
    p.node("b", "tensor.elementwise", "\"op\":\"exp\"", {"a"}, f32, whole);
    std::string last = "b";
    for (int i = 0; i < 8; ++i) {
        const std::string name = "s" + std::to_string(i);
        const bool rows = i % 2 == 0;
        p.node(name + "_0", "tensor.reduce", std::string("\"axis\":") + (rows ? "-1" : "-2"), {last}, f32, rows ? shape{"3", "1"} : shape{"1", "3"});
        p.node(name + "_1", "tensor.index_map", "\"out_shape\":[3,3],\"sources\":[{\"input_idx\":0,\"coord_map\":[" + std::string(rows ? "\"out_coord_0\",\"0\"" : "\"0\",\"out_coord_1\"") + "]}]", {name + "_0"}, f32, whole);
        last = p.node(name + "_2", "tensor.elementwise", "\"op\":\"divide\"", {last, name + "_1"}, f32, whole);
    }
    p.node("z", "tensor.elementwise", "\"op\":\"negative\"", {last}, f32, whole);
    const auto f = fused(p.finish("z"));
    std::size_t carries = 0;
    for (const auto& k : f.kernels)
        for (const loop::stmt& s : k.kernel.body.stmts) carries += s.kind == loop::stmt_kind::carry;
    BOOST_TEST(carries == 1u);
    BOOST_TEST(f.kernels.size() == 3u);  // exp, the turns, what is left
    agrees(f, 1e-5);
}

BOOST_AUTO_TEST_CASE(kernels_end_where_correctness_demands) {
    auto p = text();  // a running sum is read as it was stored
    p.input("x", f32, {"2", "4"});
    p.node("y0", "tensor.elementwise", "\"op\":\"exp\"", {"x"}, f32, {"2", "4"});
    p.node("y1", "tensor.scan", "\"axis\":-1", {"y0"}, f32, {"2", "4"});
    p.node("y2", "tensor.elementwise", "\"op\":\"negative\"", {"y1"}, f32, {"2", "4"});
    const auto f = fused(p.finish("y2"));
    BOOST_REQUIRE(f.kernels.size() == 3u);
    BOOST_TEST(body(f.kernels[1]) ==
               "a0<2:\n"
               "  a1<4:\n"
               "    in0 = y0[a0, a1]\n"
               "    acc0 <add- in0 /a1\n"
               "    y1[a0, a1] = acc0\n");
    BOOST_TEST(f.kernels[2].inputs[0].kernel == 1u);
    agrees(f, 1e-6);
}

BOOST_AUTO_TEST_CASE(chains_beyond_all_measure_are_refused) {
    program::builder b;
    const program::builder::size one[] = {{.number = 4}};
    program::edge last = b.input("a", f32, one);
    for (int i = 0; i < 3200; ++i) {
        const program::builder::setting settings[] = {{.key = program::attr::op, .text = i % 2 ? "exp" : "relu"}};
        last = b.add("n" + std::to_string(100000 + i), program::op::elementwise, std::span(&last, 1), f32, one, settings);
    }
    b.output(last);
    const auto p = program::lower(std::move(b).finish());
    BOOST_REQUIRE(p);
    const auto k = loop::fuse(*p);
    BOOST_REQUIRE(!k);
    BOOST_TEST(k.error().message().find("operators in one kernel") != std::string::npos, k.error().line());
}
