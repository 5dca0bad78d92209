// Any bytes as a traced program, or as an operator by hand: refused with one line, or read, written, read again, lowered and evaluated.
#include <emmy/loop/single_op.hpp>
#include <emmy/loop/validate.hpp>
#include <emmy/program.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace emmy;

void insist(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}
std::string written(const program::graph& g) {
    std::string out;
    json::writer w(out);
    program::write_program(w, g);
    return out;
}
/// Evaluates programs whose tensors are small, from zeros.
void evaluate_small(const program::graph& g) {
    const std::string symbol = program::symbols(g).empty() ? std::string() : std::string(g.text(program::symbols(g)[0]));
    const program::bound_size sizes[] = {{symbol, 2}};
    std::int64_t all = 0;
    std::vector<std::vector<std::byte>> bytes;
    std::vector<program::named_bytes> given;
    for (program::node_id n = 0; n < g.nodes.size(); ++n) {
        const auto& t = g.outputs_of(g.nodes[n])[0];
        const auto count = program::element_count(g, g.shape_of(t.shape), sizes);
        if (!count || *count > 4096 || (all += *count) > 65536) return;
        bytes.emplace_back(static_cast<std::size_t>(*count) * byte_size(t.type));
    }
    for (program::node_id n = 0; n < g.nodes.size(); ++n)
        if (g.nodes[n].op == program::op::input || (g.nodes[n].op == program::op::constant && g.find(g.nodes[n], program::attr::source_path))) given.push_back({g.id(n), bytes[n]});
    if (!g.nested.empty()) return;  // their sizes were not looked at
    const auto values = program::evaluate(g, given, sizes);
    if (!values) insist(!values.error().line().empty(), "a refusal says something");
    else insist(values->size() == g.outputs.size(), "every output has values");
}
void everything(const program::graph& g) {
    const std::string text = written(g);
    const auto document = json::document::parse(text, "again.json");
    insist(document.has_value(), "what is written is JSON");
    const auto again = program::read_program(document->root());
    insist(again.has_value(), "what is written can be read");
    insist(written(*again) == text, "writing is stable");
    if (const auto k = loop::lower_single_op(g)) {
        insist(loop::validate(k->kernel).has_value(), "a lowered kernel is valid");
        insist(k->ports.size() == k->kernel.inputs.size(), "every input has a port");
    }
    evaluate_small(g);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (!text.starts_with("{")) {
        const auto g = program::parse_op(text);
        if (g) everything(*g);
        else insist(exit_code(g.error().kind()) == 2, "an operator by hand is the user's");
        return 0;
    }
    const auto document = json::document::parse(text, "fuzz.json");
    if (!document) return 0;
    const auto g = program::read_program(document->root());
    if (g) everything(*g);
    else insist(exit_code(g.error().kind()) == 3, "a program file is input");
    return 0;
}
