#pragma once
#include <emmy/core/archive/safetensors.hpp>
#include <emmy/core/archive/zip.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/json.hpp>

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

namespace emmy::archive {

namespace detail {

constexpr std::uint64_t safetensors_header_most = 100'000'000;

inline element element_of_safetensors(std::string_view name) {
    constexpr std::pair<std::string_view, element> names[] = {{"F64", element::f64}, {"F32", element::f32}, {"F16", element::f16}, {"BF16", element::bf16}, {"F8_E4M3", element::f8e4m3}, {"F8_E5M2", element::f8e5m2},
        {"I64", element::i64}, {"I32", element::i32}, {"I16", element::i16}, {"I8", element::i8}, {"U64", element::u64}, {"U32", element::u32}, {"U16", element::u16}, {"U8", element::u8}, {"BOOL", element::boolean}};
    for (const auto& [n, e] : names)
        if (n == name) return e;
    return element::none;
}

struct safetensors_header {
    const std::string& file;
    std::uint64_t first, size;   // of the data
    std::uint32_t place;

    result<safetensor> read(const json::member& m) const {
        const json::path top, at = top / m.key;
        json::fields f(m.item, at);
        EMMY_TRY(type, f.need("dtype"));
        EMMY_TRY(shape, f.need("shape"));
        EMMY_TRY(offsets, f.need("data_offsets"));
        EMMY_CHECK_OK(f.done());
        safetensor out{.name = std::string(m.key), .file = place};
        const json::path type_at = at / "dtype", shape_at = at / "shape", data_at = at / "data_offsets";
        EMMY_TRY(type_name, json::read_string(*type, type_at));
        out.type = element_of_safetensors(type_name);
        if (out.type == element::none) return refuse(json::problem(type_at, "found \"" + std::string(type_name.substr(0, 40)) + "\", expected F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I64, I32, I16, I8, U64, U32, U16, U8 or BOOL"));
        EMMY_TRY(sizes, json::read_array(*shape, shape_at));
        std::uint64_t count = 1;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            EMMY_TRY(n, json::read_integer(sizes[i], shape_at / i));
            if (n < 0 || sizes.size() > 64) return refuse(json::problem(shape_at, "found a negative size or more than 64 axes, expected a shape"));
            if (n != 0 && count > (std::uint64_t(1) << 56) / static_cast<std::uint64_t>(n)) return refuse(json::problem(shape_at, "found more than 2^56 elements"));
            count *= static_cast<std::uint64_t>(n);
            out.shape.push_back(n);
        }
        EMMY_TRY(pair, json::read_array(*offsets, data_at));
        if (pair.size() != 2) return refuse(json::problem(data_at, "found " + std::to_string(pair.size()) + " numbers, expected begin and end"));
        EMMY_TRY(begin, json::read_integer(pair[0], data_at / 0));
        EMMY_TRY(end, json::read_integer(pair[1], data_at / 1));
        if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > size)
            return refuse(json::problem(data_at, "found " + std::to_string(begin) + " to " + std::to_string(end) + ", expected a range of the file's " + std::to_string(size) + " bytes of data"));
        out.offset = first + static_cast<std::uint64_t>(begin), out.bytes = static_cast<std::uint64_t>(end - begin);
        if (out.bytes != count * byte_size(out.type)) return refuse(json::problem(data_at, "found " + std::to_string(out.bytes) + " bytes, expected the " + std::to_string(count * byte_size(out.type)) + " of its shape"));
        return out;
    }
};

inline bool is_directory(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}
inline bool is_there(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0;
}

}  // namespace detail

EMMY_DECL result<void> safetensors::add(byte_source source, std::vector<safetensor>& into) {
    const std::string file = source.name();
    const auto bad = [&](std::string what, std::string place = {}) { return refuse(fault_kind::input, std::move(what), std::move(place), file); };
    if (source.size() < 8) return bad("found " + std::to_string(source.size()) + " bytes, expected the length of a header in the first 8");
    unsigned char head[8];
    EMMY_CHECK_OK(source.read(0, std::as_writable_bytes(std::span(head))));
    if (head[0] == 'P' && head[1] == 'K') return bad("found a zip archive, expected a safetensors file");
    std::uint64_t length = 0;
    for (int i = 8; i-- > 0;) length = length << 8 | head[i];
    if (length > detail::safetensors_header_most || length > source.size() - 8) return bad("found a header of " + std::to_string(length) + " bytes, expected at most " + std::to_string(std::min(detail::safetensors_header_most, source.size() - 8)));
    std::string text(length, '\0');
    EMMY_CHECK_OK(source.read(8, std::as_writable_bytes(std::span(text))));
    if (!text.starts_with('{')) return bad("found a header that is no JSON object, expected {");
    EMMY_TRY(document, json::document::parse(text, file));
    const auto place = static_cast<std::uint32_t>(sources_.size());
    const detail::safetensors_header header{file, 8 + length, source.size() - 8 - length, place};
    EMMY_TRY(members, json::read_object(document.root(), {}));
    const std::size_t start = into.size();
    for (const json::member& m : members) {
        if (m.key == "__metadata__") continue;  // texts about the file
        auto one = header.read(m);
        if (!one) return refuse(std::move(one).error().in_file(file));
        into.push_back(std::move(*one));
    }
    // Every byte of the data belongs to one tensor.
    std::vector<const safetensor*> order;
    for (std::size_t i = start; i < into.size(); ++i) order.push_back(&into[i]);
    std::sort(order.begin(), order.end(), [](const safetensor* a, const safetensor* b) { return a->offset != b->offset ? a->offset < b->offset : a->bytes < b->bytes; });
    std::uint64_t at = header.first;
    for (const safetensor* t : order) {
        if (t->offset != at) return bad(t->offset < at ? "found data that another tensor has too, expected bytes of its own" : "found " + std::to_string(t->offset - at) + " bytes of no tensor before its data, expected none", t->name);
        at += t->bytes;
    }
    if (at != source.size()) return bad("found " + std::to_string(source.size() - at) + " bytes of no tensor at the end, expected none");
    sources_.push_back(std::move(source));
    return {};
}

