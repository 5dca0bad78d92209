#include <emmy/program/lower/bind.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

// What lowering refuses, and in which words; folded constants and rounding points.
namespace {
using namespace emmy;
using namespace emmy::program;
using size = builder::size;

result<graph> read(const std::string& text) {
    const auto document = json::document::parse(text);
    BOOST_REQUIRE_MESSAGE(document, (document ? "" : document.error().line()));
    return read_program(document->root());
}
std::string refused(const std::string& text) {
    const auto g = read(text);
    if (!g) return g.error().line();
    const auto p = lower(*g);
    return p ? "lowered" : p.error().line();
}
std::string spelled(const std::string& id, const std::string& op, const std::string& rest, const std::string& type_and_shape) {
    return "{\"id\":\"" + id + "\",\"op\":\"" + op + "\"" + rest + ",\"outputs\":[[\"" + id + "\"," + type_and_shape + "]]}";
}
std::string program_of(const std::string& inputs, const std::string& nodes) { return "{\"inputs\":[" + inputs + "],\"outputs\":[\"z\"],\"nodes\":[" + nodes + "]}"; }
node_id named(const primitive_graph& p, std::string_view id) {
    const node_id n = p.g.find_node(id);
    BOOST_REQUIRE_MESSAGE(n != no_node, std::string(id));
    return n;
}
}  // namespace

BOOST_AUTO_TEST_CASE(scatters_without_a_rule) {
    const auto scatter = [](const std::string& attrs, const std::string& type, const std::string& index) {
        return refused(program_of("\"a\",\"b\",\"c\"", spelled("a", "input", "", "\"" + type + "\",[4,3]") + "," + spelled("b", "input", "", "\"i64\"," + index) + "," + spelled("c", "input", "", "\"" + type + "\"," + index) + "," +
            spelled("z", "tensor.scatter", attrs + ",\"inputs\":[\"a\",\"b\",\"c\"]", "\"" + type + "\",[4,3]")));
    };
    BOOST_TEST(scatter("", "f32", "[2,3]") == "lowered");
    BOOST_TEST(scatter("", "f32", "[2,2]") == "z: no lowering for a scatter whose index is narrower than the data");
    BOOST_TEST(scatter(",\"attrs\":{\"reduce_fn\":\"sum\"}", "i32", "[2,3]") == "z: no lowering for a scatter that folds integers");
}

BOOST_AUTO_TEST_CASE(a_symbolic_split_point) {
    const std::string s = "{\"sym\":\"S\",\"hint\":4}";
    BOOST_TEST(refused(program_of("\"a\",\"b\"", spelled("a", "input", "", "\"f32\",[" + s + "]") + "," + spelled("b", "input", "", "\"f32\",[2]") + "," +
        spelled("c", "constant", ",\"attrs\":{\"name\":\"c\",\"value\":0}", "\"i64\",[1]") + "," + spelled("z", "torch.cat", ",\"inputs\":[\"a\",\"b\",\"c\"]", "\"f32\",[{\"expr\":\"S + 2\"}]"))) ==
        "z: found a part of symbolic length before the last, expected split points that are numbers");
}

BOOST_AUTO_TEST_CASE(hand_built_graphs_are_checked) {
    builder b;
    const edge x = b.input("x", dtype::f32, std::array{size{4}, size{3}});
    const edge y = b.input("y", dtype::f32, std::array{size{4}, size{2}});
    b.output(b.add("z", op::matmul, std::array{x, y}, dtype::f32, std::array{size{4}, size{2}}));
    const auto p = lower(std::move(b).finish());
    BOOST_REQUIRE(!p);
    BOOST_TEST(p.error().line() == "z.inputs: found [4,3] times [4,2], expected [..,M,K] and [..,K,N]");
    BOOST_TEST(!lower(graph()));
}

BOOST_AUTO_TEST_CASE(names_that_are_taken) {
    // Two norms share a weight: the second spread weight takes the next free n<i>; the traced program has an n0 already.
    builder b;
    const edge x = b.input("n0", dtype::f32, std::array{size{2}, size{4}});
    const edge w = b.weight("w", "w", dtype::f32, std::array{size{4}});
    const edge one = b.add("one", op::rms_norm, std::array{x, w}, dtype::f32, std::array{size{2}, size{4}});
    b.output(b.add("two", op::rms_norm, std::array{one, w}, dtype::f32, std::array{size{2}, size{4}}));
    const auto p = lower(std::move(b).finish());
    BOOST_REQUIRE(p);
    const node_id first = named(*p, "w_bc"), second = named(*p, "n1");
    BOOST_TEST(p->g.text(p->g.outputs_of(p->g.nodes[second])[0].name) == "w_bc");
    BOOST_TEST(p->g.text(p->origins_of(first)[0].id) == "one");
    BOOST_TEST(p->g.text(p->origins_of(second)[0].id) == "two");
    BOOST_TEST(!p->transient[named(*p, "one")]);
    BOOST_TEST(p->transient[named(*p, "one_mean")]);
    BOOST_TEST(p->g.find_node("two_mean_count") != no_node);
}

