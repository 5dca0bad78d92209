#include <emmy/program/check.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

// What no program may hold: one case a rule, one line each, with the node and the field.

using namespace emmy;

namespace {

result<program::graph> read(const std::string& text) {
    const auto document = json::document::parse(text);
    BOOST_REQUIRE_MESSAGE(document.has_value(), text << (document ? "" : document.error().line()));
    return program::read_program(document->root());
}
std::string said(const std::string& text) {
    const auto g = read(text);
    return g ? "accepted" : g.error().line();
}
std::string input(std::string_view id, std::string_view type, std::string_view shape) {
    const std::string n(id);
    return R"({"id":")" + n + R"(","op":"input","outputs":[[")" + n + R"(",")" + std::string(type) + R"(",)" + std::string(shape) + "]]}";
}
std::string literal(std::string_view id, std::string_view type, std::string_view value) {
    const std::string n(id);
    return R"({"id":")" + n + R"(","op":"constant","attrs":{"name":")" + n + R"(","value":)" + std::string(value) + R"(},"outputs":[[")" + n + R"(",")" + std::string(type) + R"(",[1]]]})";
}
/// Inputs a, b, c (those given), the operator y of all of them.
std::string of(std::string_view op, std::string_view attrs, const std::vector<std::string>& inputs, std::string_view type, std::string_view shape, const std::string& literals = {}) {
    std::string ids, ports, nodes;
    for (const std::string& one : inputs) {
        const std::string id = one.substr(7, 1);
        (ids += ids.empty() ? "\"" : ",\"") += id + "\"";
        if (one.find("\"input\"") != std::string::npos) (ports += ports.empty() ? "\"" : ",\"") += id + "\"";
        (nodes += nodes.empty() ? "" : ",") += one;
    }
    return R"({"inputs":[)" + ports + R"(],"outputs":["y"],"nodes":[)" + nodes + literals + R"(,{"id":"y","op":")" + std::string(op) + "\"" + (attrs.empty() ? "" : R"(,"attrs":)" + std::string(attrs)) + R"(,"inputs":[)" + ids +
           R"(],"outputs":[["y",")" + std::string(type) + R"(",)" + std::string(shape) + "]]}]}";
}
const std::string f32_3_4 = input("a", "f32", "[3,4]"), sym = R"({"sym":"seq_len","hint":512})";

}  // namespace

