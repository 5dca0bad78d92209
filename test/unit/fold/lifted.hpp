#pragma once
// Loop bodies written by hand, lifted to closed terms.
#include <boost/test/unit_test.hpp>

#include <emmy/fold/seams.hpp>
#include <emmy/loop/wire.hpp>

#include <string>
#include <vector>

namespace emmy::test {

namespace closed = fold::closed;

using list = std::vector<std::string>;
inline std::string joined(const list& parts, const char* quote) {
    std::string out;
    for (const std::string& p : parts) out += (out.empty() ? "" : ",") + (quote + p + quote);
    return out;
}
inline std::string load(const std::string& name, const std::string& buffer, const list& index) {
    return R"({"Load":{"names":[")" + name + R"("],"input":")" + buffer + R"(","index":[)" + joined(index, "\"") + "]}}";
}
inline std::string assign(const std::string& name, const std::string& op, const list& args, const std::string& type = "") {
    return R"({"Assign":{"name":")" + name + R"(","op":")" + op + R"(","args":[)" + joined(args, "\"") + "]" + (type.empty() ? "" : R"(,"dtype":")" + type + "\"") + "}}";
}
inline std::string accum(const std::string& name, const std::string& value, const std::string& axis, const std::string& op = "add") {
    return R"({"Accum":{"name":")" + name + R"(","value":")" + value + "\"" + (op == "add" ? "" : R"(,"op":")" + op + "\"") + R"(,"axes":[")" + axis + R"("]}})";
}
inline std::string write(const std::string& buffer, const list& index, const std::string& value) {
    return R"({"Write":{"output":")" + buffer + R"(","index":[)" + joined(index, "\"") + R"(],"values":[")" + value + R"("]}})";
}
inline std::string over(const std::string& axis, int n, const list& body) {
    return R"({"Loop":{"axis":{"name":")" + axis + R"(","extent":)" + std::to_string(n) + R"(},"body":[)" + joined(body, "") + "]}}";
}

struct lifted {
    loop::kernel kernel;
    closed::forest forest;
    /// Addresses of the sites in preorder.
    list addresses() const {
        list out;
        for (const closed::site& s : closed::sites(forest)) out.push_back(s.address);
        return out;
    }
    /// Buffer that operand n (1-based) of the term at an address reads, "" for a term that is no slab.
    std::string slab(const std::string& address, std::size_t n) const {
        const auto t = closed::find(forest, address);
        BOOST_REQUIRE_MESSAGE(t, (t ? "" : t.error().line()));
        BOOST_REQUIRE(n <= forest[*t].operands.size());
        const closed::term& o = forest[forest[*t].operands[n - 1]];
        return o.is_slab() ? std::string(forest.text(o.body[0].buffer)) : "";
    }
};
/// Buffers are f32 of 4096 x 4096; named c… or s…: 4096, r…: one row.
inline lifted lift(const list& inputs, const list& outputs, const list& body) {
    std::string nodes, shapes;
    for (const std::string& i : inputs)
        nodes += R"({"id":")" + i + R"(","op":"input","outputs":[[")" + i + R"(","f32",)" + (i[0] == 'c' ? "[4096]" : i[0] == 'r' ? "[1,4096]" : "[4096,4096]") + "]]},";
    for (const std::string& o : outputs) shapes += (shapes.empty() ? "" : ",") + (R"([")" + o + R"(","f32",)") + (o[0] == 's' ? "[4096]]" : o[0] == 'r' ? "[1,4096]]" : "[4096,4096]]");
    const std::string text = R"({"inputs":[)" + joined(inputs, "\"") + R"(],"outputs":[)" + joined(outputs, "\"") + R"(],"nodes":[)" + nodes + R"({"id":")" + outputs[0] +
                             R"(","op":"loop","attrs":{"body":[)" + joined(body, "") + R"(],"name":"k"},"inputs":[)" + joined(inputs, "\"") + R"(],"outputs":[)" + shapes + "]}]}";
    auto k = loop::parse_kernel(text);
    BOOST_REQUIRE_MESSAGE(k, (k ? "" : k.error().line()));
    auto f = closed::lift_terms(*k);
    BOOST_REQUIRE_MESSAGE(f, (f ? "" : f.error().line()));
    return {std::move(*k), std::move(*f)};
}

}  // namespace emmy::test
