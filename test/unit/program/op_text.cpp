#include <emmy/program/op_text.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {
std::string made(std::string_view text) {
    const auto g = program::parse_op(text);
    if (!g) return g.error().line();
    std::string out;
    json::writer w(out);
    program::write_program(w, *g);
    // What the builder makes, the reader accepts.
    const auto document = json::document::parse(out);
    const auto again = program::read_program(document->root());
    BOOST_TEST(again.has_value(), (again ? "" : again.error().line()));
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(operators_by_hand) {
    BOOST_TEST(made("softmax(x: f32[512,2048], dim=-1)") ==
               R"({"inputs":["x"],"outputs":["softmax"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[512,2048]]]},{"id":"softmax","op":"torch.softmax","inputs":["x"],"outputs":[["softmax","f32",[512,2048]]]}]})");
    BOOST_TEST(made("softmax(f32[4,8], dim=0)").find(R"("attrs":{"axis":-2})") != std::string::npos);
    BOOST_TEST(made("matmul(f16[seq_len=512,256], half[256,128])") ==
               R"({"inputs":["x0","x1"],"outputs":["matmul"],"nodes":[{"id":"x0","op":"input","outputs":[["x0","f16",[{"sym":"seq_len","hint":512},256]]]},{"id":"x1","op":"input","outputs":[["x1","f16",[256,128]]]},)"
               R"({"id":"matmul","op":"torch.matmul","inputs":["x0","x1"],"outputs":[["matmul","f16",[{"sym":"seq_len","hint":512},128]]]}]})");
    BOOST_TEST(made("linear(input: f32[32,64], weight: f32[128,64], bias: f32[128])") ==
               R"({"inputs":["input"],"outputs":["linear"],"nodes":[{"id":"input","op":"input","outputs":[["input","f32",[32,64]]]},)"
               R"({"id":"p_bias","op":"constant","attrs":{"name":"p_bias","source_path":"bias","source_shape":[128],"source_dtype":"float32"},"outputs":[["p_bias","f32",[128]]]},)"
               R"({"id":"p_weight","op":"constant","attrs":{"name":"p_weight","source_path":"weight","source_shape":[128,64],"source_dtype":"float32"},"outputs":[["p_weight","f32",[128,64]]]},)"
               R"({"id":"linear","op":"torch.linear","attrs":{"has_bias":true},"inputs":["input","p_weight","p_bias"],"outputs":[["linear","f32",[32,128]]]}]})");
    BOOST_TEST(made("rms_norm(f32[4,8], eps=1e-5)").find(R"("op":"torch.rms_norm","attrs":{"eps":1e-05},"inputs":["x","p_weight"])") != std::string::npos);
    BOOST_TEST(made("sum(x: f32[4,8])").find(R"({"id":"sum_1","op":"tensor.index_map","attrs":{"out_shape":[4],"sources":[{"input_idx":0,"coord_map":["out_coord_0","0"]}]},"inputs":["sum_1_keepdim"])") != std::string::npos);
    BOOST_TEST(made("mean(x: f32[4,8], keepdim=true)").find(R"("outputs":["mean"])") != std::string::npos);
    BOOST_TEST(made("relu(x: f32[512,4096])").find(R"("attrs":{"op":"relu"})") != std::string::npos);
    BOOST_TEST(made("add(a: f32[4,8], b: f32[8])").find(R"({"id":"b_bc","op":"tensor.index_map","attrs":{"out_shape":[4,8],"sources":[{"input_idx":0,"coord_map":["out_coord_1"]}]},"inputs":["b"])") != std::string::npos);
    BOOST_TEST(made("multiply(a: f32[4,1], b: f32[rows,8])") == "--op: found f32[rows,8] at offset 22, expected a shape that broadcasts to [4,8]");
}

BOOST_AUTO_TEST_CASE(refusals_name_offset_found_expected) {
    BOOST_TEST(made("") == "--op: found the end at offset 0, expected an operator name");
    BOOST_TEST(made("softmx(f32[4])").starts_with("--op: found the operator \"softmx\" at offset 0, expected one of: linear, matmul, mean, rms_norm, softmax, sum, copy, "));
    BOOST_TEST(made("softmax f32[4]") == "--op: found \"f32[4]\" at offset 8, expected \"(\"");
    BOOST_TEST(made("softmax(x: f31[4])") == "--op: found \"f31\" at offset 11, expected an element type (f32, f16, bf16, …)");
    BOOST_TEST(made("softmax(f32[4,0])") == "--op: found \"0])\" at offset 14, expected a size of at least 1");
    BOOST_TEST(made("softmax(f32[4,99999999999999999999])") == "--op: found \"999999999999\" at offset 14, expected a size of at least 1");
    BOOST_TEST(made("softmax(f32[4) ") == "--op: found \") \" at offset 13, expected \",\" or \"]\"");
    BOOST_TEST(made("softmax(f32[4], dim=2)") == "--op: found an axis that is none of the tensor's 1 at offset 16, expected an integer from -1 to 0");
    BOOST_TEST(made("softmax(f32[4], dim=x)") == "--op: found \"x)\" at offset 20, expected a number, true or false");
    BOOST_TEST(made("softmax(f32[4], eps=1)") == "--op: found the setting \"eps\" of softmax at offset 16, expected dim, axis");
    BOOST_TEST(made("softmax(f32[4]) x") == "--op: found \"x\" at offset 16, expected the end");
    BOOST_TEST(made("softmax(f32[4], f32[4])") == "--op: found 2 tensors of softmax, expected 1");
    BOOST_TEST(made("softmax(softmax: f32[4])") == "--op: found a tensor named \"softmax\" like the result at offset 8, expected another name");
    BOOST_TEST(made("matmul(f32[4,8], f32[9,4])") == "--op: found f32[9,4] at offset 17, expected a second-last size that equals the first operand's last, [8]");
    BOOST_TEST(made("matmul(f32[4,8], f16[8,4])") == "--op: found f16[8,4] at offset 17, expected the element type of the first tensor, f32");
    BOOST_TEST(made("matmul(a: f32[4,8], a: f32[8,4])") == "--op: found the name \"a\" twice at offset 20, expected distinct names");
    BOOST_TEST(made("linear(f32[4,8], f32[8,9])") == "--op: found f32[8,9] at offset 17, expected a weight [N,K] with the input's last size, [8]");
    BOOST_TEST(made("linear(x: i32[4,8], i32[2,8])") == "--op: found i32[4,8] at offset 7, expected an element type of f64, f32, f16, bf16");
    BOOST_TEST(made("softmax(x: f32[])") == "--op: found f32[] at offset 8, expected at least one axis");
    BOOST_TEST(made("permute(x: f32[2,3])") == "--op: found no dims of permute, expected it");
    BOOST_TEST(made("permute(x: f32[2,3], dims=[0,0])") == "--op.permute: found axis 0 twice, expected each once");
    BOOST_TEST(made("permute(x: f32[2,3], dims=[0,q])") == "--op: found the symbol \"q\" at offset 21, expected numbers: no tensor has a symbol");
    BOOST_TEST(made("slice(x: f32[2,3], foo=1)") == "--op: found the setting \"foo\" of slice at offset 19, expected dim, start, end, step");
    BOOST_TEST(made("add(x: f32[n,3], y: f32[m,3], alpha=2)") == "--op.y: found the symbols \"n\" and \"m\", expected one at most");
    BOOST_TEST(made("layer_norm(x: f32[2,3], f32[4])") == "--op.layer_norm.inputs: found the weight [4], expected [3]");
    BOOST_TEST(made("to(x: f32[2], dtype=f31)") == "--op: found the dtype \"f31\" at offset 14, expected an element type (f32, f16, bf16, …)");
    BOOST_TEST(made("bmm(f32[2,3], f32[4,5])") == "--op.bmm.inputs: found [2,3] times [4,5], expected [..,M,K] and [..,K,N]");
}