BOOST_AUTO_TEST_CASE(a_rounding_point_survives_composition) {
    builder b;
    const edge a = b.input("a", dtype::f16, std::array{size{4}, size{6}});
    const edge w = b.weight("w", "w", dtype::f16, std::array{size{6}, size{6}});
    const edge first = b.add("first", op::linear, std::array{a, w}, dtype::f16, std::array{size{4}, size{6}});
    b.output(b.add("second", op::linear, std::array{first, w}, dtype::f16, std::array{size{4}, size{6}}));
    const auto p = lower(std::move(b).finish());
    BOOST_REQUIRE(p);
    // `first`, a map of its transient sum, is read through by the second product's operand: the sum becomes the rounding point.
    BOOST_TEST(p->g.find_node("first") == no_node);
    BOOST_TEST(!p->transient[named(*p, "first_reduce")]);
    BOOST_TEST(p->transient[named(*p, "second_reduce")]);
    const auto origins = p->origins_of(named(*p, "second_a_unsq_bc"));
    BOOST_TEST(origins.size() == 2u);
}

BOOST_AUTO_TEST_CASE(constants_fold_to_the_branch_and_bind) {
    // (range * 4) reshaped, read by two shifts of an input: one computed constant, its range inside.
    const std::string text = program_of("\"x\"", spelled("a", "constant", ",\"attrs\":{\"name\":\"a\",\"value\":4}", "\"i32\",[1]") + "," +
        spelled("b", "tensor.index_map", ",\"attrs\":{\"out_shape\":[8],\"sources\":[{\"input_idx\":0,\"coord_map\":[\"0\"]}]},\"inputs\":[\"a\"]", "\"i32\",[8]") + "," +
        spelled("r", "tensor.range", ",\"attrs\":{\"stop\":8,\"dtype\":\"i32\"}", "\"i32\",[8]") + "," + spelled("s", "tensor.elementwise", ",\"attrs\":{\"op\":\"multiply\"},\"inputs\":[\"r\",\"b\"]", "\"i32\",[8]") + "," +
        spelled("x", "input", "", "\"i32\",[8]") + "," + spelled("y", "tensor.elementwise", ",\"attrs\":{\"op\":\"right_shift\"},\"inputs\":[\"x\",\"s\"]", "\"i32\",[8]") + "," +
        spelled("z", "tensor.elementwise", ",\"attrs\":{\"op\":\"add\"},\"inputs\":[\"y\",\"s\"]", "\"i32\",[8]"));
    const auto g = read(text);
    BOOST_REQUIRE_MESSAGE(g, (g ? "" : g.error().line()));
    const auto p = lower(*g);
    BOOST_REQUIRE(p);
    BOOST_TEST(p->g.nodes.size() == 4u);  // s, x, y, z
    const node_id s = named(*p, "s");
    BOOST_REQUIRE(p->g.nodes[s].op == op::constant);
    BOOST_TEST(p->g.find(p->g.nodes[s], attr::source_graph) != nullptr);
    const auto bytes = bind_constant(*g, p->g, s, {});
    BOOST_REQUIRE_MESSAGE(bytes, (bytes ? "" : bytes.error().line()));
    const auto values = from_bytes(dtype::i32, *bytes);
    for (std::size_t i = 0; i < values.size(); ++i) BOOST_TEST(values[i] == 4.0 * static_cast<double>(i));
    std::string written;
    json::writer w(written);
    write_program(w, p->g);  // and it is a program that reads
    BOOST_TEST(read(written).has_value());
}

BOOST_AUTO_TEST_CASE(a_turned_weight_binds_turned) {
    builder b;
    const edge x = b.input("x", dtype::f32, std::array{size{1}, size{2}});
    const edge weight = b.weight("w", "w", dtype::f32, std::array{size{3}, size{2}});
    b.output(b.add("z", op::linear, std::array{x, weight}, dtype::f32, std::array{size{1}, size{3}}));
    const graph g = std::move(b).finish();
    const auto p = lower(g);
    BOOST_REQUIRE(p);
    const std::vector<double> given{1, 2, 3, 4, 5, 6};
    const auto bytes = to_bytes(dtype::f32, given);
    const named_bytes all[] = {{"w", bytes}};
    const auto bound = bind_constant(g, p->g, named(*p, "z_wt"), all);
    BOOST_REQUIRE(bound);
    BOOST_TEST(from_bytes(dtype::f32, *bound) == (std::vector<double>{1, 3, 5, 2, 4, 6}), boost::test_tools::per_element());
    BOOST_TEST(bind_constant(g, p->g, named(*p, "z_wt"), {}).error().line() == "z_wt: found no bytes of \"w\", expected some");
    BOOST_TEST(bind_constant(g, p->g, named(*p, "x"), all).error().line() == "x: found input, expected a constant");
}
