#pragma once
#include <emmy/core/archive/source.hpp>
#include <emmy/core/hasher.hpp>
#include <emmy/core/json.hpp>
#include <emmy/golden/snapshot/files.hpp>

namespace emmy::golden::snapshot {

EMMY_DECL const manifest_file* manifest::find(std::string_view path) const {
    for (const manifest_tensor& t : tensors)
        for (const manifest_file& f : t.files)
            if (f.path == path) return &f;
    return nullptr;
}

EMMY_DECL std::string manifest_text(const manifest& m) {
    std::string out;
    json::writer w(out);
    w.begin_object().key("schema").string(manifest_schema).key("tool").string(m.tool).key("reference").string(m.reference).key("device").string(m.device);
    w.key("seed").string(std::to_string(m.seed)).key("tensors").begin_array();
    for (const manifest_tensor& t : m.tensors) {
        w.begin_object().key("name").string(t.name).key("kind").string(t.kind).key("dtype").string(t.dtype).key("shape").begin_array();
        for (const std::int64_t size : t.shape) w.integer(size);
        w.end_array().key("files").begin_array();
        for (const manifest_file& f : t.files) w.begin_object().key("path").string(f.path).key("bytes").integer(static_cast<std::int64_t>(f.bytes)).key("xxh3_128").string(to_hex(f.digest)).end_object();
        w.end_array().end_object();
    }
    w.end_array().end_object();
    return out + "\n";
}

EMMY_DECL result<manifest> parse_manifest(std::string_view text, std::string_view file) {
    EMMY_TRY(doc, json::document::parse(text, file));
    const auto named = [&](fault f) { return refuse(std::move(f).in_file(file)); };
    manifest out;
    const json::path root;
    json::fields f(doc.root(), root);
    std::string schema, seed;
    for (const auto& [key, into] : {std::pair{"schema", &schema}, {"tool", &out.tool}, {"reference", &out.reference}, {"device", &out.device}, {"seed", &seed}}) {
        const auto v = f.need(key);
        const auto read = v ? json::read_string(**v, f.at(key)) : result<std::string_view>(refuse(v.error()));
        if (!read) return named(read.error());
        *into = *read;
    }
    if (schema != manifest_schema) return named(json::problem(f.at("schema"), "found \"" + schema.substr(0, 100) + "\", expected " + std::string(manifest_schema)));
    for (const char c : seed) {
        if (c < '0' || c > '9' || seed.size() > 20) return named(json::problem(f.at("seed"), "found no number, expected one"));
        out.seed = out.seed * 10 + static_cast<std::uint64_t>(c - '0');
    }
    const auto list = f.need("tensors");
    if (!list) return named(list.error());
    const json::path tensors = root / "tensors";
    const auto items = json::read_array(**list, tensors);
    if (!items) return named(items.error());
    for (std::size_t i = 0; i < items->size(); ++i) {
        const auto read = [&]() -> result<manifest_tensor> {
            const json::path where = tensors / i;
            json::fields t((*items)[i], where);
            manifest_tensor made;
            for (const auto& [key, into] : {std::pair{"name", &made.name}, {"kind", &made.kind}, {"dtype", &made.dtype}}) {
                EMMY_TRY(v, t.need(key));
                EMMY_TRY(word, json::read_string(*v, t.at(key)));
                *into = word;
            }
            EMMY_TRY(shape, t.need("shape"));
            EMMY_TRY(sizes, json::read_array(*shape, t.at("shape")));
            for (const json::value& s : sizes) {
                EMMY_TRY(size, json::read_integer(s, t.at("shape")));
                made.shape.push_back(size);
            }
            EMMY_TRY(files, t.need("files"));
            const json::path file_list = where / "files";
            EMMY_TRY(entries, json::read_array(*files, file_list));
            for (std::size_t j = 0; j < entries.size(); ++j) {
                const json::path at = file_list / j;
                json::fields e(entries[j], at);
                EMMY_TRY(path, e.need("path"));
                EMMY_TRY(path_text, json::read_string(*path, e.at("path")));
                EMMY_TRY(bytes, e.need("bytes"));
                EMMY_TRY(count, json::read_integer(*bytes, e.at("bytes")));
                EMMY_TRY(hash, e.need("xxh3_128"));
                EMMY_TRY(hex, json::read_string(*hash, e.at("xxh3_128")));
                manifest_file one{std::string(path_text), static_cast<std::uint64_t>(count), {}};
                if (count < 0 || !from_hex(hex, one.digest)) return refuse(json::problem(at, "found no size or hash of 32 hex digits, expected both"));
                EMMY_CHECK_OK(e.done());
                made.files.push_back(std::move(one));
            }
            EMMY_CHECK_OK(t.done());
            return made;
        }();
        if (!read) return named(read.error());
        out.tensors.push_back(*read);
    }
    if (auto done = f.done(); !done) return named(done.error());
    return out;
}

namespace detail {
/// Read without touching its time stamps. At most 64 MiB: a hundred bytes a tensor are usual.
inline result<manifest> read_manifest(const std::string& path) {
    EMMY_TRY(source, archive::byte_source::open(path));
    if (source.size() > (std::uint64_t(64) << 20)) return refuse(fault_kind::input, "found " + std::to_string(source.size()) + " bytes, expected at most 64 MiB", {}, path);
    std::string text(source.size(), '\0');
    EMMY_CHECK_OK(source.read(0, std::as_writable_bytes(std::span(text))));
    return parse_manifest(text, path);
}
}  // namespace detail

}  // namespace emmy::golden::snapshot
