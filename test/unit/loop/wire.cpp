#include "support/loop_text.hpp"

#include <emmy/loop/identity.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using test::loop_ir;

namespace {
std::string refused_as(const std::string& place, const std::string& message) { return std::string("refused: ").append(place).append(": ").append(message); }
/// What is written for a body; equal to the text itself where nothing was at its default.
std::string rewritten(const std::string& text) {
    auto k = loop::parse_kernel(text);
    return k ? loop::kernel_text(*k) : refused_as(k.error().place(), k.error().message());
}
void same(const std::string& body) { BOOST_CHECK_EQUAL(rewritten(loop_ir(body)), loop_ir(body)); }
std::string numbered(const char* prefix, int number) { return std::string(prefix).append(std::to_string(number)); }
const std::string at_body = "nodes[2].attrs.body[0]";
void refused(const std::string& body, const std::string& place, const std::string& message) { BOOST_CHECK_EQUAL(rewritten(loop_ir(body)), refused_as(place, message)); }
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
}
}  // namespace

BOOST_AUTO_TEST_CASE(every_class_and_field_is_written_back) {
    same("");
    same(R"({"Load":{"names":["p"],"input":"x","index":["0","1"]}})");
    same(R"({"Load":{"names":["p","q"],"input":"x","index":["0","1"],"dtype":"f8e4m3","carried":"z"}})");
    same(R"({"Assign":{"name":"r","op":"multiply","args":["p","p"],"dtype":"f16"}})");
    same(R"({"Accum":{"name":"s","value":"p"}})");
    same(R"({"Accum":{"name":"s","value":"p","op":"maximum","dtype":"f32","axes":["i"],"base":"b"}})");
    same(R"({"Select":{"name":"r","branches":[{"value":"p","select":"i < 1"},{"value":"q","select":"true"}]}})");
    same(R"({"Write":{"output":"y","index":["0","0"],"values":["p","q"],"value_dtype":"f16","atomic":true,"swizzle":"B128"}})");
    same(R"({"Let":{"name":"one","value":"1.0","dtype":"f32"}})");
    same(R"({"Pre":{"name":"p","carrier":"S","index":["1 - c"]}})");
    same(R"({"Carry":{"name":"S","value":"q","index":["c"],"seed":0.0}},{"Carry":{"name":"T","value":"q","index":["c"],"seed":0,"dtype":"f32"}},{"Carry":{"name":"U","value":"q","index":["c"],"seed":"base"}})");
    same(R"({"Cond":{"cond":"i < 2","body":[{"Cond":{"cond":"i","body":[]}}],"else_body":[{"Let":{"name":"a","value":"0"}}]}})");
    same(R"({"Init":{"name":"s","identity":-1e+30,"dtype":"f32"}},{"Init":{"name":"t","identity":-3,"dtype":"i32"}},{"Init":{"name":"u","identity":1e-05,"dtype":"f32"}})");
    same(R"({"StridedLoop":{"axis":{"name":"i","extent":64},"start":"threadlane","step":"32","body":[],"unroll":true,"end":"64 + 1","seed":false}})");
    same(R"({"Loop":{"axis":{"name":"i","extent":{"sym":"n","hint":512}},"body":[],"unroll":true,"seed":false}})");
    same(R"({"Loop":{"axis":{"name":"i","extent":{"expr":"n / 4","hint":128},"window":{"parent":{"name":"g","extent":512},"base":"4 * b","bound":"n","partition":true}},"body":[]}})");
    same(R"({"ZeroPrologue":{"dst":"y","words":16}})");
}

