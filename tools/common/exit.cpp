#include <common/exit.hpp>

#include <cstdio>
#include <string>

namespace emmy::tools {
namespace {

// One line whatever a hostile file put into a name: control bytes and line breaks are spelled.
std::string one_line(std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
    std::string out;
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            ((out += "\\x") += hex[byte >> 4]) += hex[byte & 15];
        } else {
            out += c;
        }
    }
    return out;
}

void print(std::string_view tool, std::string_view between, std::string_view text) {
    const std::string line = std::string(tool) + between.data() + one_line(text) + "\n";
    std::fflush(stdout);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

int report(std::string_view tool, const fault& f) {
    print(tool, ": ", f.line());
    return exit_code(f.kind());
}

void note(std::string_view tool, std::string_view text) { print(tool, ": note: ", text); }

}  // namespace emmy::tools
