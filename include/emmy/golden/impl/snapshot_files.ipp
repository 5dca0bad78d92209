#pragma once
#include <emmy/core/archive/pt.hpp>
#include <emmy/core/file.hpp>
#include <emmy/core/hasher.hpp>
#include <emmy/core/json.hpp>
#include <emmy/core/numeric.hpp>
#include <emmy/golden/impl/snapshot_manifest.ipp>
#include <emmy/golden/snapshot/files.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::golden::snapshot {

namespace detail {

inline tl::unexpected<fault> system_fault(const char* what, const std::string& path) { return refuse(fault_kind::input, std::string(what) + ": " + std::strerror(errno), {}, path); }

/// A whole file's digest, as a stream; `seen` is told of every piece.
template <class Seen>
result<digest128> digest_of(const archive::byte_source& source, Seen&& seen) {
    hasher h;
    EMMY_CHECK_OK(source.stream(0, source.size(), [&](archive::bytes_view chunk) -> result<void> {
        h.add(chunk);
        seen(chunk.size());
        return {};
    }));
    return h.digest();
}

/// A plain Python number as one element of the spec's dtype: ints for integer types that hold them, floats for floats, bools for bool.
inline bool number_fits(const archive::object& o, dtype type) {
    if (o.is(archive::object_kind::boolean)) return type == dtype::boolean;
    if (o.is(archive::object_kind::real)) return is_floating(type) && !reads_as_integer(type);
    if (!o.is(archive::object_kind::integer) || !is_integer(type) || type == dtype::boolean) return false;
    return type == dtype::u64 ? o.integer() >= 0 : wrap_to(type, o.integer()) == o.integer();
}

/// "" when the file holds what the spec says, else found and expected.
inline std::string mismatch(const archive::pt_file& file, const spec& s) {
    const archive::object root = file.root();
    const archive::element type = archive::element_of(s.type);
    if (root.is(archive::object_kind::tensor)) {
        const auto shape = root.shape();
        if (root.type() == type && shape == s.shape) return {};
        return "found " + archive::describe(root.type(), shape) + ", expected " + archive::describe(type, s.shape);
    }
    if (s.shape.empty() && number_fits(root, s.type)) return {};
    std::string what(archive::object_kind_name(root.kind()));
    if (root.is(archive::object_kind::integer)) what += " " + std::to_string(root.integer());
    return "found " + what + ", expected " + archive::describe(type, s.shape);
}

inline result<std::vector<std::byte>> read_spec(const archive::pt_file& file, const spec& s) {
    const archive::object root = file.root();
    if (root.is(archive::object_kind::tensor)) return file.read(root, s.bytes());
    std::vector<std::byte> out(s.bytes());
    root.is(archive::object_kind::real) ? store_real(s.type, out.data(), 0, root.real()) : store_integer(s.type, out.data(), 0, root.is(archive::object_kind::boolean) ? root.boolean() : root.integer());
    return out;
}

inline bool is_directory(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

inline result<void> flush_directory(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return system_fault("cannot open", path);
    const bool done = ::fsync(fd) == 0 || errno == EINVAL;
    ::close(fd);
    return done ? result<void>() : system_fault("cannot flush", path);
}

constexpr std::string_view temporary_prefix = ".data.tmp-";

/// What killed runs left: temporary folders that nobody holds.
inline void sweep(const std::string& work_dir) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(work_dir, ignored)) {
        const std::string path = entry.path().string();
        if (!entry.path().filename().string().starts_with(temporary_prefix)) continue;
        struct stat facts {};
        const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0) continue;
        // One that was made a moment ago may not be locked yet.
        if (::fstat(fd, &facts) == 0 && std::time(nullptr) - facts.st_ctime > 2 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(path, ignored);
        ::close(fd);
    }
}

/// `from` takes the place of `to`, in one step where the system can.
inline result<void> replace_directory(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) return system_fault("cannot rename", to);
    std::error_code ignored;