BOOST_AUTO_TEST_CASE(defaults_are_omitted_and_aliases_written_canonically) {
    BOOST_CHECK_EQUAL(rewritten(loop_ir(R"({"Loop":{"seed":true,"body":[],"unroll":false,"axis":{"window":null,"extent":4,"name":"i"}}})")), loop_ir(R"({"Loop":{"axis":{"name":"i","extent":4},"body":[]}})"));
    BOOST_CHECK_EQUAL(rewritten(loop_ir(R"({"Load":{"names":["p"],"input":"x","index":[],"dtype":null,"carried":""}})")), loop_ir(R"({"Load":{"names":["p"],"input":"x","index":[]}})"));
    BOOST_CHECK_EQUAL(rewritten(loop_ir(R"({"Write":{"output":"y","index":[],"values":["p"],"value_dtype":null,"atomic":false,"swizzle":"NONE"}})")), loop_ir(R"({"Write":{"output":"y","index":[],"values":["p"]}})"));
    BOOST_CHECK_EQUAL(rewritten(loop_ir(R"({"Accum":{"name":"s","value":"p","op":"sum","dtype":null,"axes":[],"base":null}})")), loop_ir(R"({"Accum":{"name":"s","value":"p"}})"));
    BOOST_CHECK_EQUAL(rewritten(loop_ir(R"({"Assign":{"name":"r","op":"__rshift__","args":["p","q"]}})")), loop_ir(R"({"Assign":{"name":"r","op":"right_shift","args":["p","q"]}})"));
}

BOOST_AUTO_TEST_CASE(nodes_keep_their_order_and_ids) {
    const std::string plain = loop_ir("");
    const std::string swapped = replaced(replaced(replaced(plain, R"({"id":"x","op":"input","outputs":[["x","f32",[4,8]]]},)", ""), R"({"id":"c","op":"input","outputs":[["c","f32",[1]]]},)",
        R"({"id":"c","op":"input","outputs":[["c","f32",[1]]]},{"id":"x","op":"input","outputs":[["x","f32",[4,8]]]},)"), R"({"id":"y")", R"({"id":"other")");
    BOOST_CHECK_EQUAL(rewritten(swapped), swapped);
    auto a = loop::parse_kernel(plain), b = loop::parse_kernel(swapped);
    BOOST_REQUIRE((a && b));
    BOOST_CHECK(loop::identity(*a) == loop::identity(*b));
}

BOOST_AUTO_TEST_CASE(refusals_of_statements) {
    refused("3", at_body, "found 3, expected an object");
    refused("{}", at_body, "found an object of 0 keys, expected one: a statement's class");
    refused(R"({"Load":{},"Write":{}})", at_body, "found an object of 2 keys, expected one: a statement's class");
    refused(R"({"Lood":{}})", at_body + ".Lood", "found an unknown statement, expected one of Loop Load Assign Accum Select Write Let Pre Carry Cond Init StridedLoop ZeroPrologue");
    refused(R"({"Load":3})", at_body + ".Load", "found 3, expected an object");
    refused(R"({"Load":{"names":["p"],"input":"x"}})", at_body + ".Load", "the key \"index\" is missing");
    refused(R"({"Load":{"names":["p"],"input":"x","index":[],"more":1}})", at_body + ".Load.more", "found an unknown key, expected none of this name");
    refused(R"({"Load":{"names":[],"input":"x","index":[]}})", at_body + ".Load.names", "found no name, expected at least one");
    refused(R"({"Load":{"names":"p","input":"x","index":[]}})", at_body + ".Load.names", "found \"p\", expected an array");
    refused(R"({"Load":{"names":[""],"input":"x","index":[]}})", at_body + ".Load.names[0]", "found an empty name, expected one");
    refused(R"({"Load":{"names":["p"],"input":"x","index":[0]}})", at_body + ".Load.index[0]", "found 0, expected a string");
    refused(R"({"Load":{"names":["p"],"input":"x","index":["0","a +"]}})", at_body + ".Load.index[1]", "found the end at offset 3 of the expression \"a +\", expected a number, a name or \"(\"");
    refused(R"({"Load":{"names":["p"],"input":"x","index":[],"dtype":"float"}})", at_body + ".Load.dtype",
        "found the dtype \"float\", expected one of f64 f32 f16 bf16 f8e4m3 f8e5m2 f4e2m1x2 f16x2 i64 i32 i16 u64 u32 u16 u8 bool");
    refused(R"({"Assign":{"name":"r","op":"conv3d","args":[]}})", at_body + ".Assign.op", "found the operator \"conv3d\", expected a known one");
    refused(R"({"Assign":{"name":"r","op":true,"args":[]}})", at_body + ".Assign.op", "found true, expected a string");
    refused(R"({"Select":{"name":"r","branches":[]}})", at_body + ".Select.branches", "found no branch, expected at least one");
    refused(R"({"Select":{"name":"r","branches":[{"value":"p"}]}})", at_body + ".Select.branches[0]", "the key \"select\" is missing");
    refused(R"({"Select":{"name":"r","branches":[{"value":"p","select":"1","x":0}]}})", at_body + ".Select.branches[0].x", "found an unknown key, expected none of this name");
    refused(R"({"Write":{"output":"y","index":[],"values":[]}})", at_body + ".Write.values", "found no value, expected at least one");
    refused(R"({"Write":{"output":"y","index":[],"values":["p"],"atomic":1}})", at_body + ".Write.atomic", "found 1, expected a boolean");
    refused(R"({"Loop":{"axis":{"name":"i","extent":4.5},"body":[]}})", at_body + ".Loop.axis.extent", "found 4.5, expected an integer, {\"sym\"} or {\"expr\"}");
    refused(R"({"Loop":{"axis":{"name":"i","extent":4,"window":{"parent":{"name":"g","extent":8,"window":{}}}},"body":[]}})", at_body + ".Loop.axis.window.parent.window", "found a window of a window's parent, expected none");
    refused(R"({"Carry":{"name":"S","value":"q","index":[],"seed":null}})", at_body + ".Carry.seed", "found null, expected a number or the name of a buffer");
    refused(R"({"Init":{"name":"s","identity":0}})", at_body + ".Init", "the key \"dtype\" is missing");
    refused(R"({"Init":{"name":"s","identity":9007199254740993,"dtype":"f32"}})", at_body + ".Init.identity", "found 9007199254740993, expected a whole number of at most 2^53");
    refused(R"({"Cond":{"cond":"1","body":{}}})", at_body + ".Cond.body", "found an object, expected an array");
}

