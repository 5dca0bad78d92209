#pragma once
#include <emmy/core/archive/crc32.hpp>
#include <emmy/golden/impl/snapshot_files.ipp>
#include <emmy/golden/snapshot/inspect.hpp>

#include <algorithm>

#include <dirent.h>

namespace emmy::golden::snapshot {

namespace detail {

/// The `.pt` files of a snapshot, by name, without touching the folders' time stamps. Errors (input): neither in/ nor out/.
inline result<std::vector<std::string>> pt_files(const std::string& folder) {
    std::vector<std::string> out;
    bool any = false;
    for (const char* part : {"in", "out"}) {
        const std::string path = folder + "/" + part;
#ifdef O_NOATIME
        int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOATIME);
        if (fd < 0 && errno == EPERM) fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#else
        const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#endif
        if (fd < 0) continue;
        DIR* entries = ::fdopendir(fd);
        if (!entries) {
            ::close(fd);
            continue;
        }
        any = true;
        while (const dirent* e = ::readdir(entries))
            if (const std::string_view name = e->d_name; name.ends_with(".pt") && name.size() > 3) out.push_back(std::string(part) + "/" + std::string(name));
        ::closedir(entries);
    }
    if (!any) return refuse(fault_kind::input, is_directory(folder) ? "found neither in/ nor out/ in it, expected a snapshot" : "found no such directory, expected a snapshot", {}, folder);
    std::sort(out.begin(), out.end());
    return out;
}

inline std::uint64_t file_bytes(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

inline std::string held(const archive::pt_file& file) {
    const archive::object root = file.root();
    if (root.is(archive::object_kind::tensor)) return archive::describe(root.type(), root.shape());
    return std::string(archive::object_kind_name(root.kind()));
}

/// One number as a tensor of no dimensions, so that plain Python numbers are compared like tensors.
struct elements_of {
    archive::element type = archive::element::none;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> held;      // everything, where it cannot be read in parts
    const archive::pt_file* file = nullptr;
    std::uint64_t start = 0, size = 0, at = 0;
    bool whole_member = false;
    std::uint32_t crc = 0;

    static result<elements_of> make(const archive::pt_file& from) {
        elements_of out;
        const archive::object root = from.root();
        const auto number = [&](archive::element type) {
            out.type = type, out.held.resize(byte_size(type)), out.size = out.held.size();
            type == archive::element::f64 ? store_real(dtype::f64, out.held.data(), 0, root.real())
                                          : store_integer(archive::dtype_of(type), out.held.data(), 0, type == archive::element::boolean ? root.boolean() : root.integer());
        };
        switch (root.kind()) {
            case archive::object_kind::integer: number(archive::element::i64); return out;
            case archive::object_kind::real: number(archive::element::f64); return out;
            case archive::object_kind::boolean: number(archive::element::boolean); return out;
            case archive::object_kind::tensor: break;
            default: return out;
        }
        out.type = root.type(), out.shape = root.shape(), out.size = root.elements() * byte_size(root.type());
        if (out.size == 0) return out;
        const archive::zip_member& m = from.member(root);
        if (!m.deflated && archive::pt_file::dense(root)) {
            out.file = &from, out.start = root.offset() * byte_size(root.type()), out.whole_member = out.size == m.size && from.archive().checksums();
            if (!out.whole_member) EMMY_CHECK_OK(from.archive().verify(m));
            return out;
        }
        EMMY_TRY(all, from.read(root, UINT64_MAX));
        out.held = std::move(all);
        return out;
    }
    /// The next bytes.
    result<void> take(std::span<std::byte> into) {
        if (!file) {
            if (!into.empty()) std::memcpy(into.data(), held.data() + at, into.size());
        } else {
            EMMY_CHECK_OK(file->archive().read_at(file->member(file->root()), start + at, into));
            if (whole_member) crc = archive::crc32(into, crc);
        }
        at += into.size();
        if (at == size && whole_member && crc != file->member(file->root()).crc) return refuse(fault_kind::input, "its content does not have the checksum that the directory says: damaged", file->member(file->root()).name, file->archive().file());
        return {};
    }
};

}  // namespace detail

EMMY_DECL result<shown_snapshot> show(const std::string& folder, const progress& tell) {
    EMMY_TRY(present, detail::pt_files(folder));
    shown_snapshot out;
    const std::string manifest_path = folder + "/" + std::string(manifest_name);
    struct stat facts {};
    if (::stat(manifest_path.c_str(), &facts) == 0) {
        EMMY_TRY(told, detail::read_manifest(manifest_path));
        out.told = std::move(told);
    }
    std::vector<std::string> order;
    if (out.told)
        for (const manifest_tensor& t : out.told->tensors)
            for (const manifest_file& f : t.files) order.push_back(f.path);
    for (std::string& path : present)
        if (std::find(order.begin(), order.end(), path) == order.end()) order.push_back(std::move(path));
    std::uint64_t total = 0, done = 0;
    for (const std::string& path : order) total += detail::file_bytes(folder + "/" + path);
    for (const std::string& path : order) {
        shown_file f;
        f.path = path;
        const std::string full = folder + "/" + path;
        const manifest_file* entry = out.told ? out.told->find(path) : nullptr;
        f.state = !out.told ? "no manifest" : !entry ? "not in the manifest" : "as saved";
        if (::stat(full.c_str(), &facts) != 0) {
            f.state = "missing";
            out.files.push_back(std::move(f));
            continue;
        }
        auto source = archive::byte_source::open(full);
        auto digest = source ? detail::digest_of(*source, [&](std::size_t bytes) {
            done += bytes;
            if (tell) tell(done, total, path);
        }) : result<digest128>(refuse(source.error()));
        if (!digest) {
            f.error = digest.error().line();
        } else {
            f.bytes = source->size(), f.digest = *digest;
            if (entry && entry->digest != *digest) f.state = "changed";
            if (const auto file = archive::pt_file::open(full); !file) {
                f.error = file.error().line();
            } else {
                f.holds = detail::held(*file);
                if (file->root().is(archive::object_kind::tensor)) f.dtype = token(file->root().type()), f.shape = file->root().shape();
            }
        }
        out.files.push_back(std::move(f));
    }
    return out;
}

EMMY_DECL result<std::vector<file_difference>> diff(const std::string& a, const std::string& b, const progress& tell) {
    EMMY_TRY(of_a, detail::pt_files(a));
    EMMY_TRY(of_b, detail::pt_files(b));
    std::vector<std::string> all(of_a);
    all.insert(all.end(), of_b.begin(), of_b.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const auto has = [](const std::vector<std::string>& list, const std::string& path) { return std::binary_search(list.begin(), list.end(), path); };
    std::uint64_t total = 0, done = 0;
    for (const std::string& path : all)
        if (has(of_a, path) && has(of_b, path)) total += detail::file_bytes(a + "/" + path);
    std::vector<std::byte> left(std::size_t(4) << 20), right(left.size());
    std::vector<file_difference> out;
    for (const std::string& path : all) {
        out.push_back({path, "equal", {}, {}, {}});
        file_difference& d = out.back();
        d.values.name = path.substr(path.find('/') + 1, path.size() - path.find('/') - 4);
        if (!has(of_a, path) || !has(of_b, path)) {
            d.status = has(of_a, path) ? "only in A" : "only in B";
            continue;
        }
        const auto file_a = archive::pt_file::open(a + "/" + path), file_b = archive::pt_file::open(b + "/" + path);
        d.a = file_a ? detail::held(*file_a) : file_a.error().line(), d.b = file_b ? detail::held(*file_b) : file_b.error().line();
        if (!file_a || !file_b) {
            d.status = "unreadable";
            continue;
        }
        auto from_a = detail::elements_of::make(*file_a), from_b = detail::elements_of::make(*file_b);
        if (!from_a || !from_b) {
            d.status = "unreadable";
            if (!from_a) d.a = from_a.error().line();
            if (!from_b) d.b = from_b.error().line();
            continue;
        }
        if (from_a->type == archive::element::none || from_a->type != from_b->type || from_a->shape != from_b->shape) {
            d.status = from_a->type == archive::element::none || from_b->type == archive::element::none ? "unreadable" : "other shape";
            continue;
        }
        comparer compared(from_a->type, default_tolerance(archive::dtype_of(from_a->type)));
        result<void> read;
        while (read && from_a->at < from_a->size) {
            const std::size_t part = std::min<std::uint64_t>(left.size(), from_a->size - from_a->at);
            read = from_a->take(std::span(left).first(part));
            if (read) read = from_b->take(std::span(right).first(part));
            if (read) compared.add({left.data(), part}, {right.data(), part});
            if (tell) tell(done + from_a->at, total, path);
        }
        done += detail::file_bytes(a + "/" + path);
        const std::string name = d.values.name;
        d.values = compared.so_far();
        d.values.name = name;
        if (!read) d.status = "unreadable", (read.error().file().starts_with(a + "/") ? d.a : d.b) = read.error().line();
        else if (!d.values.equal) d.status = "differs";
    }
    return out;
}

}  // namespace emmy::golden::snapshot
