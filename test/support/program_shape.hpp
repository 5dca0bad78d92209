#pragma once
// A traced program without its names: what two tracers that name nodes differently still agree on.
#include <emmy/program/specialise.hpp>

#include <emmy/core/json.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>
#include <string_view>

namespace emmy::test {

class unnamed_program {
public:
    explicit unnamed_program(const program::graph& g) : document_(json::document::parse(program::pruned_text(g), "program").value()) {
        for (const json::value& n : document_.root().find("nodes")->items()) nodes_[n.find("id")->text()] = n;
        for (const json::value& i : document_.root().find("inputs")->items()) visit(i.text());
        for (const json::value& o : document_.root().find("outputs")->items()) text_ += "output " + std::to_string(visit(o.text())) + "\n";
    }
    /// One line a live node, inputs first and then in the order that outputs reach them: operator, attributes, operands by number, type, sizes.
    std::string text() && { return std::move(text_); }

private:
    std::size_t visit(std::string_view id) {
        if (const auto seen = number_.find(id); seen != number_.end()) return seen->second;
        const json::value& n = nodes_.at(id);
        std::string line(n.find("op")->text());
        if (const json::value* attrs = n.find("attrs"))
            for (const json::member& m : attrs->members())
                if (m.key != "name") line += " " + std::string(m.key) + "=" + wire(m.item);
        if (const json::value* inputs = n.find("inputs"))
            for (const json::value& i : inputs->items()) line += " #" + std::to_string(visit(i.text()));
        const auto tensor = n.find("outputs")->items()[0].items();
        line += " -> " + std::string(tensor[1].text()) + wire(tensor[2]);
        text_ += std::to_string(number_.size()) + " " + line + "\n";
        return number_.emplace(id, number_.size()).first->second;
    }
    static std::string wire(const json::value& v) {
        std::string out;
        json::writer(out).copy(v);
        return out;
    }

    json::document document_;
    std::map<std::string_view, json::value> nodes_;
    std::map<std::string_view, std::size_t> number_;
    std::string text_;
};

/// Two programs with one text compute the same from the same inputs, weights by checkpoint path; hints and names are left out.
inline std::string program_shape(const program::graph& g) { return unnamed_program(g).text(); }

/// "same" or the first line where they part.
inline std::string first_difference(const std::string& a, const std::string& b) {
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const std::string x = a.substr(std::min(i, a.size()), a.find('\n', i) - i), y = b.substr(std::min(j, b.size()), b.find('\n', j) - j);
        if (x != y) return "found " + x + ", expected " + y;
        i += x.size() + 1, j += y.size() + 1;
    }
    return "same";
}

}  // namespace emmy::test
