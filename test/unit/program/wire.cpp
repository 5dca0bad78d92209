#include <emmy/core/file.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {

std::string every_operator() { return *read_file(std::string(EMMY_TEST_DATA) + "/program/every_operator.json"); }

result<program::graph> read(std::string_view text) {
    const auto document = json::document::parse(text);
    BOOST_REQUIRE_MESSAGE(document.has_value(), (document ? "" : document.error().line()));
    return program::read_program(document->root());
}
std::string written(const program::graph& g) {
    std::string out;
    json::writer w(out);
    program::write_program(w, g);
    return out + "\n";
}
std::string refusal(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
    text.replace(at, from.size(), to);
    const auto g = read(text);
    return g ? "accepted" : g.error().line();
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_operator_and_attribute_is_reproduced) {
    const std::string text = every_operator();
    const auto g = read(text);
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    BOOST_TEST(written(*g) == text);
    std::vector<bool> seen(static_cast<std::size_t>(program::op::count_), false);
    for (const auto& n : g->nodes) seen[static_cast<std::size_t>(n.op)] = true;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const auto tag = static_cast<program::op>(i);
        const bool absent = tag == program::op::scatter || tag == program::op::conv2d || tag == program::op::conv_transpose1d;
        BOOST_TEST(seen[i] != absent, program::text(tag));
    }
    BOOST_TEST(program::symbols(*g).size() == 1u);
    BOOST_TEST(g->text(program::symbols(*g)[0]) == "seq_len");
    BOOST_TEST(program::hint_of(*g, program::symbols(*g)[0]) == 512);
    std::size_t dead = 0;
    for (bool live : program::live_nodes(*g)) dead += !live;
    BOOST_TEST(dead == 6u);  // w2, w3, computed, lit_b, lit_0, count
}

BOOST_AUTO_TEST_CASE(refusals_name_the_path) {
    const std::string text = every_operator();
    const auto check = [&](std::string_view from, std::string_view to, std::string_view wanted) {
        const std::string line = refusal(text, from, to);
        BOOST_TEST(line.find(wanted) != std::string::npos, line << " | wanted: " << wanted);
    };
    check(R"("inputs":["x",)", R"("Inputs":["x",)", "the key \"inputs\" is missing");
    check(R"("op":"torch.softmax")", R"("op":"torch.sofmax")", "found \"torch.sofmax\", expected an operator");
    check(R"({"axis":0})", R"({"axis":-1})", "attrs.axis: found the default value written out");
    check(R"({"axis":0})", R"({"axis":0.0})", "attrs.axis: found 0.0, expected an integer");
    check(R"({"axis":0})", R"({"dim":0})", "attrs.dim: found an unknown key");
    check(R"({"dim":-1})", R"({"dim":true})", "attrs.dim: found true, expected an integer");
    check(R"({"name":"lit_f","value":1e-05})", R"({"value":1e-05})", "the attribute \"name\" of constant is missing");
    check(R"({"name":"lit_f","value":1e-05})", R"({"name":"lit_f"})", "found a constant bound in 0 ways");
    check(R"({"name":"lit_f","value":1e-05})", R"({"name":"lit_f","value":1.0,"source_path":"p"})", "found a constant bound in 2 ways");
    check(R"({"name":"lit_f","value":1e-05})", R"({"name":"lit_f","value":"1"})", "attrs.value: found \"1\", expected a number or a boolean");
    check(R"("source_dtype":"bfloat16")", R"("source_dtype":"int3")", "attrs.source_dtype: found \"int3\", expected an element type");
    check(R"("inputs":["x","w"])", R"("inputs":["x","nowhere"])", ".inputs[1]: found \"nowhere\", expected the buffer of an earlier node");
    check(R"("inputs":["x","w"])", R"("inputs":["x"])", "found 1 inputs of torch.linear, expected 2");
    check(R"("op":"amax")", R"("op":"sum")", "attrs.op: found the default value written out");
    check(R"("op":"amax")", R"("op":"median")", "attrs.op: found \"median\", expected a fold");
    check(R"("op":"from_f4e2m1")", R"("op":"frob")", "attrs.source_graph.nodes[1].attrs.op: found \"frob\", expected a pointwise function");
    check(R"([["lit_f","f32",[1]]])", R"([["lit_f","i8",[1]]])", ".outputs[0][1]: found \"i8\", expected an element type");
    check(R"([["lit_f","f32",[1]]])", R"([["lit_f","f32",[0]]])", ".outputs[0][2][0]: found 0, expected a size of at least 1");
    check(R"([["lit_f","f32",[1]]])", R"([["lit_f","f32",[4000000000,4000000000]]])", "more elements than 64 bits count");
    check(R"([["lit_f","f32",[1]]])", R"([["lit_f","f32"]])", "found 2 entries, expected [name, dtype, shape]");
    check(R"("outputs":[["lit_f","f32",[1]]])", R"("outputs":[])", "found no output, expected at least one tensor");
    check(R"("id":"lit_f")", R"("id":"lit_b")", "found the buffer \"lit_b\" twice");
    check(R"("id":"lit_f")", R"("id":"zz")", "expected the buffer of an earlier node");
    check(R"("out_coord_1 / 3")", R"("out_coord_1 /")", "sources[0].coord_map[1]: ");
    check(R"("out_coord_1 / 3",)", "", "found 2 coordinates, expected the input's rank 3");
    check(R"("input_idx":1)", R"("input_idx":7)", "found input_idx 7, expected one of 2 inputs");
    check(R"("outputs":["bits")", R"("outputs":["bit")", "outputs[0]: found \"bit\", expected the buffer of a node");
    check(R"("inputs":["x","unread",)", R"("inputs":["x",)", "found no entry for the input node \"unread\"");
    check(R"("inputs":["x","unread",)", R"("inputs":["x","x",)", "inputs[1]: found \"x\", expected each input once");
    check(R"({"sym":"seq_len","hint":512},6]]]},{"id":"sm")", R"({"sym":"seq_len","expr":"1"},6]]]},{"id":"sm")", "both \"sym\" and \"expr\"");
    check(R"({"shape":["seq_len",-1,3]})", R"({"shape":["seq_len",-2,3]})", "attrs.shape[1]: found -2, expected a size of at least 1, -1 or a symbol");
}

