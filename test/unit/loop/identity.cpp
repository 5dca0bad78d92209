#include "support/loop_text.hpp"
#include "support/small_bodies.hpp"

#include <emmy/loop/identity.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;
using namespace emmy::literals;

namespace {
std::string matmul_json(const std::string& x0, const std::string& node_order_first, int inner) {
    const std::string k = std::to_string(inner);
    const std::string a = R"({"id":")" + x0 + R"(","op":"input","outputs":[[")" + x0 + R"(","f32",[512,)" + k + "]]]}", b = R"({"id":"x1","op":"input","outputs":[["x1","f32",[)" + k + ",512]]]}";
    return R"({"inputs":["x1",")" + x0 + R"("],"outputs":["matmul"],"nodes":[)" + (node_order_first == "x1" ? b + "," + a : a + "," + b) +
           R"(,{"id":"matmul","op":"loop","attrs":{"body":[{"Loop":{"axis":{"name":"a0","extent":512},"body":[{"Loop":{"axis":{"name":"a1","extent":512},"body":[{"Loop":{"axis":{"name":"a2","extent":)" + k +
           R"(},"body":[{"Load":{"names":["in0"],"input":")" + x0 +
           R"(","index":["a0","a2"]}},{"Load":{"names":["in1"],"input":"x1","index":["a2","a1"]}},{"Assign":{"name":"v0","op":"multiply","args":["in0","in1"]}},)"
           R"({"Accum":{"name":"acc0","value":"v0","axes":["a2"]}}]}},{"Write":{"output":"matmul","index":["a0","a1"],"values":["acc0"]}}]}}]}}],"name":"k_)" +
           x0 + R"("},"inputs":["x1",")" + x0 + R"("],"outputs":[["matmul","f32",[512,512]]]}]})";
}
digest128 id_of(const std::string& text) {
    auto k = loop::parse_kernel(text);
    BOOST_REQUIRE_MESSAGE(k, (k ? std::string() : std::string(k.error().message())));
    return loop::identity(*k);
}
digest128 id_of_body(const std::string& body) { return id_of(test::loop_ir(body)); }
std::string sized(const std::string& text, const std::string& from, const std::string& to) {
    std::string out = text;
    for (std::size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size()) out.replace(at, from.size(), to);
    return out;
}
}  // namespace

BOOST_AUTO_TEST_CASE(read_built_and_constant_bodies_agree) {
    constexpr digest128 constant = test::matmul(512, 512, 512).identity();
    BOOST_CHECK_EQUAL(to_hex(constant), "882f82e9dac32af0b2700fb00c7aeebe");  // also in test/static/loop_identity.cpp
    BOOST_CHECK(test::matmul(512, 512, 512).identity() == constant);
    BOOST_CHECK(id_of(matmul_json("x0", "x0", 512)) == constant);
}

BOOST_AUTO_TEST_CASE(labels_and_order_of_declaration_do_not_count) {
    const digest128 plain = id_of(matmul_json("x0", "x0", 512));
    BOOST_CHECK(id_of(matmul_json("other", "x0", 512)) == plain);
    BOOST_CHECK(id_of(matmul_json("x0", "x1", 512)) == plain);
    BOOST_CHECK(id_of(matmul_json("x0", "x0", 256)) != plain);
}

BOOST_AUTO_TEST_CASE(unread_inputs_and_hints_do_not_count) {
    const std::string load = R"({"Load":{"names":["p"],"input":"x","index":["i","j"]}},{"Write":{"output":"y","index":["i","j"],"values":["p"]}})";
    const std::string text = test::loop_ir(test::over("i", 4, test::over("j", 8, load)));
    const digest128 plain = id_of(text);  // c is never read
    BOOST_CHECK(id_of(sized(text, R"("c","f32",[1])", R"("c","f16",[7])")) == plain);
    BOOST_CHECK(id_of(sized(text, R"("x","f32",[4,8])", R"("x","f16",[4,8])")) != plain);
    BOOST_CHECK(id_of(sized(text, R"("y","f32",[4,8])", R"("y","f32",[4,9])")) != plain);
    auto symbolic = [&](const std::string& extent, const std::string& rows) {
        return id_of(sized(sized(text, R"("extent":4)", "\"extent\":" + extent), "[4,8]", "[" + rows + ",8]"));
    };
    const digest128 with_symbol = symbolic(R"({"sym":"n","hint":512})", R"({"sym":"n","hint":512})");
    BOOST_CHECK(with_symbol != plain);
    BOOST_CHECK(symbolic(R"({"sym":"n","hint":64})", R"({"sym":"n"})") == with_symbol);
    BOOST_CHECK(symbolic(R"({"sym":"n","hint":64})", R"({"sym":"m","hint":4})") == with_symbol);  // of shapes: just symbolic
    BOOST_CHECK(symbolic(R"({"sym":"m","hint":512})", R"({"sym":"n","hint":512})") != with_symbol);
}

BOOST_AUTO_TEST_CASE(what_a_body_computes_counts) {
    auto body = [](const std::string& middle) {
        return test::over("i", 4, test::over("j", 8, R"({"Load":{"names":["p"],"input":"x","index":["i","j"]}},{"Load":{"names":["q"],"input":"c","index":["0"]}},)" + middle + R"({"Write":{"output":"y","index":["i","j"],"values":["r"]}})"));
    };
    std::vector<digest128> all;
    for (const char* middle : {R"({"Assign":{"name":"r","op":"add","args":["p","q"]}},)", R"({"Assign":{"name":"r","op":"multiply","args":["p","q"]}},)", R"({"Assign":{"name":"r","op":"add","args":["p","p"]}},)",
             R"({"Assign":{"name":"r","op":"add","args":["p","q"],"dtype":"f16"}},)", R"({"Let":{"name":"r","value":"1.0"}},)", R"({"Let":{"name":"r","value":"1"}},)", R"({"Let":{"name":"r","value":"true"}},)",
             R"({"Let":{"name":"r","value":"i"}},)", R"({"Let":{"name":"r","value":"j"}},)", R"({"Let":{"name":"r","value":"(int)p"}},)", R"({"Let":{"name":"r","value":"i < j"}},)",
             R"({"Select":{"name":"r","branches":[{"value":"p","select":"1"}]}},)", R"({"Select":{"name":"r","branches":[{"value":"p","select":"i < j"},{"value":"q","select":"1"}]}},)"})
        all.push_back(id_of_body(body(middle)));
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) BOOST_CHECK_MESSAGE(all[a] != all[b], a << " and " << b << " have one identity");
}

BOOST_AUTO_TEST_CASE(loops_that_store_nothing_do_not_count) {
    const loop::body empty;
    BOOST_CHECK(loop::identity(empty, {}, {}) == loop::identity(loop::body(), {}, {}));
    const digest128 nothing = id_of_body(test::over("i", 4, ""));
    BOOST_CHECK(id_of_body(test::over("i", 4, test::over("j", 4, ""))) == nothing);
    BOOST_CHECK(id_of_body(test::over("i", 4, "") + "," + test::over("j", 8, "")) == nothing);
    BOOST_CHECK(id_of_body(test::over("i", 4, test::over("j", 8, R"({"Let":{"name":"r","value":"1.0"}},{"Write":{"output":"y","index":["i","j"],"values":["r"]}})"))) != nothing);
}
