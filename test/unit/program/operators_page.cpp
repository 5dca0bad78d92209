#include <emmy/core/file.hpp>
#include <emmy/core/json.hpp>
#include <emmy/program/impl/op_text_table.ipp>
#include <emmy/program/import.hpp>
#include <emmy/program/op.hpp>
#include <emmy/program/pointwise.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>

// doc/operators.md names every operator, attribute, pointwise function and composition that there is: tables between markers are written
// from the headers (EMMY_APPROVE=1 writes them again), the prose tables below them have a row for each. doc/import.md names every call that is read.

using namespace emmy;
using namespace emmy::program;

namespace {

std::string default_text(const attr_facts& f) {
    if (f.when == presence::required) return " (must be given)";
    if (f.when == presence::optional) return " (may be absent)";
    if (f.kind == attr_kind::text || f.kind == attr_kind::dtype) return " = \"" + std::string(f.fallback) + "\"";
    if (f.kind == attr_kind::boolean) return f.number != 0 ? " = true" : " = false";
    if (f.kind == attr_kind::dims) return " = []";
    std::string number;
    json::writer(number).real(f.number);
    return " = " + (f.kind == attr_kind::integer ? std::to_string(static_cast<std::int64_t>(f.number)) : number);
}
std::string operators() {
    std::string out = "| tag | inputs | attributes |\n| --- | --- | --- |\n";
    for (const op_facts& f : emmy::program::detail::op_table) {
        std::string inputs = std::to_string(f.min_inputs);
        if (f.max_inputs == 255) inputs += " or more";
        else if (f.max_inputs != f.min_inputs) inputs += " to " + std::to_string(f.max_inputs);
        std::string attrs;
        for (const attr_facts& a : f.attrs) (attrs += attrs.empty() ? "" : ", ") += "`" + std::string(a.text) + "`" + default_text(a);
        out += "| `" + std::string(f.text) + "` | " + inputs + " | " + (attrs.empty() ? "–" : attrs) + " |\n";
    }
    return out;
}
std::string functions() {
    std::string out;
    for (const int operands : {1, 2, 3}) {
        out += std::string(operands == 1 ? "One operand:" : operands == 2 ? "Two:" : "Three:");
        for (const pointwise_facts& f : emmy::program::detail::pointwise_table)
            if (f.operands == operands) out += " `" + std::string(f.name) + "`";
        out += ".\n";
    }
    return out;
}
std::string compositions() {
    std::string out = "| --op | tensors (\\* weights) | settings (! must be given) |\n| --- | --- | --- |\n";
    for (const auto& o : emmy::program::detail::composed_table) {
        std::string tensors(o.tensors);
        for (std::size_t at = 0; (at = tensors.find('*', at)) != std::string::npos; at += 2) tensors.insert(at, "\\");
        std::string count = std::to_string(o.least);
        if (o.most != o.least) count += " to " + std::to_string(o.most);
        out += "| `" + std::string(o.name) + "` | " + count + ": " + tensors + " | " + (o.settings.empty() ? "–" : std::string(o.settings)) + " |\n";
    }
    return out;
}

/// Calls by name: overloads that take the same arguments in one row. A `?` after an argument: it may be absent.
std::string calls() {
    std::string out = "| call | overloads | arguments |\n| --- | --- | --- |\n", name, overloads, arguments;
    const auto close = [&] {
        if (!name.empty()) out += "| `" + name + "` | " + overloads + " | " + arguments + " |\n";
    };
    for (const pt2::operator_facts& f : pt2::operators()) {
        const std::size_t dot = f.name.rfind('.');
        const bool overloaded = dot != std::string_view::npos && dot != f.name.find('.');
        const std::string base(f.name.substr(0, overloaded ? dot : f.name.size()));
        std::string overload = overloaded ? "`" + std::string(f.name.substr(dot + 1)) + "`" : "–", taken;
        for (std::size_t at = 0; at < f.arguments.size();) {  // "self:T other:TN alpha:N?"
            const std::size_t end = std::min(f.arguments.find(' ', at), f.arguments.size());
            const std::string_view one = f.arguments.substr(at, end - at);
            (taken += taken.empty() ? "" : ", ") += std::string(one.substr(0, one.find(':'))) + (one.ends_with('?') ? "?" : "");
            at = end + 1;
        }
        if (base == name && taken == arguments) {
            overloads += " " + overload;
            continue;
        }
        close();
        name = base, overloads = overload, arguments = taken;
    }
    close();
    return out;
}

/// Texts between markers are what they should be, or are written.
void check_page(const std::string& file, const std::vector<std::pair<std::string, std::string>>& blocks) {
    const std::string page = std::string(EMMY_SOURCE_DIR) + "/doc/" + file;
    std::string text = read_file(page).value();
    const bool approve = std::getenv("EMMY_APPROVE") != nullptr;
    for (const auto& [name, wanted] : blocks) {
        const std::string open = "<!-- written: " + name + " -->\n", close = "<!-- end -->\n";
        const auto from = text.find(open), to = text.find(close, from);
        BOOST_REQUIRE_MESSAGE(from != std::string::npos && to != std::string::npos, name);
        const std::string have = text.substr(from + open.size(), to - from - open.size());
        if (approve) text.replace(from + open.size(), have.size(), wanted);
        else BOOST_TEST(have == wanted, name << " is not what the headers have; EMMY_APPROVE=1 writes it again");
    }
    if (approve) std::ofstream(page) << text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_pages_list_what_the_headers_have) {
    check_page("operators.md", {{"operators", operators()}, {"functions", functions()}, {"compositions", compositions()}});
    check_page("import.md", {{"calls", calls()}});
}
