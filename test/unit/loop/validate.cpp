#include "support/loop_text.hpp"

#include <boost/test/unit_test.hpp>

using namespace emmy;
using test::loop_ir;
using test::over;

namespace {
const std::string load = R"({"Load":{"names":["p"],"input":"x","index":["0","0"]}})";
std::string at(const std::string& rest) { return "nodes[2].attrs.body" + rest; }
void valid(const std::string& body) { BOOST_CHECK_EQUAL(test::refusal(loop_ir(body)), ""); }
void refused(const std::string& body, const std::string& place, const std::string& message) { BOOST_CHECK_EQUAL(test::refusal(loop_ir(body)), at(place).append(": ").append(message)); }
std::string let(const std::string& name, const std::string& value) { return R"({"Let":{"name":")" + name + R"(","value":")" + value + "\"}}"; }
std::string accum(const std::string& name, const std::string& value, const std::string& more = "") { return R"({"Accum":{"name":")" + name + R"(","value":")" + value + "\"" + more + "}}"; }
std::string write(const std::string& value) { return R"({"Write":{"output":"y","index":["0","0"],"values":[")" + value + "\"]}}"; }
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto found = text.find(from);
    BOOST_REQUIRE_MESSAGE(found != std::string::npos, from);
    return text.replace(found, from.size(), to);
}
}  // namespace

BOOST_AUTO_TEST_CASE(names_and_scopes) {
    valid(load + "," + write("p"));
    valid(over("i", 4, load) + "," + over("i", 4, load));  // siblings may reuse axes and local names
    refused(write("p"), "[0].Write.values[0]", "found \"p\", which is no visible name here, expected a value defined before");
    refused(over("i", 4, load) + "," + write("p"), "[1].Write.values[0]", "found \"p\", which is no visible name here, expected a value defined before");
    refused(load + "," + load, "[1].Load.names", "found \"p\" for the second time (it is a value here), expected a new name");
    refused(load + "," + over("i", 4, load), "[1].Loop.body[0].Load.names", "found \"p\" for the second time (it is a value here), expected a new name");
    refused(over("i", 4, over("i", 4, "")), "[0].Loop.body[0].Loop.axis.name", "found \"i\" for the second time (it is an axis here), expected a new name");
    refused(over("i", 4, write("i")), "[0].Loop.body[0].Write.values[0]", "found \"i\", which is an axis here, expected a value defined before");
    refused(let("a); system(", "0"), "[0].Let.name", "found the name \"a); system(\", expected an identifier");
    refused(let("warp_size", "0"), "[0].Let.name", "found the name \"warp_size\", expected an identifier");
    refused(over("true", 4, ""), "[0].Loop.axis.name", "found the name \"true\", expected an identifier");
    valid(R"({"Cond":{"cond":"1","body":[)" + load + "],\"else_body\":[" + load + "]}}");
    refused(R"({"Cond":{"cond":"1","body":[)" + load + "]}}," + write("p"), "[1].Write.values[0]", "found \"p\", which is no visible name here, expected a value defined before");
    BOOST_CHECK_EQUAL(test::refusal(replaced(loop_ir(""), R"("name":"k")", R"("name":"k-1")")), "nodes[2].attrs.name: found the kernel name \"k-1\", expected an identifier");
}

