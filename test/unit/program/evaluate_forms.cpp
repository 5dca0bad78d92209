#include <emmy/program/compose.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/specialise.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

// Forms that no framework's operator reaches: bool masks on the tag, load steps of computed constants, scatters, sizes in expressions; codes.

using namespace emmy;

namespace {

using per_element = boost::test_tools::per_element;
program::graph read(std::string_view text) {
    const auto document = json::document::parse(text);
    BOOST_REQUIRE_MESSAGE(document.has_value(), (document ? "" : document.error().line()));
    auto g = program::read_program(document->root());
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    return std::move(*g);
}
struct held {
    std::string id;
    std::vector<std::byte> bytes;
};
std::vector<program::evaluated> run(const program::graph& g, const std::vector<held>& given, std::span<const program::bound_size> sizes = {}, const program::evaluate_options& options = {}) {
    std::vector<program::named_bytes> views;
    for (const held& h : given) views.push_back({h.id, h.bytes});
    auto out = program::evaluate(g, views, sizes, options);
    BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().line()));
    return std::move(*out);
}
std::vector<std::byte> bytes(dtype t, const std::vector<double>& values) { return program::to_bytes(t, values); }

}  // namespace

BOOST_AUTO_TEST_CASE(codes_of_small_types) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const auto codes = [](std::string_view op, dtype t, const std::vector<double>& x) {
        const auto g = program::parse_op(op);
        BOOST_REQUIRE(g);
        const auto out = program::to_bytes(run(*g, {{"x", bytes(t, x)}})[0]);
        std::vector<int> values;
        for (std::byte b : out) values.push_back(static_cast<int>(b));
        return values;
    };
    BOOST_TEST(codes("to_f8e4m3(x: f32[4])", dtype::f32, {449, inf, nan, -1e9}) == (std::vector<int>{126, 126, 127, 254}), per_element());
    BOOST_TEST(codes("to_f8e5m2(x: f32[4])", dtype::f32, {57345, inf, nan, -1e9}) == (std::vector<int>{123, 123, 127, 251}), per_element());
    const auto nibbles = codes("to_f4e2m1(x: f32[5])", dtype::f32, {2.5, 5, 7, -0.25, 0.75});
    std::vector<int> low;
    for (std::size_t i = 0; i < nibbles.size(); i += 4) low.push_back(nibbles[i]);  // held as i32
    BOOST_TEST(low == (std::vector<int>{4, 6, 7, 8, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(half_products_round_once) {
    constexpr std::int64_t n = 128;
    std::vector<double> a(n * n), b(n * n);
    std::uint64_t state = 7;
    for (auto* m : {&a, &b})
        for (double& v : *m) state = state * 6364136223846793005u + 1442695040888963407u, v = round_to(dtype::f16, static_cast<double>(state >> 11) / 4503599627370496.0 - 1);
    const auto g = program::parse_op("matmul(a: f16[128,128], b: f16[128,128])");
    const auto out = run(*g, {{"a", bytes(dtype::f16, a)}, {"b", bytes(dtype::f16, b)}}, {}, {.mode = program::arithmetic::typed});
    for (std::int64_t i = 0; i < n; i += 3)
        for (std::int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < n; ++k) sum += static_cast<float>(a[static_cast<std::size_t>(i * n + k)]) * static_cast<float>(b[static_cast<std::size_t>(k * n + j)]);
            const double ours = out[0].values[static_cast<std::size_t>(i * n + j)];
            const double step = std::ldexp(1.0, std::max(std::ilogb(ours == 0 ? 1e-5 : ours), -14) - 10);
            BOOST_REQUIRE(std::fabs(ours - round_to(dtype::f16, static_cast<double>(sum))) <= step);
        }
}

BOOST_AUTO_TEST_CASE(a_bool_mask_on_the_tag) {
    const auto g = read(R"({"inputs":["q","k","v","m"],"outputs":["y"],"nodes":[{"id":"k","op":"input","outputs":[["k","f32",[1,2,1]]]},{"id":"m","op":"input","outputs":[["m","bool",[3,2]]]},
        {"id":"q","op":"input","outputs":[["q","f32",[1,3,1]]]},{"id":"v","op":"input","outputs":[["v","f32",[1,2,1]]]},
        {"id":"y","op":"torch.sdpa","attrs":{"scale":1.0},"inputs":["q","k","v","m"],"outputs":[["y","f32",[1,3,1]]]}]})");
    const auto out = run(g, {{"q", bytes(dtype::f32, {1, 2, 3})}, {"k", bytes(dtype::f32, {5, -5})}, {"v", bytes(dtype::f32, {10, 20})}, {"m", bytes(dtype::boolean, {0, 1, 1, 0, 0, 0})}});
    BOOST_TEST(out[0].values == (std::vector<double>{20, 10, 0}), per_element());
}

