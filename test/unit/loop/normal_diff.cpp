// Normal forms as text, and where two of them part.
#include "support/loop_text.hpp"

#include <emmy/loop/normal/diff.hpp>
#include <emmy/loop/wire.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {
loop::kernel read(const std::string& body) {
    auto k = loop::parse_kernel(test::loop_ir(body));
    BOOST_REQUIRE_MESSAGE(k, (k ? std::string() : std::string(k.error().message())));
    return *k;
}
std::string body(const std::string& middle, const std::string& store = R"({"Write":{"output":"y","index":["i","j"],"values":["r"]}})") {
    return test::over("i", 4, test::over("j", 8, R"({"Load":{"names":["p"],"input":"x","index":["i","j"]}},{"Load":{"names":["q"],"input":"c","index":["0"]}},)" + middle + store));
}
const char* const add = R"({"Assign":{"name":"s","op":"add","args":["p","q"]}},{"Assign":{"name":"r","op":"exp","args":["s"]}},)";
}  // namespace

BOOST_AUTO_TEST_CASE(functions_of_the_stores) {
    const std::string text = loop::print_normal(read(body(add)));
    BOOST_TEST(text.find("  y[i0<4, i1<8] = exp(add(") != std::string::npos);
    BOOST_TEST(text.find("x[i0, i1]") != std::string::npos);
    BOOST_TEST(text.find("c[0]") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_first_node_that_differs) {
    const loop::kernel a = read(body(add));
    BOOST_TEST(!loop::first_difference(a, a));
    const auto at = [&](const std::string& middle) {
        const auto d = loop::first_difference(a, read(body(middle)));
        return d ? d->what + " at " + d->path + ": " + d->first + " | " + d->second : std::string("same");
    };
    // Order of operands is none.
    BOOST_TEST(at(R"({"Assign":{"name":"s","op":"add","args":["q","p"]}},{"Assign":{"name":"r","op":"exp","args":["s"]}},)") == "same");
    BOOST_TEST(at(R"({"Assign":{"name":"s","op":"add","args":["p","q"]}},{"Assign":{"name":"r","op":"tanh","args":["s"]}},)").starts_with("operator at y: exp("));
    BOOST_TEST(at(R"({"Assign":{"name":"s","op":"subtract","args":["p","q"]}},{"Assign":{"name":"r","op":"exp","args":["s"]}},)").starts_with("operator at y / exp.1: add("));
    BOOST_TEST(at(R"({"Assign":{"name":"s","op":"add","args":["p","q"],"dtype":"f16"}},{"Assign":{"name":"r","op":"exp","args":["s"]}},)").starts_with("dtype at y / exp.1: add("));
    BOOST_TEST(at(R"({"Assign":{"name":"s","op":"add","args":["p","p"]}},{"Assign":{"name":"r","op":"exp","args":["s"]}},)").starts_with("buffer at y / exp.1 / add."));
    const auto moved = loop::first_difference(a, read(test::over("i", 4, test::over("j", 8, R"({"Load":{"names":["p"],"input":"x","index":["i","7 - j"]}},{"Load":{"names":["q"],"input":"c","index":["0"]}},)" + std::string(add) + R"({"Write":{"output":"y","index":["i","j"],"values":["r"]}})"))));
    BOOST_REQUIRE(moved);
    BOOST_TEST(moved->what == "index");
    BOOST_TEST(moved->first == "i1  in  x[i0, i1]");
    BOOST_TEST(moved->second == "-1 * i1 + 7  in  x[i0, -1 * i1 + 7]");
}
