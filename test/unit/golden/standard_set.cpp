#include <emmy/golden/document.hpp>
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/wire.hpp>
#include <emmy/program/op_text.hpp>
#include <emmy/program/wire.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace emmy;

namespace {

struct entry {
    std::string name, op;
};

/// The standard single-operator set: the names that card records use.
std::vector<entry> standard_set() {
    std::vector<entry> out;
    const auto square = [&](const std::string& name, const std::string& type, const std::string& rows, const std::string& size) {
        out.push_back({"matmul.square." + name, "matmul(x0: " + type + "[" + rows + "," + size + "], x1: " + type + "[" + size + "," + size + "])"});
    };
    square("512", "f32", "512", "512");
    square("512.fp16", "f16", "512", "512");
    square("512.bf16", "bf16", "512", "512");
    square("1024", "f16", "1024", "1024");
    square("1024.fp32", "f32", "1024", "1024");
    square("1024.bf16", "bf16", "1024", "1024");
    square("2048", "f16", "2048", "2048");
    square("2048.fp32", "f32", "2048", "2048");
    square("2048.bf16", "bf16", "2048", "2048");
    square("512.dynM", "f16", "seq_len=512", "512");
    square("512.dynM.fp32", "f32", "seq_len=512", "512");
    const std::pair<std::string, std::string> rows[] = {{".m32", "32"}, {"", "512"}, {".dynM", "seq_len=512"}};
    for (const auto& [suffix, m] : rows) {
        const auto linear = [&](const std::string& name, const std::string& n, const std::string& k, bool bias) {
            out.push_back({"linear." + name + ".h4096" + suffix, "linear(input: f32[" + m + "," + k + "], weight: f32[" + n + "," + k + "]" + (bias ? ", bias: f32[" + n + "])" : ")")});
        };
        linear("o_proj", "4096", "4096", false);
        linear("qkv", "12288", "4096", true);
        linear("gate_up", "28672", "4096", false);
        linear("down", "4096", "14336", false);
    }
    for (std::size_t dynamic = 1; dynamic < 3; ++dynamic) {
        const auto& [suffix, m] = rows[dynamic];
        for (const std::string k : {"2048", "8192"}) {
            out.push_back({"softmax.k" + k + suffix, "softmax(x: f32[" + m + "," + k + "])"});
            out.push_back({"reduce.k" + k + suffix, "sum(x: f32[" + m + "," + k + "])"});
        }
        for (const std::string k : {"2048", "4096", "8192"}) out.push_back({"rms_norm.k" + k + suffix, "rms_norm(x: f32[" + m + "," + k + "])"});
        for (const std::string n : {"4096", "16384"}) out.push_back({"pointwise.n" + n + suffix, "relu(x: f32[" + m + "," + n + "])"});
    }
    return out;
}

std::string generated() {
    golden::document file = golden::document::create("", 0, 0);
    BOOST_REQUIRE(file.set_note("The standard single-operator set of no card: programs, kernels and empty proposals. Measurements belong to card records.").has_value());
    for (const entry& e : standard_set()) {
        const auto graph = program::parse_op(e.op);
        BOOST_REQUIRE_MESSAGE(graph.has_value(), (graph ? "" : graph.error().line()));
        const auto lowered = loop::lower_single_op(*graph);
        BOOST_REQUIRE_MESSAGE(lowered.has_value(), (lowered ? "" : lowered.error().line()));
        std::string text;
        json::writer program_out(text);
        program::write_program(program_out, *graph);
        const auto traced = file.add_program(text);
        BOOST_REQUIRE_MESSAGE(traced.has_value(), (traced ? "" : traced.error().line()));
        text.clear();
        json::writer out(text);
        out.begin_object().key("loop_ir");
        loop::write_kernel(out, lowered->kernel);
        out.key("name").string(lowered->kernel.name).key("formed").boolean(true).key("traced").integer(*traced).key("origins").begin_array();
        for (const std::string& o : lowered->origins) out.string(o);
        out.end_array().end_object();
        const auto kernel = file.add_kernel(text);
        BOOST_REQUIRE_MESSAGE(kernel.has_value(), (kernel ? "" : kernel.error().line()));
        text.clear();
        json::writer row(text);
        row.begin_object().key("name").string(e.name).key("kernel").string(file.kernels()[*kernel].ref());
        if (!program::symbols(*graph).empty()) row.key("bindings").begin_object().key("seq_len").integer(512).end_object();
        row.key("pins").begin_object().key("FAST_MATH").boolean(false).end_object().key("knobs").begin_object().end_object().end_object();
        const auto added = file.add_row(text);
        BOOST_REQUIRE_MESSAGE(added.has_value(), (added ? "" : added.error().line()));
    }
    return file.text();
}

}  // namespace

// goldens/standard.json is what this code makes; EMMY_APPROVE=1 rewrites it.
BOOST_AUTO_TEST_CASE(standard_set_is_generated) {
    const std::string path = EMMY_SOURCE_DIR "/goldens/standard.json", made = generated();
    if (std::getenv("EMMY_APPROVE")) std::ofstream(path, std::ios::binary) << made;
    std::ifstream in(path, std::ios::binary);
    std::ostringstream stored;
    stored << in.rdbuf();
    BOOST_CHECK_MESSAGE(stored.str() == made, path << " differs from what is generated (EMMY_APPROVE=1 rewrites it)");
    const auto file = golden::document::parse(stored.str(), path, golden::rules::repository);
    BOOST_REQUIRE_MESSAGE(file.has_value(), (file ? "" : file.error().line()));
    BOOST_TEST(file->text() == stored.str());
    BOOST_TEST(file->rows().size() == standard_set().size());
    BOOST_TEST(file->kernels().size() == file->programs().size());
    for (const golden::row& r : file->rows()) BOOST_TEST(static_cast<int>(r.state()) == static_cast<int>(golden::row_state::proposal));
}
