#pragma once
#include <emmy/core/archive/pt.hpp>
#include <emmy/core/archive/zip_writer.hpp>
#include <emmy/core/impl/archive_audit.ipp>
#include <emmy/core/impl/archive_zip_writer.ipp>
#include <emmy/core/impl/archive_source.ipp>

#include <algorithm>
#include <cstring>

namespace emmy::archive {

namespace detail {

constexpr std::uint64_t pickle_most = std::uint64_t(64) << 20;

/// Says what an old file is; fine when it is none.
inline result<void> not_an_old_file(const byte_source& source) {
    constexpr std::string_view magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
    std::string head(std::min<std::uint64_t>(source.size(), 512), '\0');
    EMMY_CHECK_OK(source.read(0, std::as_writable_bytes(std::span(head))));
    const bool tar = head.size() >= 262 && std::string_view(head).substr(257, 5) == "ustar";
    if (head.starts_with(magic) || tar)
        return refuse(fault_kind::input, "found a file of PyTorch before 1.6 (no zip), expected a newer one; in Python: torch.save(torch.load(\"old.pt\", weights_only=True), \"new.pt\")", {}, source.name());
    return {};
}

}  // namespace detail

EMMY_DECL result<void> stream_strided(bytes_view storage, std::uint64_t offset, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::size_t each, const chunk_sink& sink) {
    if (shape.empty()) shape = {1}, strides = {0};
    const std::size_t rank = shape.size();
    const auto inner = static_cast<std::uint64_t>(shape.back()), step = static_cast<std::uint64_t>(strides.back()) * each;
    std::vector<std::uint64_t> index(rank, 0);
    std::vector<std::byte> chunk;
    const std::size_t room = detail::chunk_bytes / each * each;
    chunk.reserve(room);
    std::uint64_t base = offset * each;
    while (true) {
        for (std::uint64_t i = 0; i < inner; ++i) {
            const std::byte* from = storage.data() + base + i * step;
            chunk.insert(chunk.end(), from, from + each);
            if (chunk.size() == room) {
                EMMY_CHECK_OK(sink(chunk));
                chunk.clear();
            }
        }
        std::size_t d = rank - 1;
        while (d-- > 0) {
            base += static_cast<std::uint64_t>(strides[d]) * each;
            if (++index[d] < static_cast<std::uint64_t>(shape[d])) break;
            base -= static_cast<std::uint64_t>(strides[d]) * each * static_cast<std::uint64_t>(shape[d]);
            index[d] = 0;
        }
        if (d == static_cast<std::size_t>(-1)) break;
    }
    return chunk.empty() ? result<void>() : sink(chunk);
}

EMMY_DECL result<pt_file> pt_file::open(const std::string& path, const zip_limits& limits) {
    EMMY_TRY(source, byte_source::open(path));
    return open(std::move(source), limits);
}

EMMY_DECL result<pt_file> pt_file::open(byte_source source, const zip_limits& limits) {
    EMMY_CHECK_OK(detail::not_an_old_file(source));
    EMMY_TRY(archive, zip_archive::open(std::move(source), limits));
    const auto bad = [&](std::string what, std::string_view member) { return refuse(fault_kind::input, std::move(what), detail::shown(member), archive.file()); };
    const zip_member* pickle = nullptr;
    for (const zip_member& m : archive.members()) {
        const std::size_t slash = m.name.find('/');
        if (slash == std::string::npos || std::string_view(m.name).substr(slash) != "/data.pkl") continue;
        if (pickle) return bad("found a second data.pkl, expected one", m.name);
        pickle = &m;
    }
    if (!pickle) return bad("found no <root>/data.pkl among its " + std::to_string(archive.members().size()) + " members, expected what torch.save writes", {});
    const std::string root = pickle->name.substr(0, pickle->name.find('/') + 1);
    const auto text_of = [&](std::string_view name) -> result<std::string> {
        const zip_member* m = archive.find(root + std::string(name));
        return m ? archive.read(*m, 100) : result<std::string>();
    };
    EMMY_TRY(order, text_of("byteorder"));
    if (!order.empty() && order != "little") return bad("found \"" + detail::shown(order) + "\", expected little", root + "byteorder");
    EMMY_TRY(version, text_of("version"));
    while (!version.empty() && (version.back() == '\n' || version.back() == '\r')) version.pop_back();
    if (version.size() > 2 || !std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; })) return bad("found \"" + detail::shown(version) + "\", expected a version such as 3", root + "version");
    EMMY_TRY(text, archive.read(*pickle, detail::pickle_most));
    EMMY_TRY(objects, object_tree::parse(std::move(text), archive.file(), pickle->name));
    std::vector<std::size_t> members;
    for (const stored_data& s : objects.storages()) {
        EMMY_TRY(member, archive.need(root + "data/" + s.key));
        if (member->size != s.bytes) return bad("found " + std::to_string(member->size) + " bytes, expected the " + std::to_string(s.bytes) + " that data.pkl says", member->name);
        members.push_back(static_cast<std::size_t>(member - archive.members().data()));
    }
    return pt_file(std::move(archive), std::move(objects), std::move(members));
}

