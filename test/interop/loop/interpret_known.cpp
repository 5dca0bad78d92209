// Stored bodies whose results are known in closed form.
#include "files.hpp"

#include <emmy/core/numeric.hpp>
#include <emmy/loop/interpret.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <iostream>
#include <optional>

using namespace emmy;
using loop::interpreter;

namespace {

std::optional<loop::kernel> stored(std::string_view file, std::string_view name) {
    for (const auto& f : test::stored_files())
        for (const auto& k : f.kernels)
            if (f.path == file && k.reference == name) {
                auto out = loop::read_kernel(k.loop_ir);
                BOOST_REQUIRE(out.has_value());
                return std::move(*out);
            }
    return std::nullopt;
}
interpreter with(const loop::kernel& k, std::vector<loop::input_data> data) {
    auto it = interpreter::make(k);
    BOOST_REQUIRE(it.has_value());
    BOOST_REQUIRE(it->bind(data).has_value());
    return std::move(*it);
}
/// Data by the inputs' names: their declared order differs from file to file.
std::vector<loop::input_data> by_name(const loop::kernel& k, std::initializer_list<std::pair<std::string_view, loop::input_data>> named) {
    std::vector<loop::input_data> out(k.inputs.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        for (const auto& [name, data] : named)
            if (k.body.text(k.inputs[i].name) == name) out[i] = data;
    return out;
}
double cell(interpreter& it, std::vector<std::int64_t> at) {
    const auto out = it.cell(0, at);
    BOOST_REQUIRE(out.has_value());
    return *out;
}
double sum_f32(interpreter& it) {
    const auto out = it.run();
    BOOST_REQUIRE(out.has_value());
    double sum = 0;
    for (std::size_t i = 0; i < (*out)[0].size() / 4; ++i) sum += load_real(dtype::f32, (*out)[0].data(), i);
    return sum;
}
const char* const card = "records/h100_sm90.json";

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_interpret_known)

BOOST_AUTO_TEST_CASE(matmul_2967be) {
    const auto k = stored(card, "k_matmul_2967be");
    if (!k) return;
    interpreter it = with(*k, by_name(*k, {{"x0", loop::input_data::of_function([](const void*, std::uint64_t e) { return static_cast<double>((e / 512 + e % 512) % 3); })},
                                           {"x1", loop::input_data::of_function([](const void*, std::uint64_t e) { return static_cast<double>((e / 512) * (e % 512) % 5); })}}));
    BOOST_TEST(cell(it, {3, 7}) == 1022);
    BOOST_TEST(cell(it, {511, 511}) == 1022);
    BOOST_TEST(sum_f32(it) == 214119933.0);
}

BOOST_AUTO_TEST_CASE(cumsum) {
    std::cout << "rtx4090_sm89.json k_cumsum_reduce: not applicable, that file is not here; the same scan of Qwen3.8-27B-AWQ-INT4 instead\n";
    const auto k = stored("Qwen3.8-27B-AWQ-INT4/v100_sm70.json", "k_cumsum_reduce");
    if (!k) return;
    // input[0, a, b, c] = ((7a + 3b + c) mod 11) / 8 over [1, 48, 8, 64]
    interpreter it = with(*k, {loop::input_data::of_function([](const void*, std::uint64_t e) { return static_cast<double>((7 * (e / 512) + 3 * (e / 64 % 8) + e % 64) % 11) / 8; })});
    BOOST_TEST(cell(it, {0, 47, 7, 63}) == 39.375);
    BOOST_TEST(sum_f32(it) == 499167.875);
}

BOOST_AUTO_TEST_CASE(softmax_eba8b4) {
    const auto k = stored(card, "k_softmax_eba8b4");
    if (!k) return;
    const auto x = [](const void*, std::uint64_t e) { return static_cast<double>((31 * (e / 2048) + 17 * (e % 2048)) % 97) / 97; };
    interpreter it = with(*k, {loop::input_data::of_function(x)});
    BOOST_TEST(cell(it, {0, 0}) == 2.8575052e-4, boost::test_tools::tolerance(1e-5));
    BOOST_TEST(cell(it, {511, 2047}) == 3.0392455e-4, boost::test_tools::tolerance(1e-5));
    BOOST_TEST(sum_f32(it) == 512.0, boost::test_tools::tolerance(1e-5));
    // The lowered form, one stream with a twist: the same cells.
    const std::string twisted = R"({"inputs":["x"],"outputs":["y"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[512,2048]]]},{"id":"y","op":"loop","attrs":{"body":[
        {"Loop":{"axis":{"name":"a0","extent":512},"body":[
          {"Loop":{"axis":{"name":"a1","extent":2048},"body":[{"Load":{"names":["s"],"input":"x","index":["a0","a1"]}},{"Let":{"name":"one","value":"1.0"}},
            {"Assign":{"name":"g","op":"maximum","args":["m","s"]}},{"Assign":{"name":"d","op":"subtract","args":["m","g"]}},{"Assign":{"name":"al","op":"exp","args":["d"]}},
            {"Assign":{"name":"c","op":"subtract","args":["s","g"]}},{"Assign":{"name":"be","op":"exp","args":["c"]}},{"Assign":{"name":"la","op":"multiply","args":["l","al"]}},
            {"Assign":{"name":"lb","op":"multiply","args":["be","one"]}},{"Accum":{"name":"l","value":"lb","axes":["a1"],"base":"la"}},{"Accum":{"name":"m","value":"s","op":"maximum","axes":["a1"]}}]}},
          {"Loop":{"axis":{"name":"a3","extent":2048},"body":[{"Load":{"names":["t"],"input":"x","index":["a0","a3"]}},{"Assign":{"name":"u","op":"subtract","args":["t","m"]}},
            {"Assign":{"name":"e","op":"exp","args":["u"]}},{"Assign":{"name":"r","op":"divide","args":["e","l"]}},{"Write":{"output":"y","index":["a0","a3"],"values":["r"]}}]}}]}}],"name":"k"},
        "inputs":["x"],"outputs":[["y","f32",[512,2048]]]}]})";
    auto lowered = loop::parse_kernel(twisted);
    BOOST_REQUIRE(lowered.has_value());
    interpreter stream = with(*lowered, {loop::input_data::of_function(x)});
    BOOST_TEST(cell(stream, {0, 0}) == 2.8575052e-4, boost::test_tools::tolerance(1e-5));
    BOOST_TEST(cell(stream, {511, 2047}) == 3.0392455e-4, boost::test_tools::tolerance(1e-5));
    BOOST_TEST(sum_f32(stream) == 512.0, boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(relu_on_one_fused_axis) {
    const auto k = stored(card, "k_relu_pointwise");
    if (!k) return;
    interpreter it = with(*k, {loop::input_data::of_function([](const void*, std::uint64_t e) { return static_cast<double>(e % 7) - 3; })});
    const auto shape = it.output_shape(0);
    for (std::int64_t i : {std::int64_t{0}, std::int64_t{5}, shape[0] - 1})
        for (std::int64_t j : {std::int64_t{0}, std::int64_t{9}, shape[1] - 1}) BOOST_TEST(cell(it, {i, j}) == std::fmax(0, static_cast<double>((i * shape[1] + j) % 7) - 3));
}

BOOST_AUTO_TEST_CASE(causal_attention_a70cd4) {
    const auto k = stored(card, "k_sdpa_a70cd4");
    if (!k) return;
    // The reference: softmax in double over the keys up to the query.
    const auto element = [](const void* salt, std::uint64_t e) { return static_cast<double>((e * 37 + *static_cast<const std::uint64_t*>(salt)) % 101) / 101 - 0.5; };
    static const std::uint64_t salts[3] = {1, 2, 3};
    const std::uint64_t *q = &salts[0], *key = &salts[1], *v = &salts[2];
    const auto constant = [](double (*f)(const void*, std::uint64_t)) { return loop::input_data::of_function(f); };
    const auto data = by_name(*k, {{"scaled_dot_product_attention_mask_fill_c", constant([](const void*, std::uint64_t) { return -1e9; })},
                                   {"scaled_dot_product_attention_mask_zero_c", constant([](const void*, std::uint64_t) { return 0.0; })},
                                   {"scaled_dot_product_attention_scale", constant([](const void*, std::uint64_t) { return 0.125; })},
                                   {"x0", loop::input_data::of_function(element, q)}, {"x1", loop::input_data::of_function(element, key)}, {"x2", loop::input_data::of_function(element, v)}});
    const auto at = [&](const std::uint64_t* s, std::uint64_t h, std::uint64_t i, std::uint64_t d) { return round_to(dtype::f16, element(s, (h * 512 + i) * 64 + d)); };
    interpreter it = with(*k, data);
    for (const std::int64_t i : {0, 3, 511}) {
        double total = 0, out = 0;
        for (std::int64_t j = 0; j <= i; ++j) {
            double score = 0;
            for (std::uint64_t d = 0; d < 64; ++d) score += at(q, 5, static_cast<std::uint64_t>(i), d) * at(key, 5, static_cast<std::uint64_t>(j), d);
            const double e = std::exp(score / 8);
            total += e, out += e * at(v, 5, static_cast<std::uint64_t>(j), 17);
        }
        BOOST_TEST(std::fabs(cell(it, {0, 5, i, 17}) - out / total) < 1e-3 * std::fabs(out / total) + 1e-6);
    }
}

BOOST_AUTO_TEST_SUITE_END()