BOOST_AUTO_TEST_CASE(shapes_are_what_the_operator_makes) {
    const auto check = [](const std::string& text, std::string_view wanted) { BOOST_TEST(said(text) == wanted); };
    const auto b = [](std::string_view shape, std::string_view type = "f32") { return input("b", type, shape); };
    const auto c = [](std::string_view shape, std::string_view type = "f32") { return input("c", type, shape); };
    check(of("tensor.elementwise", R"({"op":"relu"})", {f32_3_4}, "f32", "[3,4]"), "accepted");
    check(of("tensor.elementwise", R"({"op":"relu"})", {f32_3_4}, "f32", "[4,3]"), "nodes[1].outputs: found the shape [4,3], expected [3,4] from tensor.elementwise (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"add"})", {f32_3_4, b("[4]")}, "f32", "[3,4]"), "nodes[2].inputs: found the shapes [3,4] and [4], expected equal ones (node \"y\")");
    check(of("torch.linear", "", {f32_3_4, b("[5,3]")}, "f32", "[3,5]"), "nodes[2].inputs: found [3,4] times the weight [5,3], expected [..,K] and [N,K] (node \"y\")");
    check(of("torch.linear", R"({"has_bias":true})", {f32_3_4, b("[5,4]"), c("[4]")}, "f32", "[3,5]"), "nodes[3].inputs: found the bias [4], expected [5] (node \"y\")");
    check(of("torch.matmul", "", {f32_3_4, b("[3,4]")}, "f32", "[3,4]"), "nodes[2].inputs: found [3,4] times [3,4], expected [..,M,K] and [..,K,N] (node \"y\")");
    check(of("torch.matmul", "", {f32_3_4, b("[2,4,5]")}, "f32", "[3,5]"), "nodes[2].outputs: found the shape [3,5], expected [2,3,5] from torch.matmul (node \"y\")");
    check(of("torch.softmax", R"({"axis":2})", {f32_3_4}, "f32", "[3,4]"), "nodes[1].attrs.axis: found axis 2, expected one of 2 (node \"y\")");
    check(of("torch.mean", "", {f32_3_4}, "f32", "[3]"), "nodes[1].outputs: found the shape [3], expected [3,1] from torch.mean (node \"y\")");
    check(of("tensor.reduce", R"({"axis":1})", {f32_3_4}, "f32", "[1,4]"), "nodes[1].outputs: found the shape [1,4], expected [3,1] from tensor.reduce (node \"y\")");
    check(of("torch.rms_norm", "", {f32_3_4, b("[3]")}, "f32", "[3,4]"), "nodes[2].inputs: found the weight [3], expected [4] (node \"y\")");
    check(of("torch.transpose", R"({"axes":[0,1,1]})", {f32_3_4}, "f32", "[4,3]"), "nodes[1].attrs.axes: found axes that are no permutation, expected each of 2 axes once or a pair to swap (node \"y\")");
    check(of("torch.transpose", R"({"axes":[0,1]})", {f32_3_4}, "f32", "[3,4]"), "nodes[1].outputs: found the shape [3,4], expected [4,3] from torch.transpose (node \"y\")");
    check(of("torch.reshape", R"({"shape":[5,-1]})", {f32_3_4}, "f32", "[5,2]"), "nodes[1].attrs.shape: found [3,4] reshaped with 5 elements beside -1, expected a divisor of 12 (node \"y\")");
    check(of("torch.reshape", R"({"shape":[-1,-1]})", {f32_3_4}, "f32", "[3,4]"), "nodes[1].attrs.shape: found -1 twice, expected one size at most that is left over (node \"y\")");
    check(of("torch.reshape", R"({"shape":[3,5]})", {f32_3_4}, "f32", "[3,5]"), "nodes[1].attrs.shape: found a reshape of [3,4] to [3,5], expected equal counts (node \"y\")");
    check(of("torch.slice", R"({"shape":[3,2],"dim":1,"start":3})", {f32_3_4}, "f32", "[3,2]"), "nodes[1].attrs.start: found a slice of 2 from 3, expected one inside 4 (node \"y\")");
    check(of("torch.unsqueeze", R"({"dim":-4})", {f32_3_4}, "f32", "[3,4,1]"), "nodes[1].attrs.dim: found axis -4, expected one of 3 (node \"y\")");
    check(of("torch.cat", "", {f32_3_4, b("[3,5]")}, "f32", "[3,9]"), "nodes[2].inputs: found no whole literal after the parts of torch.cat, expected their axis (node \"y\")");
    check(of("torch.cat", "", {f32_3_4, b("[2,5]"), literal("c", "f32", "-1.0")}, "f32", "[3,9]"), "nodes[3].inputs: found the parts [3,4] and [2,5], expected equal sizes but for axis 1 (node \"y\")");
    check(of("torch.conv1d", R"({"groups":4})", {input("a", "f32", "[1,6,9]"), b("[6,1,3]")}, "f32", "[1,6,7]"), "nodes[2].attrs.groups: found 4 groups of 6 channels, expected a divisor (node \"y\")");
    check(of("torch.conv1d", R"({"stride":0})", {input("a", "f32", "[1,6,9]"), b("[6,6,3]")}, "f32", "[1,6,7]"), "nodes[2].attrs.stride: found 0, expected at least 1 (node \"y\")");
    check(of("torch.conv1d", "", {input("a", "f32", "[1,6,2]"), b("[6,6,3]")}, "f32", "[1,6,1]"), "nodes[2].inputs: found x [1,6,2], weight [6,6,3], expected taps that fit inside the padded input (node \"y\")");
    check(of("torch.sdpa", "", {input("a", "f16", "[1,6,5,8]"), b("[1,4,7,8]", "f16"), c("[1,4,7,8]", "f16")}, "f16", "[1,6,5,8]"),
          "nodes[3].inputs: found q [1,6,5,8], k [1,4,7,8], v [1,4,7,8], expected equal batches, or a multiple of the key heads as query heads (node \"y\")");
    check(of("torch.sdpa", R"({"sliding_window":0})", {input("a", "f16", "[1,4,7,8]"), b("[1,4,7,8]", "f16"), c("[1,4,7,8]", "f16")}, "f16", "[1,4,7,8]"), "nodes[3].attrs.sliding_window: found 0, expected at least 1 (node \"y\")");
    check(of("EinsumOp", R"({"equation":"ij,jk->il"})", {f32_3_4, b("[4,5]")}, "f32", "[3,5]"), "nodes[2].attrs.equation: found \"ij,jk->il\", expected a result of the operands' letters, each once (node \"y\")");
    check(of("EinsumOp", R"({"equation":"ij,jk->ik"})", {f32_3_4, b("[3,5]")}, "f32", "[3,5]"), "nodes[2].inputs: found the sizes 4 and 3 for 'j', expected equal ones (node \"y\")");
    check(of("tensor.gather", "", {f32_3_4, b("[7]", "i64")}, "f32", "[3,7]"), "nodes[2].outputs: found the shape [3,7], expected [7,4] from tensor.gather (node \"y\")");
    check(of("tensor.index_map", R"({"out_shape":[3],"sources":[{"input_idx":0,"coord_map":["out_coord_1","0"]}]})", {f32_3_4}, "f32", "[3]"),
          "nodes[1].attrs.sources: source 0: found the name \"out_coord_1\", expected a coordinate of the result or the program's symbol (node \"y\")");
    check(of("tensor.index_map", R"({"out_shape":[3],"sources":[{"input_idx":0,"coord_map":["out_coord_0","0"]},{"input_idx":0,"coord_map":["0","0"]}]})", {f32_3_4}, "f32", "[3]"),
          "nodes[1].attrs.sources: source 0: found no select, expected one on every source but the last (node \"y\")");
    check(of("tensor.index_map", R"({"out_shape":[4],"sources":[{"input_idx":0,"coord_map":["out_coord_0","0"]}]})", {f32_3_4}, "f32", "[3]"), "nodes[1].outputs: found the shape [3], expected [4] from tensor.index_map (node \"y\")");
}

