#pragma once
#include <emmy/core/dtype.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/program/evaluate.hpp>
#include <emmy/program/pointwise.hpp>
#include <emmy/program/wire.hpp>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

// Small programs of one operator, as the text a reader takes, for laws over all operators, element types and forms.
namespace emmy::test {

enum class form { plain, symbolic, broadcast, scalar };
constexpr form forms[] = {form::plain, form::symbolic, form::broadcast, form::scalar};
inline const char* text(form f) {
    constexpr const char* names[] = {"static", "symbolic", "broadcast", "rank 0"};
    return names[static_cast<int>(f)];
}

/// Numbers below a bound: a property-testing engine's or a plain generator's, so that failures shrink.
using draws = std::function<int(int least, int beyond)>;

/// Nodes come in the order of their ids, which the cases choose so that the order is canonical.
class program_text {
public:
    program_text(draws d, form f) : d_(std::move(d)), form_(f) {}

    int draw(int least, int beyond) { return d_(least, beyond); }
    bool coin() { return d_(0, 2) == 1; }
    form shape_form() const { return form_; }
    /// "5", or the symbol for the first axis of a symbolic case.
    std::string size(int n) const { return std::to_string(n); }
    /// The first axis: the symbol where the case is symbolic; its size.
    std::string first() {
        if (form_ != form::symbolic) return size(draw(1, 5));
        if (symbol_ == 0) symbol_ = draw(1, 6);
        return "{\"sym\":\"S\",\"hint\":" + std::to_string(symbol_) + "}";
    }
    static std::string list(const std::vector<std::string>& items) {
        std::string out = "[";
        for (std::size_t i = 0; i < items.size(); ++i) (out += i ? "," : "") += items[i];
        return out + "]";
    }
    using shape = std::vector<std::string>;
    std::string node(const std::string& id, const std::string& op, const std::string& attrs, const std::vector<std::string>& inputs, dtype type, const shape& dims) {
        std::string n = "{\"id\":\"" + id + "\",\"op\":\"" + op + "\"";
        if (!attrs.empty()) n += ",\"attrs\":{" + attrs + "}";
        if (!inputs.empty()) n += ",\"inputs\":" + list(quoted(inputs));
        n += ",\"outputs\":[[\"" + id + "\",\"" + std::string(token(type)) + "\"," + list(dims) + "]]}";
        nodes_.push_back(n);
        return id;
    }
    std::string input(const std::string& id, dtype type, const shape& dims) {
        inputs_.push_back(id);
        return node(id, "input", "", {}, type, dims);
    }
    std::string weight(const std::string& id, dtype type, const shape& dims) {
        return node(id, "constant", "\"name\":\"" + id + "\",\"source_path\":\"m." + id + "\",\"source_shape\":" + list(dims) + ",\"source_dtype\":\"" + std::string(token(type)) + "\"", {}, type, dims);
    }
    /// An input or a weight; the first tensor is seldom a weight, since of weights alone nothing is left to compute.
    std::string tensor(const std::string& id, dtype type, const shape& dims) {
        const bool stored = id == "a_0" ? draw(0, 8) == 1 : coin();
        return stored && form_ != form::symbolic ? weight(id, type, dims) : input(id, type, dims);
    }
    std::string number(const std::string& id, const std::string& value, dtype type) { return node(id, "constant", "\"name\":\"" + id + "\",\"value\":" + value, {}, type, {"1"}); }
    std::string finish(const std::string& output) const { return "{\"inputs\":" + list(quoted(inputs_)) + ",\"outputs\":[\"" + output + "\"],\"nodes\":" + list(nodes_) + "}"; }

private:
    static std::vector<std::string> quoted(const std::vector<std::string>& ids) {
        std::vector<std::string> out;
        for (const auto& id : ids) out.push_back("\"" + id + "\"");
        return out;
    }
    draws d_;
    form form_;
    int symbol_ = 0;
    std::vector<std::string> nodes_, inputs_;
};

/// A case makes the program's text, or nothing where the form has no meaning for the operator.
struct operator_case {
    std::string name;
    std::vector<dtype> types;
    std::function<std::string(program_text&, dtype)> make;
};


/// Bytes for every input and checkpoint constant: reals in (-2, 2) rounded to their type, integers in 0 … 6, truth values.
struct random_bytes {
    std::vector<std::vector<std::byte>> kept;
    std::vector<program::named_bytes> all;
};
inline random_bytes fill(const program::graph& g, unsigned seed) {
    random_bytes out;
    std::mt19937 engine(seed);
    out.kept.reserve(g.nodes.size());
    for (program::node_id n = 0; n < g.nodes.size(); ++n) {
        const auto& node = g.nodes[n];
        if (node.op != program::op::input && !(node.op == program::op::constant && g.find(node, program::attr::source_path))) continue;
        const auto& t = g.outputs_of(node)[0];
        const auto count = program::element_count(g, g.shape_of(t.shape), {});
        std::vector<std::byte> bytes(static_cast<std::size_t>(*count) * byte_size(t.type));
        for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
            if (t.type == dtype::boolean) store_real(t.type, bytes.data(), i, static_cast<double>(engine() % 2));
            else if (is_integer(t.type)) store_real(t.type, bytes.data(), i, static_cast<double>(engine() % 7));
            else store_real(t.type, bytes.data(), i, (static_cast<double>(engine() % 4001) - 2000) / 1000);
        }
        out.kept.push_back(std::move(bytes));
        out.all.push_back({g.id(n), out.kept.back()});
    }
    return out;
}

}  // namespace emmy::test