#ifdef RENAME_EXCHANGE
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
        std::filesystem::remove_all(from, ignored);
        return {};
    }
#endif
    const std::string old = from + ".old";
    if (::rename(to.c_str(), old.c_str()) != 0) return system_fault("cannot move the old one away", to);
    if (::rename(from.c_str(), to.c_str()) != 0) {
        auto failed = system_fault("cannot rename", to);
        ::rename(old.c_str(), to.c_str());
        return failed;
    }
    std::filesystem::remove_all(old, ignored);
    return {};
}

}  // namespace detail

EMMY_DECL bool same_place(const std::string& a, const std::string& b) {
    struct stat x {}, y {};
    return !a.empty() && !b.empty() && ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

EMMY_DECL result<loaded> load(const std::string& folder, std::span<const spec> specs) {
    EMMY_CHECK_OK(check(specs));
    loaded out;
    const std::vector<required_file> files = required_files(specs);
    struct stat facts {};
    for (const required_file& f : files) {
        const std::string path = folder + "/" + f.path;
        if (::stat(path.c_str(), &facts) == 0) continue;
        errno == ENOENT || errno == ENOTDIR ? out.missing.push_back(path) : out.problems.push_back(path + ": " + std::strerror(errno));
    }
    if (!out.missing.empty() && detail::is_directory(folder + "/data")) out.notes.push_back("the snapshot is the directory that holds in/ and out/: " + folder + "/data?");
    std::optional<manifest> told;
    const std::string manifest_path = folder + "/" + std::string(manifest_name);
    if (::stat(manifest_path.c_str(), &facts) == 0) {
        auto read = detail::read_manifest(manifest_path);
        if (read) told = std::move(*read);
        else out.problems.push_back(read.error().line());
    } else {
        out.notes.push_back(folder + " has no " + std::string(manifest_name) + ": made by another program, or by a run that did not pass; its files are taken as they are");
    }
    if (!out.missing.empty()) return out;
    // Everything is held against manifest and specs before anything is read for good.
    for (const required_file& f : files) {
        const std::string path = folder + "/" + f.path;
        if (told) {
            const manifest_file* entry = told->find(f.path);
            if (!entry) {
                out.problems.push_back(path + ": " + std::string(manifest_name) + " tells nothing of it");
                continue;
            }
            auto source = archive::byte_source::open(path);
            auto digest = source ? detail::digest_of(*source, [](std::size_t) {}) : result<digest128>(refuse(source.error()));
            if (!digest) {
                out.problems.push_back(digest.error().line());
                continue;
            }
            if (*digest != entry->digest) {
                out.problems.push_back(path + ": found hash " + to_hex(*digest) + ", expected " + to_hex(entry->digest) + " of " + std::string(manifest_name) + ": it was changed after it was saved");
                continue;
            }
        }
        const auto file = archive::pt_file::open(path);
        if (!file) out.problems.push_back(file.error().line());
        else if (std::string why = detail::mismatch(*file, specs[f.spec]); !why.empty()) out.problems.push_back(path + ": " + why);
    }
    if (!out.good()) return out;
    out.data.resize(specs.size());
    for (const required_file& f : files) {
        const auto file = archive::pt_file::open(folder + "/" + f.path);
        auto bytes = file ? detail::read_spec(*file, specs[f.spec]) : result<std::vector<std::byte>>(refuse(file.error()));
        if (!bytes) {
            out.problems.push_back(bytes.error().line());
            continue;
        }
        (f.out ? out.data[f.spec].wanted : out.data[f.spec].initial) = std::move(*bytes);
        ++(f.out ? out.outputs : out.inputs);
    }
    return out;
}

EMMY_DECL result<saver> saver::begin(const std::string& work_dir, std::span<const spec> specs) {
    EMMY_CHECK_OK(check(specs));
    std::error_code failed;
    std::filesystem::create_directories(work_dir, failed);
    if (failed) return refuse(fault_kind::input, "cannot make it: " + failed.message(), {}, work_dir);
    detail::sweep(work_dir);
    saver out;
    out.target_ = work_dir + "/data";
    std::string name = work_dir + "/" + std::string(detail::temporary_prefix) + "XXXXXX";
    if (!::mkdtemp(name.data())) return detail::system_fault("cannot make a temporary directory in it", work_dir);
    out.temporary_ = std::move(name);
    out.lock_ = ::open(out.temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out.lock_ < 0 || ::flock(out.lock_, LOCK_EX | LOCK_NB) != 0) return detail::system_fault("cannot lock", out.temporary_);
    for (const char* part : {"/in", "/out"})
        if (::mkdir((out.temporary_ + part).c_str(), 0755) != 0) return detail::system_fault("cannot make a directory", out.temporary_ + part);
    if (::chmod(out.temporary_.c_str(), 0755) != 0) return detail::system_fault("cannot set the mode", out.temporary_);
    for (const spec& s : specs) out.told_.tensors.push_back({s.name, std::string(snapshot::name(s.kind)), std::string(token(s.type)), s.shape, {}});
    return out;
}

EMMY_DECL saver::~saver() {
    std::error_code ignored;
    if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
    if (lock_ >= 0) ::close(lock_);
}

EMMY_DECL result<void> saver::add(const spec& s, bool out, std::span<const std::byte> bytes) {
    const std::string path = (out ? "out/" : "in/") + s.name + ".pt";
    auto digest = archive::write_pt(temporary_ + "/" + path, {archive::element_of(s.type), s.shape, bytes});
    if (!digest) return refuse(fault(digest.error().kind(), digest.error().message(), digest.error().place(), target_ + "/" + path));
    struct stat facts {};
    if (::stat((temporary_ + "/" + path).c_str(), &facts) != 0) return detail::system_fault("cannot stat", target_ + "/" + path);
    for (manifest_tensor& t : told_.tensors)
        if (t.name == s.name) t.files.push_back({path, static_cast<std::uint64_t>(facts.st_size), *digest});
    return {};
}

EMMY_DECL result<std::string> saver::commit(bool passed, std::string reference, std::string device, std::uint64_t seed) {
    told_.tool = "emmy " EMMY_VERSION_TEXT, told_.reference = std::move(reference), told_.device = std::move(device), told_.seed = seed;
    if (passed) EMMY_CHECK_OK(write_file_atomically(temporary_ + "/" + std::string(manifest_name), manifest_text(told_)));
    for (const char* part : {"/in", "/out", ""}) EMMY_CHECK_OK(detail::flush_directory(temporary_ + part));
    EMMY_CHECK_OK(detail::replace_directory(temporary_, target_));
    temporary_.clear();
    EMMY_CHECK_OK(detail::flush_directory(target_.substr(0, target_.rfind('/'))));
    return target_;
}

EMMY_DECL result<std::string> make_work_dir(std::string_view name, const std::string& root) {
    std::error_code failed;
    std::filesystem::create_directories(root, failed);
    if (failed) return refuse(fault_kind::input, "cannot make it: " + failed.message(), {}, root);
    struct stat facts {};
    if (const std::string ignore = root + "/.gitignore"; ::stat(ignore.c_str(), &facts) != 0) EMMY_CHECK_OK(write_file_atomically(ignore, "*\n"));
    std::string safe;
    for (const char c : name.substr(0, 100)) safe += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ? c : '_';
    char stamp[32];
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    std::strftime(stamp, sizeof stamp, "_%Y%m%d_%H%M%S", &local);
    for (int i = 0; i < 1000; ++i) {
        const std::string path = root + "/" + safe + stamp + (i ? "_" + std::to_string(i) : "");
        if (::mkdir(path.c_str(), 0777) == 0) return path;
        if (errno != EEXIST) return detail::system_fault("cannot make a directory", path);
    }
    return refuse(fault_kind::input, "found a thousand work directories of this second", {}, root);
}

}  // namespace emmy::golden::snapshot
