#pragma once
#include <emmy/core/numeric.hpp>
#include <emmy/golden/snapshot/spec.hpp>

#include <algorithm>
#include <cmath>

namespace emmy::golden::snapshot {

EMMY_DECL std::uint64_t spec::elements() const {
    std::uint64_t out = 1;
    for (const std::int64_t size : shape) out *= static_cast<std::uint64_t>(size);
    return out;
}

EMMY_DECL spec scalar(std::string name, dtype type, double value) { return {spec_kind::scalar, std::move(name), type, {}, constant(type, value)}; }
EMMY_DECL spec scalar(std::string name, dtype type, generator make) { return {spec_kind::scalar, std::move(name), type, {}, std::move(make)}; }
EMMY_DECL spec input(std::string name, std::vector<std::int64_t> shape, dtype type, generator make) { return {spec_kind::input, std::move(name), type, std::move(shape), std::move(make)}; }
EMMY_DECL spec output(std::string name, std::vector<std::int64_t> shape, dtype type) { return {spec_kind::output, std::move(name), type, std::move(shape), {}}; }
EMMY_DECL spec inout(std::string name, std::vector<std::int64_t> shape, dtype type, generator make) { return {spec_kind::inout, std::move(name), type, std::move(shape), std::move(make)}; }

EMMY_DECL generator uniform(dtype type, std::uint64_t seed, double low, double high) {
    return [=](std::span<std::byte> bytes) -> result<void> {
        const std::size_t count = bytes.size() / byte_size(type);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t x = seed * 0x9e3779b97f4a7c15u + i + 1;  // splitmix64 of the place
            x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u, x = (x ^ x >> 27) * 0x94d049bb133111ebu, x ^= x >> 31;
            const double value = low + static_cast<double>(x >> 11) * 0x1p-53 * (high - low);
            reads_as_integer(type) ? store_integer(type, bytes.data(), i, static_cast<std::int64_t>(std::floor(value))) : store_real(type, bytes.data(), i, value);
        }
        return {};
    };
}
EMMY_DECL generator constant(dtype type, double value) {
    return [=](std::span<std::byte> bytes) -> result<void> {
        for (std::size_t i = 0, count = bytes.size() / byte_size(type); i < count; ++i) store_real(type, bytes.data(), i, value);
        return {};
    };
}

EMMY_DECL result<void> check(std::span<const spec> specs) {
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const spec& s = specs[i];
        const auto bad = [&](std::string what) { return refuse(fault_kind::user, std::move(what), "spec " + std::to_string(i) + " \"" + s.name.substr(0, 200) + "\""); };
        if (s.name.empty() || s.name.size() > 200) return bad("found a name of " + std::to_string(s.name.size()) + " bytes, expected 1 to 200: it becomes a file name");
        if (s.name == "." || s.name.find("..") != std::string::npos) return bad("found \"..\" or \".\" in the name, expected a file name");
        std::string folded;
        for (const char c : s.name) {
            if (c == '/' || c == '\\') return bad("found a path separator in the name, expected a file name");
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return bad("found a control byte in the name, expected a file name");
            folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
        if (std::find(seen.begin(), seen.end(), folded) != seen.end()) return bad("found a name that is another one's but for its case, expected file names that differ on every system");
        seen.push_back(std::move(folded));
        if (archive::element_of(s.type) == archive::element::none) return bad("found dtype \"" + std::string(token(s.type)) + "\", expected one that .pt files have");
        std::uint64_t bytes = byte_size(s.type);
        bool empty = false;
        for (const std::int64_t size : s.shape) {
            if (size < 0) return bad("found a size of " + std::to_string(size));
            empty = empty || size == 0;
        }
        for (const std::int64_t size : s.shape) {
            if (!empty && bytes > (std::uint64_t(1) << 56) / static_cast<std::uint64_t>(size)) return bad("found a tensor of 2^56 bytes or more");
            bytes *= empty ? 1 : static_cast<std::uint64_t>(size);
        }
        if (s.kind == spec_kind::scalar && !s.shape.empty()) return bad("found a scalar with a shape, expected none");
    }
    return {};
}

EMMY_DECL std::vector<required_file> required_files(std::span<const spec> specs) {
    std::vector<required_file> out;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].has_input()) out.push_back({i, false, "in/" + specs[i].name + ".pt"});
        if (specs[i].has_output()) out.push_back({i, true, "out/" + specs[i].name + ".pt"});
    }
    return out;
}

}  // namespace emmy::golden::snapshot