BOOST_AUTO_TEST_CASE(element_types_fit) {
    const auto check = [](const std::string& text, std::string_view wanted) { BOOST_TEST(said(text) == wanted); };
    const auto b = [](std::string_view shape, std::string_view type = "f32") { return input("b", type, shape); };
    const auto c = [](std::string_view shape, std::string_view type = "f32") { return input("c", type, shape); };
    check(of("torch.matmul", "", {f32_3_4, b("[4,5]", "f16")}, "f32", "[3,5]"), "nodes[2].inputs: found f16 as input 1 of torch.matmul, expected f32 (node \"y\")");
    check(of("torch.matmul", "", {input("a", "f16", "[3,4]"), b("[4,5]", "f16")}, "f32", "[3,5]"), "accepted");  // the declared type is the contract
    check(of("torch.transpose", R"({"axes":[0,1]})", {f32_3_4}, "f16", "[4,3]"), "nodes[1].outputs: found f16 as the result of torch.transpose, expected f32 (node \"y\")");
    check(of("tensor.bitcast", R"({"dtype":"f16"})", {f32_3_4}, "f16", "[3,4]"), "nodes[1].inputs: found f32 as input 0 of tensor.bitcast, expected a type as wide as f16 (node \"y\")");
    check(of("tensor.bitcast", R"({"dtype":"i32"})", {f32_3_4}, "u32", "[3,4]"), "nodes[1].outputs: found u32 as the result of tensor.bitcast, expected i32 (node \"y\")");
    check(of("tensor.gather", "", {f32_3_4, b("[7]")}, "f32", "[7,4]"), "nodes[2].inputs: found f32 as input 1 of tensor.gather, expected integer indices (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"where"})", {f32_3_4, b("[3,4]"), c("[3,4]")}, "f32", "[3,4]"), "nodes[3].inputs: found f32 as operand 0 of where, expected bool (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"from_f8e4m3"})", {f32_3_4}, "f32", "[3,4]"), "nodes[1].inputs: found f32 as operand 0 of from_f8e4m3, expected f8e4m3 (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"to_f8e4m3"})", {f32_3_4}, "f32", "[3,4]"), "nodes[1].outputs: found f32 as the result of to_f8e4m3, expected f8e4m3 (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"exp"})", {input("a", "f8e4m3", "[3,4]")}, "f32", "[3,4]"), "nodes[1].inputs: found f8e4m3 as operand 0 of exp, expected a type to compute with (decode or copy it first) (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"right_shift"})", {f32_3_4, b("[3,4]", "i32")}, "i32", "[3,4]"), "nodes[2].inputs: found f32 as operand 0 of right_shift, expected an integer type (node \"y\")");
    check(of("torch.softmax", "", {input("a", "i32", "[3,4]")}, "i32", "[3,4]"), "nodes[1].inputs: found i32 as input 0 of torch.softmax, expected a real type (node \"y\")");
    check(of("torch.sdpa", "", {input("a", "f16", "[2,7,8]"), b("[2,7,8]", "f16"), c("[2,7,8]", "f32")}, "f16", "[2,7,8]"), "nodes[3].inputs: found f32 as input 2 of torch.sdpa, expected f16 (node \"y\")");
    check(of("tensor.elementwise", R"({"op":"relu"})", {literal("a", "i32", "1.5")}, "i32", "[1]"), "nodes[0].attrs.value: found a fraction for i32, expected a whole number (node \"a\")");
}

