#include <emmy/program/evaluate.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

using namespace emmy;
using program::evaluate;

namespace {

struct held {
    std::string id;
    std::vector<std::byte> bytes;
};
std::vector<std::byte> bytes(dtype t, std::vector<double> values) { return program::to_bytes(t, values); }
std::vector<program::named_bytes> views(const std::vector<held>& all) {
    std::vector<program::named_bytes> out;
    for (const held& h : all) out.push_back({h.id, h.bytes});
    return out;
}
std::vector<double> ramp(std::size_t count, double step) {
    std::vector<double> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = std::fmod(static_cast<double>(i * 7 % 23) * step, 3) - 1;
    return out;
}
std::vector<double> run(std::string_view op, const std::vector<held>& given, std::span<const program::bound_size> sizes = {}) {
    const auto g = program::parse_op(op);
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    const auto out = evaluate(*g, views(given), sizes);
    BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().line()));
    return (*out)[0].values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(products_equal_the_definition) {
    for (const auto& [m, n, k] : {std::tuple{5, 7, 3}, {4, 8, 256}, {9, 17, 300}, {1, 40, 513}}) {
        const auto a = ramp(static_cast<std::size_t>(m * k), 0.37), b = ramp(static_cast<std::size_t>(k * n), 0.71);
        std::vector<double> bt(b.size());
        for (int p = 0; p < k; ++p)
            for (int j = 0; j < n; ++j) bt[static_cast<std::size_t>(j * k + p)] = b[static_cast<std::size_t>(p * n + j)];
        const std::string ms = std::to_string(m), ns = std::to_string(n), ks = std::to_string(k);
        const auto x = run("matmul(f64[" + ms + "," + ks + "],f64[" + ks + "," + ns + "])", {{"x0", bytes(dtype::f64, a)}, {"x1", bytes(dtype::f64, b)}});
        const auto y = run("linear(f64[" + ms + "," + ks + "],f64[" + ns + "," + ks + "])", {{"input", bytes(dtype::f64, a)}, {"p_weight", bytes(dtype::f64, bt)}});
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                double sum = 0;
                for (int p = 0; p < k; ++p) sum += a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
                BOOST_TEST(std::abs(x[static_cast<std::size_t>(i * n + j)] - sum) < 1e-11);
                BOOST_TEST(std::abs(y[static_cast<std::size_t>(i * n + j)] - sum) < 1e-11);
            }
    }
}

BOOST_AUTO_TEST_CASE(cells_equal_the_whole) {
    const auto g = program::parse_op("linear(f16[6,20], f16[9,20], f16[9])");
    BOOST_REQUIRE(g);
    const std::vector<held> given{{"input", bytes(dtype::f16, ramp(120, 0.3))}, {"p_weight", bytes(dtype::f16, ramp(180, 0.9))}, {"p_bias", bytes(dtype::f16, ramp(9, 0.5))}};
    const auto whole = evaluate(*g, views(given));
    BOOST_REQUIRE(whole);
    const std::int64_t cells[] = {0, 8, 9, 31, 53};
    const auto some = program::evaluate_cells(*g, views(given), {}, cells);
    BOOST_REQUIRE(some);
    for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(std::abs((*some)[i] - (*whole)[0].values[static_cast<std::size_t>(cells[i])]) < 1e-12);
    const std::int64_t outside[] = {54};
    BOOST_TEST(!program::evaluate_cells(*g, views(given), {}, outside).has_value());
    const auto stacked = program::parse_op("matmul(f32[2,3,4,5], f32[3,5,2])");
    BOOST_REQUIRE(stacked);
    const std::vector<held> two{{"x0", bytes(dtype::f32, ramp(120, 0.3))}, {"x1", bytes(dtype::f32, ramp(30, 0.9))}};
    const auto all = evaluate(*stacked, views(two));
    BOOST_REQUIRE(all);
    for (std::int64_t c = 0; c < 48; ++c) BOOST_TEST(std::abs((*program::evaluate_cells(*stacked, views(two), {}, std::span(&c, 1)))[0] - (*all)[0].values[static_cast<std::size_t>(c)]) < 1e-12);
}