BOOST_AUTO_TEST_CASE(load_steps_of_computed_constants) {
    const auto g = read(R"({"inputs":[],"outputs":["t"],"nodes":[{"id":"t","op":"constant","attrs":{"name":"t","load_ops":[{"torch.reshape":{"shape":[2,-1]}},{"torch.transpose":{"axes":[0,1]}},{"tensor.elementwise":{"op":"reciprocal"}}],
        "source_shape":[6],"source_dtype":"f32","source_graph":{"inputs":[],"outputs":["r"],"nodes":[{"id":"ramp","op":"tensor.range","attrs":{"start":1,"stop":7,"dtype":"i32"},"outputs":[["ramp","i32",[6]]]},
        {"id":"r","op":"tensor.elementwise","inputs":["ramp"],"outputs":[["r","f32",[6]]]}]}},"outputs":[["t","f32",[3,2]]]}]})");
    const auto out = run(g, {});
    BOOST_TEST(out[0].values == (std::vector<double>{1, 0.25, 0.5, static_cast<double>(1 / 5.0f), static_cast<double>(1 / 3.0f), static_cast<double>(1 / 6.0f)}), per_element());
}

BOOST_AUTO_TEST_CASE(scatters) {
    const auto put = [](std::string_view attrs) {
        return read(R"({"inputs":["x","i","v"],"outputs":["y"],"nodes":[{"id":"i","op":"input","outputs":[["i","i64",[3,1]]]},{"id":"v","op":"input","outputs":[["v","f32",[3,1]]]},{"id":"x","op":"input","outputs":[["x","f32",[2,1]]]},
        {"id":"y","op":"tensor.scatter")" + std::string(attrs) + R"(,"inputs":["x","i","v"],"outputs":[["y","f32",[2,1]]]}]})");
    };
    const std::vector<held> given{{"x", bytes(dtype::f32, {1, 2})}, {"i", bytes(dtype::i64, {1, 0, -1})}, {"v", bytes(dtype::f32, {10, 20, 40})}};
    BOOST_TEST(run(put(""), given)[0].values == (std::vector<double>{20, 40}), per_element());
    BOOST_TEST(run(put(R"(,"attrs":{"reduce_fn":"sum"})"), given)[0].values == (std::vector<double>{21, 52}), per_element());
}

BOOST_AUTO_TEST_CASE(sizes_in_expressions) {
    const auto g = read(R"({"inputs":["x"],"outputs":["last","n","wider"],"nodes":[{"id":"n","op":"constant","attrs":{"name":"n","context_value":"rows * 2"},"outputs":[["n","f32",[1]]]},
        {"id":"x","op":"input","outputs":[["x","i32",[{"sym":"rows","hint":4}]]]},
        {"id":"last","op":"tensor.index_map","attrs":{"out_shape":[1],"sources":[{"input_idx":0,"coord_map":["rows - 1 - out_coord_0"]}]},"inputs":["x"],"outputs":[["last","i32",[1]]]},
        {"id":"wider","op":"tensor.index_map","attrs":{"out_shape":[{"expr":"rows * 2","hint":8}],"sources":[{"input_idx":0,"coord_map":["out_coord_0 / 2"]}]},"inputs":["x"],"outputs":[["wider","i32",[{"expr":"rows * 2","hint":8}]]]}]})");
    const program::bound_size three{"rows", 3};
    const auto out = run(g, {{"x", bytes(dtype::i32, {7, 8, 9})}}, std::span(&three, 1));
    BOOST_TEST(out[0].integers == (std::vector<std::int64_t>{9}), per_element());
    BOOST_TEST(out[1].values == (std::vector<double>{6}), per_element());
    BOOST_TEST(out[2].integers == (std::vector<std::int64_t>{7, 7, 8, 8, 9, 9}), per_element());
    const auto fixed = program::specialise(g, std::span(&three, 1));
    BOOST_REQUIRE(fixed);
    std::string text;
    json::writer w(text);
    program::write_program(w, *fixed);
    BOOST_TEST(text.find("rows") == std::string::npos, text);
    BOOST_TEST(text.find(R"("coord_map":["2 - out_coord_0"])") != std::string::npos, text);
    BOOST_TEST(text.find(R"("value":6.0)") != std::string::npos, text);
    const auto again = run(*fixed, {{"x", bytes(dtype::i32, {7, 8, 9})}});
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(again[i].values == out[i].values, per_element());
}