EMMY_DECL result<std::vector<named_object>> pt_file::leaves() const {
    std::vector<named_object> out;
    std::size_t steps = 0;
    struct place {
        object what;
        std::string path;
        int depth;
    };
    std::vector<place> todo{{root(), "", 0}};  // the next one last
    while (!todo.empty()) {
        place at = std::move(todo.back());
        todo.pop_back();
        if (++steps > 1'000'000 || at.depth > 64) return refuse(fault_kind::input, "found objects nested more than 64 deep or shared beyond counting", detail::shown(at.path), archive_.file());
        const object_kind k = at.what.kind();
        if (k != object_kind::tuple && k != object_kind::list && k != object_kind::dict) {
            out.push_back({std::move(at.path), at.what});
            continue;
        }
        if (todo.size() + at.what.size() > 1'000'000) return refuse(fault_kind::input, "found objects shared beyond counting", detail::shown(at.path), archive_.file());
        for (std::size_t i = at.what.size(); i-- > 0;) {
            std::string step = "[" + std::to_string(i) + "]";
            if (k == object_kind::dict) {
                const object key = at.what.key(i);
                step = key.is(object_kind::text) ? (at.path.empty() ? "" : ".") + std::string(key.text().substr(0, 1000)) : "[" + std::to_string(key.integer()) + "]";
            }
            todo.push_back({at.what[i], at.path + step, at.depth + 1});
        }
    }
    return out;
}

EMMY_DECL bool pt_file::dense(const object& tensor) {
    const auto shape = tensor.shape(), strides = tensor.strides();
    std::int64_t next = 1;
    for (std::size_t d = tensor.elements() ? shape.size() : 0; d-- > 0;) {
        if (shape[d] != 1 && strides[d] != next) return false;  // a size of 1 may have any stride
        next *= shape[d];
    }
    return true;
}

EMMY_DECL result<void> pt_file::stream(const object& tensor, const chunk_sink& sink) const {
    if (!tensor.is(object_kind::tensor)) return refuse(fault_kind::input, "found " + std::string(object_kind_name(tensor.kind())) + ", expected a tensor", {}, archive_.file());
    const std::uint64_t each = byte_size(tensor.type()), bytes = tensor.elements() * each, start = tensor.offset() * each;
    const zip_member& m = member(tensor);
    if (bytes == 0) return {};
    if (!dense(tensor)) {
        EMMY_TRY(all, archive_.read(m));
        return stream_strided(as_bytes(all), tensor.offset(), tensor.shape(), tensor.strides(), each, sink);
    }
    // The part of the storage's bytes that is the tensor's, while all of them pass by the checksum.
    std::uint64_t at = 0;
    return archive_.stream(m, [&](bytes_view chunk) -> result<void> {
        const std::uint64_t from = std::max(start, at), to = std::min(start + bytes, at + chunk.size()), here = at;
        at += chunk.size();
        return from < to ? sink(chunk.subspan(from - here, to - from)) : result<void>();
    });
}

EMMY_DECL result<void> pt_file::read_into(const object& tensor, std::span<std::byte> into) const {
    const std::uint64_t bytes = tensor.elements() * byte_size(tensor.type());
    if (tensor.is(object_kind::tensor) && bytes != into.size()) return refuse(fault_kind::input, "found a tensor of " + std::to_string(bytes) + " bytes, expected " + std::to_string(into.size()), {}, archive_.file());
    if (tensor.is(object_kind::tensor) && bytes > 0 && dense(tensor) && member(tensor).size == bytes) return archive_.read_into(member(tensor), into);
    std::byte* to = into.data();
    return stream(tensor, [&](bytes_view chunk) -> result<void> {
        std::memcpy(to, chunk.data(), chunk.size());
        to += chunk.size();
        return {};
    });
}