BOOST_AUTO_TEST_CASE(buffers) {
    refused(R"({"Load":{"names":["p"],"input":"z","index":["0"]}})", "[0].Load.input", "found the buffer \"z\", expected a declared input");
    refused(R"({"Load":{"names":["p"],"input":"y","index":["0","0"]}})", "[0].Load.input", "found the buffer \"y\", expected a declared input");
    refused(R"({"Load":{"names":["p"],"input":"x","index":["0"]}})", "[0].Load.index", "found 1 indices into \"x\", expected 2");
    refused(R"({"Load":{"names":["p"],"input":"x","index":["0","0"],"dtype":"f16"}})", "[0].Load.dtype", "found f16 of a buffer of f32, expected a dtype of the same width");
    refused(R"({"Load":{"names":["p"],"input":"x","index":["0","0"],"carried":"s"}})", "[0].Load.carried", "found \"s\", expected none: it has a meaning in scheduled code only");
    valid(R"({"Load":{"names":["p","q"],"input":"x","index":["0","0"]}},{"Write":{"output":"y","index":["0","0"],"values":["p","q"]}})");
    refused(load + R"(,{"Write":{"output":"x","index":["0","0"],"values":["p"]}})", "[1].Write.output", "found the buffer \"x\", expected a declared output");
    refused(load + R"(,{"Write":{"output":"y","index":[],"values":["p"]}})", "[1].Write.index", "found 0 indices into \"y\", expected 2");
    refused(load + R"(,{"Write":{"output":"y","index":["0","0"],"values":["p"],"swizzle":"B128"}})", "[1].Write.swizzle", "found \"B128\", expected NONE: it has a meaning in scheduled code only");
    refused(R"({"ZeroPrologue":{"dst":"x","words":1}})", "[0].ZeroPrologue.dst", "found the buffer \"x\", expected a declared output");
    refused(R"({"ZeroPrologue":{"dst":"y","words":-1}})", "[0].ZeroPrologue.words", "found a negative number, expected at least 0");
    auto shape = [](const std::string& dims) { return test::refusal(replaced(loop_ir(""), "\"c\",\"f32\",[1]", "\"c\",\"f32\"," + dims)); };
    BOOST_CHECK_EQUAL(shape("[0]"), "inputs[1]: found the size 0, expected 1 to 2^56");
    BOOST_CHECK_EQUAL(shape("[-4]"), "inputs[1]: found the size -4, expected 1 to 2^56");
    BOOST_CHECK_EQUAL(shape("[]"), "");
    BOOST_CHECK_EQUAL(shape("[1073741824,1073741824]"), "inputs[1]: found more than 2^56 elements in \"c\", expected at most 2^56");
    BOOST_CHECK_EQUAL(shape(R"([{"sym":"n;"}])"), "inputs[1]: found the symbol \"n;\", expected an identifier");
    BOOST_CHECK_EQUAL(shape(R"([{"expr":"n / 0"}])"), "inputs[1]: found a division by zero, expected another divisor");
    BOOST_CHECK_EQUAL(shape(R"j([{"expr":"f(n)"}])j"), "inputs[1]: found something else in the expression of a size, expected symbols and whole numbers");
    BOOST_CHECK_EQUAL(shape(R"([{"expr":"n / 4 + 1"}])"), "");
    std::string twice = loop_ir("");
    for (const char* key : {R"("outputs":["y"])", R"({"id":"y")", R"("outputs":[["y")"}) twice = replaced(twice, key, replaced(key, "y", "x"));
    BOOST_CHECK_EQUAL(test::refusal(twice), "nodes[2].outputs[0]: found the buffer \"x\" for the second time, expected distinct names");
}

BOOST_AUTO_TEST_CASE(expressions) {
    auto index = [](const std::string& text) { return R"({"Load":{"names":["q"],"input":"c","index":[")" + text + "\"]}}"; };
    const std::string wanted = ", expected axes, values cast to an integer, and whole numbers";
    valid(load + "," + index("(int)p < 0 ? (int)p + 4 : (int)p"));
    valid(over("i", 4, index("i / 2 * (3 - 1) % 4 + true")));
    refused(index("i"), "[0].Load.index[0]", "found \"i\", which is no visible name here" + wanted);
    refused(load + "," + index("p"), "[1].Load.index[0]", "found a value \"p\" without a cast" + wanted);
    refused(load + "," + index("(int)(p + 1)"), "[1].Load.index[0]", "found a value \"p\" without a cast" + wanted);
    refused(load + "," + index("(float)p"), "[1].Load.index[0]", "found a cast to \"float\"" + wanted);
    refused(index("1.5"), "[0].Load.index[0]", "found the real number 1.5" + wanted);
    refused(index("thread_idx.x"), "[0].Load.index[0]", "found the builtin thread_idx.x" + wanted);
    refused(index("min(0, 1)"), "[0].Load.index[0]", "found a call of \"min\"" + wanted);
    refused(index("4 % 0"), "[0].Load.index[0]", "found a division by zero, expected another divisor");
    refused(load + R"(,{"Select":{"name":"s","branches":[{"value":"p","select":"p < 1"}]}})", "[1].Select.branches[0].select", "found a value \"p\" without a cast" + wanted);
    refused(R"({"Cond":{"cond":"0.5","body":[]}})", "[0].Cond.cond", "found the real number 0.5" + wanted);
    valid(let("a", "1.0") + "," + let("b", "-0.5") + "," + over("i", 4, let("c", "i + 1")));
    refused(let("a", "1.0 + 2.0"), "[0].Let.value", "found the real number 1.0" + wanted);
    refused(over("i", 0, ""), "[0].Loop.axis.extent", "found the size 0, expected 1 to 2^56");
    refused(R"({"StridedLoop":{"axis":{"name":"i","extent":4},"start":"0","step":"0","body":[]}})", "[0].StridedLoop.step", "found the step 0, expected at least 1");
    refused(R"({"StridedLoop":{"axis":{"name":"i","extent":4},"start":"i","step":"1","body":[]}})", "[0].StridedLoop.start", "found \"i\", which is no visible name here" + wanted);
}