BOOST_AUTO_TEST_CASE(refusals_of_programs) {
    const std::string plain = loop_ir("");
    auto check = [&](const std::string& from, const std::string& to, const std::string& expected) { BOOST_CHECK_EQUAL(rewritten(replaced(plain, from, to)), std::string("refused: ").append(expected)); };
    check(R"("outputs":["y"],)", "", ": the key \"outputs\" is missing");
    check(R"("outputs":["y"],)", R"("outputs":["y"],"more":{},)", "more: found an unknown key, expected none of this name");
    check(R"("outputs":["y"],)", R"("outputs":["z"],)", "outputs: found other names than the outputs of the loop node, expected the same in the same order");
    check(R"("inputs":["x","c"],"outputs":["y"],)", R"("inputs":["x","x"],"outputs":["y"],)", "inputs[1]: found an input for the second time, expected distinct names");
    check(R"("inputs":["x","c"],"outputs":["y"],)", R"("inputs":["x"],"outputs":["y"],)", "nodes[1].id: found an input node that `inputs` does not list, expected one of them");
    check(R"("inputs":["x","c"],"outputs":["y"],)", R"("inputs":["x","c","d"],"outputs":["y"],)", "nodes: found no input node of \"d\", expected one for each input");
    check(R"({"id":"c","op":"input","outputs":[["c","f32",[1]]]},)", R"({"id":"x","op":"input","outputs":[["x","f32",[1]]]},)", "nodes[1].id: found an input node for the second time, expected one for each input");
    check(R"({"id":"c","op":"input")", R"({"id":"d","op":"input")", "nodes[1].outputs[0]: found an output of another name than the input node's id, expected the same");
    check(R"("op":"loop")", R"("op":"matmul")", "nodes[2].op: found a node of op \"matmul\", expected \"loop\": input nodes, then one loop node");
    check(R"({"id":"c","op":"input")", R"({"id":"c","op":"loop")", "nodes[1].op: found a node of op \"loop\", expected \"input\": input nodes, then one loop node");
    check(R"(["c","f32",[1]])", R"(["c","f32"])", "nodes[1].outputs[0]: found an array of 2 items, expected [name, dtype, shape]");
    check(R"(["c","f32",[1]])", R"(["c",32,[1]])", "nodes[1].outputs[0][1]: found 32, expected a string");
    check(R"(["c","f32",[1]])", R"(["c","f32",[{"sym":"n","hint":0}]])", "nodes[1].outputs[0][2][0].hint: found 0, expected a size of at least 1");
    check(R"(["y","f32",[4,8]])", "", "nodes[2].outputs: found no output, expected at least one");
    check(R"("name":"k"},"inputs":["x","c"])", R"("name":"k"},"inputs":["c","x"])", "nodes[2].inputs: found other names than the kernel's inputs, expected the same in the same order");
    check(R"("name":"k")", R"("name":7)", "nodes[2].attrs.name: found 7, expected a string");
    check(R"("name":"k")", R"("name":"k","x":1)", "nodes[2].attrs.x: found an unknown key, expected none of this name");
    BOOST_CHECK_EQUAL(rewritten("[]"), "refused: : found an array, expected an object");
    BOOST_CHECK_EQUAL(rewritten(R"({"inputs":[],"outputs":[],"nodes":[]})"), "refused: nodes: found no node, expected exactly one loop node");
}