BOOST_AUTO_TEST_CASE(graphs_hang_together) {
    const auto check = [](const std::string& text, std::string_view wanted) { BOOST_TEST(said(text) == wanted); };
    const std::string x = input("x", "f32", "[4]");
    const auto relu = [](std::string_view id, std::string_view from) { return R"({"id":")" + std::string(id) + R"(","op":"tensor.elementwise","attrs":{"op":"relu"},"inputs":[")" + std::string(from) + R"("],"outputs":[[")" + std::string(id) + R"(","f32",[4]]]})"; };
    // A cycle has a node whose producer is not before it.
    check(R"({"inputs":["x"],"outputs":["q"],"nodes":[)" + x + "," + relu("p", "q") + "," + relu("q", "p") + "]}", "nodes[1].inputs[0]: found \"q\", expected the buffer of an earlier node");
    check(R"({"inputs":["x"],"outputs":["p"],"nodes":[)" + x + "," + relu("p", "p") + "]}", "nodes[1].inputs[0]: found \"p\", expected the buffer of an earlier node");
    check(R"({"inputs":["x"],"outputs":["p"],"nodes":[)" + x + "," + relu("p", "gone") + "]}", "nodes[1].inputs[0]: found \"gone\", expected the buffer of an earlier node");
    check(R"({"inputs":["x"],"outputs":["p"],"nodes":[)" + x + R"(,{"id":"p","op":"torch.permute","inputs":["x"],"outputs":[["p","f32",[4]]]}]})", "nodes[1].op: found \"torch.permute\", expected an operator (torch.matmul, tensor.reduce, …)");
    check(R"({"inputs":["x"],"outputs":["p"],"nodes":[)" + x + R"(,{"id":"p","op":"torch.softmax","attrs":{"dim":0},"inputs":["x"],"outputs":[["p","f32",[4]]]}]})", "nodes[1].attrs.dim: found an unknown key, expected none of this name");
    // By hand: the same faults by the node's id.
    program::builder build;
    const program::builder::size four[] = {{.number = 4}};
    const program::edge in = build.input("x", dtype::f32, four), forward{2, 0};
    const program::builder::setting exp{.key = program::attr::op, .text = "exp"};
    build.add("p", program::op::elementwise, std::span(&forward, 1), dtype::f32, four, std::span(&exp, 1));
    const program::edge back{1, 0};
    build.output(build.add("q", program::op::elementwise, std::span(&back, 1), dtype::f32, four, std::span(&exp, 1)));
    (void)in;
    const auto cyclic = program::check_program(std::move(build).finish());
    BOOST_REQUIRE(!cyclic);
    BOOST_TEST(cyclic.error().line() == "outputs: found an output that no node makes, expected one of the nodes");
    program::builder narrow;
    const program::builder::size three[] = {{.number = 3}};
    const program::edge y = narrow.input("x", dtype::f32, four);
    narrow.output(narrow.add("p", program::op::elementwise, std::span(&y, 1), dtype::f32, three, std::span(&exp, 1)));
    BOOST_TEST(program::check_program(std::move(narrow).finish()).error().line() == "p.outputs: found the shape [3], expected [4] from tensor.elementwise");
}