BOOST_AUTO_TEST_CASE(operators) {
    refused(load + R"(,{"Assign":{"name":"v","op":"add","args":["p"]}})", "[1].Assign.args", "found 1 arguments of add, expected 2");
    refused(load + R"(,{"Assign":{"name":"v","op":"where","args":["p","p"]}})", "[1].Assign.args", "found 2 arguments of where, expected 3");
    refused(load + R"(,{"Assign":{"name":"v","op":"next","args":["p","p"]}})", "[1].Assign.op", "found the operator \"next\", expected one of values");
    refused(load + R"(,{"Assign":{"name":"v","op":"add","args":["p","v"]}})", "[1].Assign.args[1]", "found \"v\", which is no visible name here, expected a value defined before");
    refused(load + R"(,{"Select":{"name":"v","branches":[{"value":"p","select":"1"},{"value":"z","select":"1"}]}})", "[1].Select.branches[1].value", "found \"z\", which is no visible name here, expected a value defined before");
}

BOOST_AUTO_TEST_CASE(accumulators) {
    valid(over("i", 4, load + "," + accum("s", "p", R"(,"axes":["i"])")) + "," + write("s"));
    valid(over("i", 4, load + "," + write("s") + "," + accum("s", "p")));                            // readable before its update
    valid(over("i", 4, load + "," + accum("s", "p") + "," + accum("s", "p")));                       // two updates
    valid(over("i", 4, over("j", 4, load + "," + accum("s", "p")) + "," + accum("t", "s")));
    refused(over("i", 4, over("j", 4, load + "," + accum("s", "p"))) + "," + write("s"), "[1].Write.values[0]", "found \"s\", which is no visible name here, expected a value defined before");
    refused(over("i", 4, load + "," + accum("s", "p", R"(,"op":"subtract")")), "[0].Loop.body[1].Accum.op", "found the operator \"subtract\", expected a fold: add multiply maximum minimum");
    refused(over("i", 4, load + "," + accum("s", "p") + "," + accum("s", "p", R"(,"op":"maximum")")), "[0].Loop.body[2].Accum.op", "found \"maximum\" into \"s\", expected \"add\" as before");
    refused(over("i", 4, load + "," + accum("s", "p") + "," + accum("s", "p", R"(,"dtype":"f16")")), "[0].Loop.body[2].Accum.dtype", "found another dtype of \"s\" than before, expected the same");
    refused(over("i", 4, over("j", 4, load + "," + accum("s", "p", R"(,"axes":["i"])"))), "[0].Loop.body[0].Loop.body[1].Accum.axes", "found \"i\", expected the innermost loop's axis \"j\"");
    refused(over("i", 4, load + "," + accum("s", "p", R"(,"axes":["i","i"])")), "[0].Loop.body[1].Accum.axes", "found \"i\" and more, expected the innermost loop's axis \"i\"");
    refused(load + "," + accum("s", "p"), "[1].Accum.name", "found the accumulator \"s\", which nothing started, expected Init or a loop that holds it directly");
    refused(over("i", 4, load + R"(,{"Cond":{"cond":"i < 2","body":[)" + accum("s", "p") + "]}}"), "[0].Loop.body[1].Cond.body[0].Accum.name", "found the accumulator \"s\", which nothing started, expected Init or a loop that holds it directly");
    refused(over("i", 4, load + "," + accum("p", "p")), "[0].Loop.body[0].Load.names", "found \"p\" for the second time (it is an accumulator here), expected a new name");
    refused(over("i", 4, load + "," + accum("s", "p")) + "," + over("i", 4, load + "," + accum("s", "p")), "[1].Loop.body[1].Accum.name", "found \"s\" for the second time (it is an accumulator here), expected a new name");
    refused(over("i", 4, load + "," + accum("s", "p", R"(,"base":"z")")), "[0].Loop.body[1].Accum.base", "found \"z\", which is no visible name here, expected a value defined before");

    const std::string init = R"({"Init":{"name":"s","identity":0,"dtype":"f32"}})", unseeded = R"({"Loop":{"axis":{"name":"i","extent":4},"body":[)" + load + "," + accum("s", "p") + R"(],"seed":false}})";
    valid(init + "," + unseeded);
    valid(init + "," + over("i", 4, load + R"(,{"Cond":{"cond":"i < 2","body":[)" + accum("s", "p") + "]}}") + "," + write("s"));
    valid(over("i", 4, load + "," + accum("s", "p")) + "," + unseeded);
    refused(unseeded, "[0].Loop.body[1].Accum.name", "found the accumulator \"s\" of an unseeded loop that nothing started, expected Init or an earlier loop");
    refused(init + "," + over("i", 4, load + "," + accum("s", "p")), "[1].Loop.body[1].Accum.name", "found \"s\" for the second time (it is an accumulator here), expected a new name");
}