BOOST_AUTO_TEST_CASE(softmax_and_norms) {
    // The worked value: x[i,j] = ((31 i + 17 j) mod 97) / 97 on 512 x 2048.
    std::vector<double> x(512 * 2048);
    for (int i = 0; i < 512; ++i)
        for (int j = 0; j < 2048; ++j) x[static_cast<std::size_t>(i * 2048 + j)] = (31 * i + 17 * j) % 97 / 97.0;
    const auto y = run("softmax(x: f32[512,2048])", {{"x", bytes(dtype::f32, x)}});
    BOOST_TEST(y.front() == 2.8575052e-4, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(y.back() == 3.0392455e-4, boost::test_tools::tolerance(1e-6));
    double total = 0;
    for (double v : y) total += v;
    BOOST_TEST(total == 512.0, boost::test_tools::tolerance(1e-12));
    const auto rows = run("softmax(x: f64[2,3], dim=0)", {{"x", bytes(dtype::f64, {0, 1, 2, 0, 1, 2})}});
    for (double v : rows) BOOST_TEST(v == 0.5);
    const auto r = run("rms_norm(x: f64[1,2], weight: f64[2], eps=0)", {{"x", bytes(dtype::f64, {3, 4})}, {"p_weight", bytes(dtype::f64, {1, 2})}});
    BOOST_TEST(r[0] == 3 / std::sqrt(12.5), boost::test_tools::tolerance(1e-14));
    BOOST_TEST(r[1] == 8 / std::sqrt(12.5), boost::test_tools::tolerance(1e-14));
    BOOST_TEST(run("sum(x: f32[2,3], dim=0)", {{"x", bytes(dtype::f32, {1, 2, 3, 4, 5, 6})}}) == (std::vector<double>{5, 7, 9}), boost::test_tools::per_element());
    BOOST_TEST(run("mean(x: f32[2,3])", {{"x", bytes(dtype::f32, {1, 2, 3, 4, 5, 6})}}) == (std::vector<double>{2, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(symbols_are_bound) {
    const program::bound_size sizes[] = {{"rows", 2}};
    BOOST_TEST(run("add(a: f32[rows,3], b: f32[3])", {{"a", bytes(dtype::f32, {1, 2, 3, 4, 5, 6})}, {"b", bytes(dtype::f32, {10, 20, 30})}}, sizes) == (std::vector<double>{11, 22, 33, 14, 25, 36}), boost::test_tools::per_element());
    const auto g = program::parse_op("relu(x: f32[rows,3])");
    const std::vector<held> given{{"x", bytes(dtype::f32, ramp(6, 1))}};
    const auto wrong = evaluate(*g, views(given));  // the hint, 512, is another size
    BOOST_REQUIRE(!wrong);
    BOOST_TEST(wrong.error().line() == "x: found 24 bytes, expected 6144 (f32[512,3])");
    const program::bound_size none[] = {{"rows", 0}};
    BOOST_TEST(!evaluate(*g, views(given), none).has_value());
}

BOOST_AUTO_TEST_CASE(layout_and_rounding) {
    const auto document = json::document::parse(R"({"inputs":["x"],"outputs":["y","s","c","g"],"nodes":[
        {"id":"axis","op":"constant","attrs":{"name":"axis","value":-1.0},"outputs":[["axis","f32",[1]]]},
        {"id":"idx","op":"constant","attrs":{"name":"idx","value":-1},"outputs":[["idx","i64",[1]]]},
        {"id":"x","op":"input","outputs":[["x","f32",[2,3]]]},
        {"id":"g","op":"tensor.gather","inputs":["x","idx"],"outputs":[["g","f32",[1,3]]]},
        {"id":"half","op":"tensor.elementwise","inputs":["x"],"outputs":[["half","f16",[2,3]]]},
        {"id":"s","op":"torch.slice","attrs":{"shape":[2,1],"dim":1,"start":-1},"inputs":["x"],"outputs":[["s","f32",[2,1]]]},
        {"id":"c","op":"torch.cat","inputs":["x","s","axis"],"outputs":[["c","f32",[2,4]]]},
        {"id":"t","op":"torch.transpose","attrs":{"axes":[0,1]},"inputs":["half"],"outputs":[["t","f16",[3,2]]]},
        {"id":"y","op":"torch.reshape","attrs":{"shape":[6]},"inputs":["t"],"outputs":[["y","f16",[6]]]}]})");
    BOOST_REQUIRE_MESSAGE(document.has_value(), (document ? "" : document.error().line()));
    const auto g = program::read_program(document->root());
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    const std::vector<held> given{{"x", bytes(dtype::f32, {1, 2, 3.0001, 4, 5, 6})}};
    const auto out = evaluate(*g, views(given));
    BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().line()));
    BOOST_TEST((*out)[0].values == (std::vector<double>{1, 4, 2, 5, 3, 6}), boost::test_tools::per_element());  // 3.0001 is 3 in f16
    const double third = static_cast<double>(3.0001f);
    BOOST_TEST((*out)[1].values == (std::vector<double>{third, 6}), boost::test_tools::per_element());
    BOOST_TEST((*out)[2].values == (std::vector<double>{1, 2, third, third, 4, 5, 6, 6}), boost::test_tools::per_element());
    BOOST_TEST((*out)[3].values == (std::vector<double>{4, 5, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bits_are_reinterpreted_and_missing_bytes_named) {
    const auto document = json::document::parse(R"({"inputs":["x"],"outputs":["y"],"nodes":[{"id":"x","op":"input","outputs":[["x","i16",[4]]]},
        {"id":"y","op":"tensor.bitcast","inputs":["x"],"outputs":[["y","u16",[4]]]}]})");
    const auto g = program::read_program(document->root());
    BOOST_REQUIRE(g);
    const std::vector<held> given{{"x", bytes(dtype::i16, {1, 2, 3, 4})}};
    const auto bits = evaluate(*g, views(given));
    BOOST_REQUIRE_MESSAGE(bits.has_value(), (bits ? "" : bits.error().line()));
    BOOST_TEST((*bits)[0].integers == (std::vector<std::int64_t>{1, 2, 3, 4}), boost::test_tools::per_element());
    BOOST_TEST(evaluate(*g, {}).error().line() == "x: found 0 bytes, expected 8 (i16[4])");
}

BOOST_AUTO_TEST_CASE(computed_constants) {
    // Two bytes of a pair table: the peer's fp4 tables are built so.
    const auto document = json::document::parse(R"({"inputs":[],"outputs":["t"],"nodes":[{"id":"t","op":"constant","attrs":{"name":"t","source_shape":[8],"source_dtype":"f32",
        "source_graph":{"inputs":[],"outputs":["table"],"nodes":[{"id":"ramp","op":"tensor.range","attrs":{"start":8,"stop":16,"dtype":"i32"},"outputs":[["ramp","i32",[8]]]},
        {"id":"table","op":"tensor.elementwise","attrs":{"op":"from_f4e2m1"},"inputs":["ramp"],"outputs":[["table","f32",[8]]]}]}},"outputs":[["t","f32",[8]]]}]})");
    BOOST_REQUIRE(document);
    const auto g = program::read_program(document->root());
    BOOST_REQUIRE_MESSAGE(g.has_value(), (g ? "" : g.error().line()));
    const auto out = evaluate(*g, {});
    BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().line()));
    BOOST_TEST((*out)[0].values == (std::vector<double>{-0.0, -0.5, -1, -1.5, -2, -3, -4, -6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(graphs_without_form_are_refused) {
    const program::builder::size shape[] = {{.number = 4}};
    const std::vector<held> given = {{"x", bytes(dtype::f32, {1, 2, 3, 4})}};
    const std::int64_t cells[] = {0};
    const auto refused = [&](const program::graph& g) {
        const auto whole = evaluate(g, views(given));
        const auto some = program::evaluate_cells(g, views(given), {}, cells);
        BOOST_REQUIRE(!whole);
        BOOST_REQUIRE(!some);
        BOOST_TEST(whole.error().line() == some.error().line());
        return whole.error().line();
    };
    const auto built = [&](std::string_view id, program::edge from, std::span<const program::builder::setting> settings, bool with_output = true) {
        program::builder build;
        const program::edge x = build.input("x", dtype::f32, shape);
        const program::edge arg = from.node == program::no_node ? x : from;
        const program::edge y = build.add(id, program::op::elementwise, std::span(&arg, 1), dtype::f32, shape, settings);
        if (with_output) build.output(y);
        return std::move(build).finish();
    };
    const program::builder::setting relu[] = {{.key = program::attr::op, .text = "relu"}};
    const program::builder::setting foreign[] = {{.key = program::attr::op, .text = "relu"}, {.key = program::attr::eps, .number = {program::literal::form::real, 0, 1.0}}};
    BOOST_TEST(evaluate(built("y", {}, relu), views(given)).has_value());
    BOOST_TEST(refused(built("y", {}, relu, false)) == "found a program without outputs, expected at least one");
    BOOST_TEST(refused({}) == "found a program without outputs, expected at least one");
    BOOST_TEST(refused(built("y", {7, 0}, relu)) == "y: found an edge to no node before this one, expected an output of an earlier node");
    BOOST_TEST(refused(built("y", {0, 3}, relu)) == "y: found an edge to no node before this one, expected an output of an earlier node");
    BOOST_TEST(refused(built("x", {}, relu)) == "x: found the id twice, expected distinct ids");
    BOOST_TEST(refused(built("y", {}, foreign)) == "y: found an attribute that tensor.elementwise does not have, expected its own only");
    program::graph g = built("y", {}, relu);
    g.outputs[0].node = 9;
    BOOST_TEST(refused(g) == "outputs: found an output that no node makes, expected one of the nodes");
}