EMMY_DECL result<void> safetensors::add_index(const std::string& path) {
    EMMY_TRY(text, read_file(path));
    EMMY_TRY(document, json::document::parse(text, path));
    const json::path top, at = top / "weight_map";
    const json::value* map = document.root().find("weight_map");
    if (!map) return refuse(fault_kind::input, "found no weight_map, expected the index of a sharded checkpoint", {}, path);
    auto members = json::read_object(*map, at);
    if (!members) return refuse(std::move(members).error().in_file(path));
    const std::string folder = path.find('/') == std::string::npos ? "" : path.substr(0, path.rfind('/') + 1);
    std::vector<std::string> files;
    for (const json::member& m : *members) {
        auto name = json::read_string(m.item, at / m.key);
        if (!name) return refuse(std::move(name).error().in_file(path));
        if (const std::string why = unsafe_member_name(*name); !why.empty() || name->find('/') != std::string_view::npos)
            return refuse(json::problem(at / m.key, "found a file name that " + (why.empty() ? "holds a slash" : why) + ", expected a file beside the index").in_file(path));
        if (std::find(files.begin(), files.end(), *name) == files.end()) files.emplace_back(*name);
    }
    std::sort(files.begin(), files.end());
    if (files.size() > 4096) return refuse(fault_kind::input, "found " + std::to_string(files.size()) + " files, expected at most 4096", "weight_map", path);
    std::vector<safetensor> all;
    for (const std::string& name : files) {
        EMMY_TRY(source, byte_source::open(folder + name));
        EMMY_CHECK_OK(add(std::move(source), all));
    }
    // The index says which file a tensor is read from; what it does not name is not of the checkpoint.
    std::sort(all.begin(), all.end(), [](const safetensor& a, const safetensor& b) { return a.name < b.name; });
    for (const json::member& m : *members) {
        auto t = std::lower_bound(all.begin(), all.end(), m.key, [](const safetensor& a, std::string_view n) { return a.name < n; });
        while (t != all.end() && t->name == m.key && sources_[t->file].name() != folder + std::string(m.item.text())) ++t;
        if (t == all.end() || t->name != m.key) return refuse(json::problem(at / m.key, "found no tensor of this name in " + std::string(m.item.text()) + ", expected one").in_file(path));
        tensors_.push_back(*t);
    }
    return {};
}

EMMY_DECL result<void> safetensors::sort() {
    std::sort(tensors_.begin(), tensors_.end(), [](const safetensor& a, const safetensor& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < tensors_.size(); ++i)
        if (tensors_[i].name == tensors_[i - 1].name) return refuse(fault_kind::input, "found the tensor twice, expected each name once", tensors_[i].name, path_);
    return {};
}

EMMY_DECL result<safetensors> safetensors::open(byte_source source) {
    safetensors out;
    out.path_ = source.name();
    EMMY_CHECK_OK(out.add(std::move(source), out.tensors_));
    EMMY_CHECK_OK(out.sort());
    return out;
}
EMMY_DECL result<safetensors> safetensors::open(const std::string& asked) {
    std::string path = asked;
    if (detail::is_directory(path)) {
        const std::string folder = path.ends_with('/') ? path : path + "/";
        const std::string index = folder + "model.safetensors.index.json", one = folder + "model.safetensors";
        if (!detail::is_there(index) && !detail::is_there(one)) return refuse(fault_kind::input, "found neither model.safetensors nor model.safetensors.index.json in the directory, expected one", {}, asked);
        path = detail::is_there(index) ? index : one;
    }
    if (!path.ends_with(".json")) {
        EMMY_TRY(source, byte_source::open(path));
        return open(std::move(source));
    }
    safetensors out;
    out.path_ = path;
    EMMY_CHECK_OK(out.add_index(path));
    EMMY_CHECK_OK(out.sort());
    return out;
}

EMMY_DECL const safetensor* safetensors::find(std::string_view name) const {
    const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name, [](const safetensor& t, std::string_view n) { return t.name < n; });
    return at == tensors_.end() || at->name != name ? nullptr : &*at;
}
EMMY_DECL result<void> safetensors::read_into(const safetensor& t, std::span<std::byte> into) const {
    if (into.size() != t.bytes) return refuse(fault_kind::input, "found a tensor of " + std::to_string(t.bytes) + " bytes, expected " + std::to_string(into.size()), t.name, file(t));
    return sources_[t.file].read(t.offset, into);
}
EMMY_DECL result<std::vector<std::byte>> safetensors::read(const safetensor& t, std::uint64_t most) const {
    if (most != 0 && t.bytes > most) return refuse(fault_kind::input, "found a tensor of " + std::to_string(t.bytes) + " bytes, expected at most " + std::to_string(most), t.name, file(t));
    std::vector<std::byte> out(t.bytes);
    EMMY_CHECK_OK(sources_[t.file].read(t.offset, out));
    return out;
}

}  // namespace emmy::archive
