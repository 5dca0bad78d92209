#pragma once
// Small loop_ir documents for tests of loop/.
#include <emmy/loop/validate.hpp>
#include <emmy/loop/wire.hpp>

#include <string>
#include <vector>

namespace emmy::test {

/// x: f32[4, 8], c: f32[1] -> y: f32[4, 8], with the given statements.
inline std::string loop_ir(const std::string& body) {
    return R"({"inputs":["x","c"],"outputs":["y"],"nodes":[{"id":"x","op":"input","outputs":[["x","f32",[4,8]]]},{"id":"c","op":"input","outputs":[["c","f32",[1]]]},)"
           R"({"id":"y","op":"loop","attrs":{"body":[)" +
           body + R"(],"name":"k"},"inputs":["x","c"],"outputs":[["y","f32",[4,8]]]}]})";
}

/// "" when the text is read and valid, else "place: message".
inline std::string refusal(const std::string& text) {
    auto k = loop::parse_kernel(text);
    if (!k) return k.error().place() + ": " + k.error().message();
    auto valid = loop::validate(*k);
    return valid ? std::string() : valid.error().place() + ": " + valid.error().message();
}

/// A loop around statements; loops in loops.
inline std::string over(const std::string& axis, int extent, const std::string& body) {
    return R"({"Loop":{"axis":{"name":")" + axis + R"(","extent":)" + std::to_string(extent) + R"(},"body":[)" + body + "]}}";
}

}  // namespace emmy::test