EMMY_DECL result<std::vector<std::byte>> pt_file::read(const object& tensor, std::uint64_t most) const {
    const std::uint64_t each = byte_size(tensor.type());
    if (tensor.is(object_kind::tensor)) {
        if (most == 0) most = std::max<std::uint64_t>(objects_.storages()[tensor.storage()].bytes, 1u << 20);
        if (tensor.elements() > most / each) return refuse(fault_kind::input, "found a tensor of " + std::to_string(tensor.elements()) + " elements of " + std::to_string(each) + " bytes, expected at most " + std::to_string(most) + " bytes", {}, archive_.file());
    }
    std::vector<std::byte> out;
    out.reserve(tensor.elements() * each);  // filled piece by piece: not cleared before
    EMMY_CHECK_OK(stream(tensor, [&](bytes_view chunk) -> result<void> {
        out.insert(out.end(), chunk.begin(), chunk.end());
        return {};
    }));
    return out;
}

namespace detail {

/// The pickle of one dense tensor, as torch.save spells it but for the memo.
inline std::string tensor_pickle(const tensor_view& t, std::uint64_t elements) {
    record out;
    const auto integer = [&](std::uint64_t v) {
        if (v < 256) out.put("K").put(v, 1);
        else if (v < 65536) out.put("M").put(v, 2);
        else if (v < (std::uint64_t(1) << 31)) out.put("J").put(v, 4);
        else out.put("\x8a").put(8, 1).put(v, 8);
    };
    const auto text = [&](std::string_view s) { out.put("X").put(s.size(), 4).put(s); };
    const auto global = [&](std::string_view module, std::string_view name) { out.put("c").put(module).put("\n").put(name).put("\n"); };
    const bool typed = !facts(t.type).storage_class.empty();
    out.put("\x80\x02");
    global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    out.put("((");
    text("storage");
    typed ? global("torch", facts(t.type).storage_class) : global("torch.storage", "UntypedStorage");
    text("0"), text("cpu");
    integer(typed ? elements : t.bytes.size());
    out.put("tQ");
    integer(0);
    out.put("(");
    for (const std::int64_t size : t.shape) integer(static_cast<std::uint64_t>(size));
    out.put("t(");
    std::vector<std::uint64_t> strides(t.shape.size());
    std::uint64_t next = 1;
    for (std::size_t d = t.shape.size(); d-- > 0;) strides[d] = next, next *= std::max<std::uint64_t>(static_cast<std::uint64_t>(t.shape[d]), 1);
    for (const std::uint64_t s : strides) integer(s);
    out.put("t\x89");
    global("collections", "OrderedDict");
    out.put(")R");
    if (!typed) global("torch", facts(t.type).torch_name);
    out.put("tR.");
    return out.bytes;
}

}  // namespace detail

EMMY_DECL std::string describe(element type, std::span<const std::int64_t> shape) {
    std::string out = std::string(token(type)) + "[";
    for (std::size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
    return out + "]";
}

EMMY_DECL result<digest128> write_pt(const std::string& path, const tensor_view& t) {
    std::uint64_t elements = 1;
    bool fits = t.type != element::none && t.shape.size() <= 64;
    for (const std::int64_t size : t.shape) {
        fits = fits && size >= 0 && (size == 0 || elements <= (std::uint64_t(1) << 56) / static_cast<std::uint64_t>(size));
        elements = fits ? elements * static_cast<std::uint64_t>(size) : 0;
    }
    if (!fits || elements * byte_size(t.type) != t.bytes.size()) return refuse(fault_kind::internal, "found " + std::to_string(t.bytes.size()) + " bytes for " + describe(t.type, t.shape), {}, path);
    EMMY_TRY(out, zip_writer::create(path));
    EMMY_CHECK_OK(out.add("archive/data.pkl", as_bytes(detail::tensor_pickle(t, elements))));
    EMMY_CHECK_OK(out.add("archive/.format_version", as_bytes("1")));
    EMMY_CHECK_OK(out.add("archive/.storage_alignment", as_bytes("64")));
    EMMY_CHECK_OK(out.add("archive/byteorder", as_bytes("little")));
    EMMY_CHECK_OK(out.add("archive/data/0", t.bytes));
    EMMY_CHECK_OK(out.add("archive/version", as_bytes("3\n")));
    return out.finish();
}

}  // namespace emmy::archive