BOOST_AUTO_TEST_CASE(nodes_stand_in_canonical_order) {
    const auto g = read(R"({"inputs":["b","a"],"outputs":["c"],"nodes":[{"id":"b","op":"input","outputs":[["b","f32",[2]]]},{"id":"a","op":"input","outputs":[["a","f32",[2]]]},
        {"id":"c","op":"tensor.elementwise","attrs":{"op":"add"},"inputs":["a","b"],"outputs":[["c","f32",[2]]]}]})");
    BOOST_REQUIRE(!g);
    BOOST_TEST(g.error().line() == "nodes[0]: found the node \"b\", expected \"a\" (nodes are ordered by readiness, then id)");
}

BOOST_AUTO_TEST_CASE(builders_make_canonical_programs) {
    program::builder build;
    const program::builder::size shape[] = {{.number = 4, .symbol = {}}, {.number = 512, .symbol = "seq_len"}};
    const program::edge x = build.input("z", dtype::f16, shape), y = build.input("y", dtype::f16, shape);
    const program::edge both[] = {x, y};
    const program::builder::setting op{.key = program::attr::op, .number = {}, .text = "add"};
    build.output(build.add("a_sum", program::op::elementwise, both, dtype::f16, shape, std::span(&op, 1)));
    const program::graph g = std::move(build).finish();
    BOOST_TEST(written(g) == "{\"inputs\":[\"z\",\"y\"],\"outputs\":[\"a_sum\"],\"nodes\":[{\"id\":\"y\",\"op\":\"input\",\"outputs\":[[\"y\",\"f16\",[4,{\"sym\":\"seq_len\",\"hint\":512}]]]},"
        "{\"id\":\"z\",\"op\":\"input\",\"outputs\":[[\"z\",\"f16\",[4,{\"sym\":\"seq_len\",\"hint\":512}]]]},{\"id\":\"a_sum\",\"op\":\"tensor.elementwise\",\"attrs\":{\"op\":\"add\"},"
        "\"inputs\":[\"z\",\"y\"],\"outputs\":[[\"a_sum\",\"f16\",[4,{\"sym\":\"seq_len\",\"hint\":512}]]]}]}\n");
    const auto again = read(written(g));
    BOOST_REQUIRE(again);
    BOOST_TEST(written(*again) == written(g));
}