BOOST_AUTO_TEST_CASE(sizes_and_symbols) {
    const auto check = [](const std::string& text, std::string_view wanted) { BOOST_TEST(said(text) == wanted); };
    const auto relu = [](const std::string& shape) { return of("tensor.elementwise", R"({"op":"relu"})", {input("a", "f32", shape)}, "f32", shape); };
    check(relu("[0]"), "nodes[0].outputs[0][2][0]: found 0, expected a size of at least 1");
    check(relu("[-3]"), "nodes[0].outputs[0][2][0]: found -3, expected a size of at least 1");
    check(relu("[4000000000,4000000000]"), "nodes[0].outputs[0][2]: found more elements than 64 bits count, expected a tensor that can exist");
    check(relu("[" + sym + "," + sym + ",1000000000,1000000000000]"), "nodes[0].outputs[0][2]: found more elements than 64 bits count, expected a tensor that can exist");
    check(relu("[" + sym + "," + sym + ",1000000000,1000000000]"), "nodes[0].outputs: found more elements than 64 bits count, expected a tensor that can exist (node \"a\")");  // at 4096
    check(relu(R"([{"expr":"4096 - seq_len","hint":3584},)" + sym + "]"), "nodes[0].outputs: found the size 0 - seq_len + 4096, expected at least 1 (node \"a\")");
    check(relu(R"([{"expr":"seq_len / 0","hint":3},)" + sym + "]"), "nodes[0].outputs: found a size that does not evaluate, expected arithmetic over the symbol (node \"a\")");
    check(relu("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "accepted");
    check(relu("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "nodes[0].outputs: found a tensor of rank 17, expected at most 16 (node \"a\")");
    check(relu("[" + sym + R"(,{"sym":"num_tokens","hint":512}])"), "nodes[0].outputs: found the symbol \"num_tokens\" beside \"seq_len\", expected one in a program (node \"a\")");
    check(relu("[" + sym + R"(,{"expr":"other + 1","hint":512}])"), "nodes[0].outputs: found the symbol \"other\" beside \"seq_len\", expected one in a program (node \"a\")");
    // A symbol that an input binds may lack its hint (512 then); one that only attributes or expressions name has no size to run at.
    check(relu(R"([{"sym":"seq_len"}])"), "accepted");
    BOOST_TEST(program::hint_of(*read(relu(R"([{"sym":"seq_len"}])")), 1) == 512);
    check(relu(R"([{"expr":"seq_len + 1"}])"), "nodes[0].outputs: found the symbol \"seq_len\" without a hint and without an input that has it, expected a size to run it at (node \"a\")");
    check(of("torch.reshape", R"({"shape":["seq_len",4]})", {f32_3_4}, "f32", "[3,4]"), "nodes[1].attrs.shape: found the symbol \"seq_len\" without a hint and without an input that has it, expected a size to run it at (node \"y\")");
    check(relu(R"([{"sym":"seq_len","hint":0}])"), "nodes[0].outputs[0][2][0].hint: found 0, expected a size of at least 1");
}

BOOST_AUTO_TEST_CASE(sizes_of_a_specialisation) {
    const auto g = read(of("torch.slice", R"({"shape":[4,8],"dim":0,"start":-4})", {input("a", "f32", "[" + sym + ",8]")}, "f32", "[4,8]"));
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    const auto at = [&](std::string_view symbol, std::int64_t size) {
        const program::bound_size bound{symbol, size};
        const auto fixed = program::specialise(*g, std::span(&bound, 1));
        return fixed ? std::string("made") : fixed.error().line();
    };
    BOOST_TEST(at("seq_len", 4) == "made");
    BOOST_TEST(at("seq_len", 0) == "found the size 0 for \"seq_len\", expected 1 to 4096");
    BOOST_TEST(at("seq_len", 4097) == "found the size 4097 for \"seq_len\", expected 1 to 4096");
    BOOST_TEST(at("rows", 4) == "found the size of \"rows\", expected a symbol of the program: seq_len");
    const program::bound_size small{"seq_len", 3}, twice[] = {{"seq_len", 3}, {"seq_len", 4}};
    BOOST_TEST(program::specialise(*g, twice).error().line() == "found the size of \"seq_len\" twice, expected it once");
    const auto short_one = program::specialise(*g, std::span(&small, 1));
    BOOST_REQUIRE(short_one);
    BOOST_TEST(program::check_program(*short_one).error().line() == "y.attrs.start: found a slice of 4 from -4, expected one inside 3");
}
