#pragma once
// Small kernels by hand for the interpreter's tests.
#include "support/loop_text.hpp"

#include <emmy/core/numeric.hpp>
#include <emmy/loop/interpret.hpp>
#include <emmy/loop/sample.hpp>

#include <boost/test/unit_test.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace emmy::test {

template <class T>
std::string trouble(const result<T>& r) {
    return r ? std::string() : r.error().line();
}

struct port {
    std::string name, type, shape;  ///< shape as JSON: "[4,8]"
};
inline std::string list(std::initializer_list<std::string> items) {
    std::string out = "[";
    for (const std::string& i : items) out += (out.size() > 1 ? ",\"" : "\"") + i + "\"";
    return out + "]";
}
inline std::string load(const std::string& name, const std::string& buffer, std::initializer_list<std::string> index) {
    return R"({"Load":{"names":[")" + name + R"("],"input":")" + buffer + R"(","index":)" + list(index) + "}}";
}
inline std::string assign(const std::string& name, const std::string& op, std::initializer_list<std::string> args, const std::string& type = "") {
    return R"({"Assign":{"name":")" + name + R"(","op":")" + op + R"(","args":)" + list(args) + (type.empty() ? "" : R"(,"dtype":")" + type + "\"") + "}}";
}
inline std::string accum(const std::string& name, const std::string& value, const std::string& op = "add", const std::string& base = "") {
    return R"({"Accum":{"name":")" + name + R"(","value":")" + value + R"(","op":")" + op + "\"" + (base.empty() ? "" : R"(,"base":")" + base + "\"") + "}}";
}
inline std::string write(const std::string& buffer, std::initializer_list<std::string> index, const std::string& value, const std::string& more = "") {
    return R"({"Write":{"output":")" + buffer + R"(","index":)" + list(index) + R"(,"values":[")" + value + "\"]" + more + "}}";
}
inline std::string let(const std::string& name, const std::string& value) { return R"({"Let":{"name":")" + name + R"(","value":")" + value + "\"}}"; }
inline std::string join(std::initializer_list<std::string> statements) {
    std::string out;
    for (const std::string& s : statements) out += (out.empty() ? "" : ",") + s;
    return out;
}

inline loop::kernel kernel_of(const std::vector<port>& inputs, const std::vector<port>& outputs, const std::string& body) {
    std::string names, nodes, out_names, out_ports;
    for (const port& p : inputs) {
        names += (names.empty() ? "\"" : ",\"") + p.name + "\"";
        nodes += R"({"id":")" + p.name + R"(","op":"input","outputs":[[")" + p.name + R"(",")" + p.type + "\"," + p.shape + "]]},";
    }
    for (const port& p : outputs) {
        out_names += (out_names.empty() ? "\"" : ",\"") + p.name + "\"";
        out_ports += (out_ports.empty() ? "[\"" : ",[\"") + p.name + R"(",")" + p.type + "\"," + p.shape + "]";
    }
    const std::string text = R"({"inputs":[)" + names + R"(],"outputs":[)" + out_names + R"(],"nodes":[)" + nodes + R"({"id":")" + outputs[0].name +
                             R"(","op":"loop","attrs":{"body":[)" + body + R"(],"name":"k"},"inputs":[)" + names + R"(],"outputs":[)" + out_ports + "]}]}";
    auto k = loop::parse_kernel(text);
    BOOST_REQUIRE_MESSAGE(k.has_value(), trouble(k));
    return std::move(*k);
}

inline std::vector<std::byte> bytes_of(dtype t, const std::vector<double>& values) {
    std::vector<std::byte> out(values.size() * byte_size(t));
    for (std::size_t i = 0; i < values.size(); ++i) store_real(t, out.data(), i, values[i]);
    return out;
}
inline std::vector<double> values_of(dtype t, const std::vector<std::byte>& bytes) {
    std::vector<double> out;
    for (std::size_t i = 0; i < bytes.size() / byte_size(t); ++i) out.push_back(load_element(t, bytes.data(), i));
    return out;
}
inline loop::interpreter compiled(const loop::kernel& k, const loop::interpret_options& options = {}) {
    auto out = loop::interpreter::make(k, options);
    BOOST_REQUIRE_MESSAGE(out.has_value(), trouble(out));
    return std::move(*out);
}
/// First output of the whole kernel; every cell asked for by itself must agree.
inline std::vector<double> outputs(const loop::kernel& k, const std::vector<std::vector<double>>& inputs, const loop::interpret_options& options = {}) {
    loop::interpreter it = compiled(k, options);
    std::vector<std::vector<std::byte>> bytes;
    std::vector<loop::input_data> data;
    for (std::size_t i = 0; i < inputs.size(); ++i) bytes.push_back(bytes_of(k.inputs[i].type, inputs[i]));
    for (const auto& b : bytes) data.push_back(loop::input_data::of_bytes(b));
    auto bound = it.bind(data);
    BOOST_REQUIRE_MESSAGE(bound.has_value(), trouble(bound));
    auto whole = it.run();
    BOOST_REQUIRE_MESSAGE(whole.has_value(), trouble(whole));
    const dtype t = k.outputs[0].type;
    const std::vector<double> out = values_of(t, (*whole)[0]);
    const auto shape = it.output_shape(0);
    std::vector<std::int64_t> at(shape.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::size_t rest = i;
        for (std::size_t d = shape.size(); d-- > 0; rest /= static_cast<std::size_t>(shape[d])) at[d] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(shape[d]));
        auto cell = it.cell(0, at);
        if (!cell && cell.error().message() == "no statement writes this cell") {
            BOOST_TEST(out[i] == 0);
            continue;
        }
        BOOST_REQUIRE_MESSAGE(cell.has_value(), trouble(cell));
        const double rounded = round_to(t, *cell);
        BOOST_TEST((rounded == out[i] || (rounded != rounded && out[i] != out[i])), "cell " << i << ": " << rounded << " alone, " << out[i] << " in the whole run");
    }
    return out;
}
using reals = std::vector<double>;

}  // namespace emmy::test