BOOST_AUTO_TEST_CASE(faults_name_the_file) {
    auto k = loop::parse_kernel("{", "some.json");
    BOOST_REQUIRE(!k);
    BOOST_CHECK_EQUAL(k.error().file(), "some.json");
    k = loop::parse_kernel("[]", "some.json");
    BOOST_REQUIRE(!k);
    BOOST_CHECK_EQUAL(k.error().file(), "some.json");
    BOOST_CHECK(k.error().kind() == fault_kind::input);
}

BOOST_AUTO_TEST_CASE(depth_and_size) {
    auto nested = [](int depth) {
        std::string body;
        for (int i = 0; i < depth; ++i) body = test::over(numbered("i", i), 2, body);
        return loop_ir(body);
    };
    BOOST_CHECK_EQUAL(test::refusal(nested(64)), "");
    BOOST_CHECK(test::refusal(nested(65)).ends_with(": found statements nested deeper than 64, expected at most 64"));
    BOOST_CHECK(test::refusal(nested(300)).find("found nesting deeper than 256") != std::string::npos);

    auto many = [](const std::string& item, int count) {
        std::string out = item;
        out.reserve((item.size() + 1) * static_cast<std::size_t>(count));
        for (int i = 1; i < count; ++i) (out += ',') += item;
        return out;
    };
    constexpr int million = 1000000;
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(R"({"Load":{"names":["p"],"input":"x","index":[)" + many("\"0\"", million) + "]}}")), at_body + ".Load.index: found 1000000 indices into \"x\", expected 2");
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(R"({"Load":{"names":[)" + many("\"p\"", million) + R"(],"input":"x","index":["0","0"]}})")), at_body + ".Load.names: found 1000000 values, expected one, or 2 to 16 along a last dimension");
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(R"({"Assign":{"name":"p","op":"add","args":[)" + many("\"q\"", million) + "]}}")), at_body + ".Assign.args: found 1000000 arguments of add, expected 2");
    BOOST_CHECK(test::refusal(loop_ir(many(R"j({"Let":{"name":"p","value":"f(1)"}})j", million))).starts_with("nodes[2].attrs.body[0].Let.value: found a call of \"f\""));
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(many(R"({"Cond":{"cond":"1","body":[]}})", million))), "");
    std::string distinct;
    for (int i = 0; i < million / 4; ++i) distinct.append(i ? "," : "").append(numbered(R"({"Let":{"name":"p)", i)).append(numbered(R"(","value":")", i)).append("\"}}");
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(distinct)), "");
    std::string sums;
    for (int i = 0; i < 100000; ++i) sums.append(i ? "," : "").append(numbered(R"({"Accum":{"name":"s)", i)).append(R"(","value":"s0"}})");
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(test::over("i", 4, sums))), "");
    std::string states;
    for (int i = 0; i < 50000; ++i) states.append(i ? "," : "").append(test::over("i", 4, numbered(R"({"Let":{"name":"v","value":"1"}},{"Carry":{"name":"S)", i).append(R"(","value":"v","index":["0"],"seed":0}})")));
    BOOST_CHECK_EQUAL(test::refusal(loop_ir(states)), "");
}
