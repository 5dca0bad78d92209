// What a user of the installed package writes first: a knob value checked by the compiler, an identity and a kernel from text.
#include <emmy/core.hpp>
#include <emmy/core/json.hpp>
#include <emmy/knob.hpp>

#include <cstdio>

int main() {
    const auto document = emmy::json::document::parse(R"({"WORK":"w4x1"})");
    if (!document) return 1;
    std::printf("emmy %s: %s\n", EMMY_VERSION_TEXT, emmy::to_hex(emmy::xxh3_128("emmy")).c_str());
    return document->root().find("WORK")->text() == "w4x1" ? 0 : 1;
}