BOOST_AUTO_TEST_CASE(tensors_from_nothing) {
    program::composer c;
    c.output(c.eye("e", 2, 3, dtype::f16));
    c.output(c.full("f", 2.5, dtype::f32, {program::extent(2)}));
    c.output(c.range("r", 5, 0, -2, dtype::i32));
    const auto g = std::move(c).finish();
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    const auto out = run(*g, {});
    BOOST_TEST(out[0].values == (std::vector<double>{1, 0, 0, 0, 1, 0}), per_element());
    BOOST_TEST(out[1].values == (std::vector<double>{2.5, 2.5}), per_element());
    BOOST_TEST(out[2].integers == (std::vector<std::int64_t>{5, 3, 1}), per_element());
}

BOOST_AUTO_TEST_CASE(what_compositions_refuse) {
    const auto refused = [](auto f) {
        program::composer c;
        const program::builder::size shape[] = {{.number = 4, .symbol = {}}, {.number = 6, .symbol = {}}};
        c.output(f(c, c.input("x", dtype::f32, shape)));
        const auto g = std::move(c).finish();
        return g ? std::string("accepted") : g.error().line();
    };
    using program::composer;
    using program::edge;
    BOOST_TEST(refused([](composer& c, edge x) { return c.permute("p", x, {0}); }) == "p: found 1 axes, expected all 2");
    BOOST_TEST(refused([](composer& c, edge x) { return c.squeeze("s", x, {1}); }) == "s: found axis 1 of size 6, expected 1");
    BOOST_TEST(refused([](composer& c, edge x) { return c.slice("s", x, 0, 3, 3); }) == "s: found an empty slice, expected at least one element");
    BOOST_TEST(refused([](composer& c, edge x) { return c.slice("s", x, 0, 0, 3, 0); }) == "s: found step 0, expected at least 1");
    BOOST_TEST(refused([](composer& c, edge x) { return c.select("s", x, 1, 6); }) == "s: found index 6 of 6, expected one inside");
    BOOST_TEST(refused([](composer& c, edge x) { return c.glu("g", c.slice("s", x, 1, 0, 5), 1); }) == "g: found an axis of 5, expected an even number");
    BOOST_TEST(refused([](composer& c, edge x) { return c.add("a", x, c.slice("s", x, 1, 0, 5)); }) == "a: found the shapes [4,6] and [4,5], expected ones that broadcast");
    BOOST_TEST(refused([](composer& c, edge x) { return c.group_norm("g", x, 4, {}, {}, 1e-5); }) == "g: found 4 groups, expected a divisor of the channels [N,C,..]");
    BOOST_TEST(refused([](composer& c, edge x) { return c.where("w", x, x, x); }) == "w.inputs: found f32 as operand 0 of where, expected bool");
    BOOST_TEST(refused([](composer& c, edge x) { return c.linear("l", x, c.transpose("t", x, 0, 1)); }) == "l.inputs: found [4,6] times the weight [6,4], expected [..,K] and [N,K]");
    BOOST_TEST(refused([](composer& c, edge x) { return c.activation("n", "swoosh", x); }) == "n: found the activation swoosh, expected a known one");
}