BOOST_AUTO_TEST_CASE(carried_states) {
    auto carry = [](const std::string& index, const std::string& seed = "0.0") { return R"({"Carry":{"name":"S","value":"p","index":[)" + index + R"(],"seed":)" + seed + "}}"; };
    auto pre = [](const std::string& index) { return R"({"Pre":{"name":"b","carrier":"S","index":[)" + index + "]}}"; };
    valid(over("t", 3, over("c", 2, pre("\"1 - c\"") + "," + load + "," + carry("\"c\""))) + "," + pre("\"0\""));
    valid(over("t", 3, load + "," + carry("\"0\",\"0\"")));
    valid(over("t", 3, over("i", 4, over("j", 8, load + "," + carry("\"i\",\"j\"", "\"x\"")))));
    refused(over("t", 3, over("c", 2, load + "," + carry("\"c + 1\""))), "[0].Loop.body[0].Loop.body[1].Carry.index[0]", "found an expression, expected 0 or the axis of a loop inside the carrying one");
    refused(over("t", 3, over("c", 2, load + "," + carry("\"t\""))), "[0].Loop.body[0].Loop.body[1].Carry.index[0]", "found \"t\", expected 0 or the axis of a loop inside the carrying one");
    refused(over("t", 3, over("c", 2, load + "," + carry("\"c\",\"c\""))), "[0].Loop.body[0].Loop.body[1].Carry.index[1]", "found \"c\" for the second time, expected distinct axes");
    refused(over("c", 2, load + "," + carry("\"c\"")), "[0].Loop.body[1].Carry.index", "found no enclosing loop whose axis is not an index, expected the loop that carries the state");
    refused(over("t", 3, load + "," + carry("\"0\"") + "," + carry("\"0\"")), "[0].Loop", "found \"S\" for the second time (it is a carried state here), expected a new name");
    refused(over("t", 3, load + "," + carry("\"0\"")) + "," + over("t", 3, load + "," + carry("\"0\"")), "[0].Loop.body[1].Carry.name", "found 2 Carry statements of \"S\", expected one");
    refused(over("t", 3, load + "," + carry("\"0\"", "\"y\"")), "[0].Loop.body[1].Carry.seed", "found the buffer \"y\", expected a declared input");
    refused(over("t", 3, load + "," + carry("\"0\"", "\"x\"")), "[0].Loop.body[1].Carry.seed", "found a seed of rank 2, expected the state's, 1");
    refused(over("t", 3, over("i", 4, over("j", 7, load + "," + carry("\"i\",\"j\"", "\"x\"")))), "[0].Loop.body[0].Loop.body[0].Loop.body[1].Carry.seed", "found the size 8 at dimension 1, expected the state's, 7");
    refused(pre("\"0\"") + "," + over("t", 3, load + "," + carry("\"0\"")), "[0].Pre.carrier", "found \"S\", which is no visible name here, expected a carried state, inside its loop or after it");
    refused(over("t", 3, pre("") + "," + load + "," + carry("\"0\"")), "[0].Loop.body[0].Pre.index", "found 0 indices into \"S\", expected 1");
    refused(over("t", 3, load + "," + carry("\"0\"") + "," + write("S")), "[0].Loop.body[2].Write.values[0]", "found \"S\", which is a carried state here, expected a value defined before");
    refused(R"({"StridedLoop":{"axis":{"name":"t","extent":4},"start":"0","step":"1","body":[)" + load + "," + carry("\"0\"") + "]}}", "[0].StridedLoop.body[1].Carry", "found a state carried by a StridedLoop, expected a Loop");
}

BOOST_AUTO_TEST_CASE(places_grow_from_the_given_path) {
    auto k = loop::parse_kernel(loop_ir(write("p")));
    BOOST_REQUIRE(k);
    const json::path root, kernels = root / "kernels", entry = kernels / 3, where = entry / "loop_ir";
    const auto found = loop::validate(*k, where);
    BOOST_REQUIRE(!found);
    BOOST_CHECK_EQUAL(found.error().place(), "kernels[3].loop_ir.nodes[2].attrs.body[0].Write.values[0]");
    BOOST_CHECK(found.error().kind() == fault_kind::input);
}
