// Weights by path: from an archive, from a sharded checkpoint, into the bytes that kernels are run with.
#include <common/weights.hpp>

#include <emmy/core/file.hpp>
#include <emmy/program/import.hpp>

#include <support/tool.hpp>

#include <boost/test/unit_test.hpp>

using namespace emmy;

namespace {

const std::string data = EMMY_TEST_DATA "/";

tools::unit unit_of(const std::string& name) {
    const auto file = program::pt2::pt2_archive::open(data + "pt2/" + name + ".pt2");
    BOOST_REQUIRE_MESSAGE(file, (file ? "" : file.error().line()));
    auto made = program::pt2::import_program(file->program());
    BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().line()));
    auto out = tools::unit_of_program(name, std::move(made->g), {});
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    return std::move(*out);
}
std::string bound(tools::unit& u, const std::string& file) {
    const auto done = tools::bind_weights(u, file);
    return done ? std::string("bound") : done.error().line();
}

}  // namespace

BOOST_AUTO_TEST_CASE(weights_of_a_linear) {
    tools::unit u = unit_of("torch26_linear_f16");
    BOOST_TEST(bound(u, data + "pt2/torch26_linear_f16.pt2") == "bound");
    const auto first = u.given;
    BOOST_REQUIRE_EQUAL(first.size(), 2u);
    BOOST_TEST(bound(u, data + "safetensors/model.safetensors.index.json") == "bound");
    BOOST_TEST((u.given == first));
    BOOST_TEST(bound(u, data + "safetensors") == "bound");
    BOOST_TEST((u.given == first));
    std::size_t filled = 0;
    for (const tools::subject& k : u.kernels)
        for (const auto& bytes : k.given) filled += !bytes.empty();
    BOOST_TEST(filled == 2u);
    const std::string types = data + "safetensors/types.safetensors";
    BOOST_TEST(bound(u, types) == types + ": bias: found no tensor of this path, expected one");
    const std::string other = data + "pt2/linear_bf16_dynamic.pt2";
    BOOST_TEST(bound(u, other) == other + ": bias: found no tensor of this path, expected one");
    BOOST_TEST(bound(u, data + "pt2/llama_post_f16_dynamic.pt2").find("found no tensor of this path") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(weights_of_a_layer) {
    tools::unit u = unit_of("llama_prefill_f16");
    BOOST_TEST(!u.kernels.empty());
    BOOST_TEST(bound(u, data + "pt2/llama_prefill_f16.pt2") == "bound");
    BOOST_TEST(u.given.size() == 9u);
    std::size_t filled = 0;
    for (const tools::subject& k : u.kernels)
        for (const auto& bytes : k.given) filled += !bytes.empty();
    BOOST_TEST(filled >= 9u);
}

BOOST_AUTO_TEST_CASE(no_program_no_weights) {
    tools::unit u;
    u.name = "nothing";
    BOOST_TEST(bound(u, "x.pt2") == "--weights: found no program behind nothing, expected one whose tensors have paths");
}
