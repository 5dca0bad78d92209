#pragma once
#include <emmy/core/file.hpp>

#include <cstdlib>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy {
namespace detail {
struct descriptor {
    int fd = -1;
    ~descriptor() {
        if (fd >= 0) ::close(fd);
    }
};
inline tl::unexpected<fault> refuse_errno(const char* what, const std::string& path) {
    return refuse(fault_kind::input, std::string(what) + ": " + std::strerror(errno), {}, path);
}
}  // namespace detail

EMMY_DECL result<std::string> read_file(const std::string& path) {
    detail::descriptor in{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (in.fd < 0) return detail::refuse_errno("cannot open", path);
    struct stat info {};
    if (::fstat(in.fd, &info) != 0) return detail::refuse_errno("cannot stat", path);
    if (S_ISDIR(info.st_mode)) return refuse(fault_kind::input, "found a directory, expected a file", {}, path);
    std::string out;
    out.resize(static_cast<std::size_t>(info.st_size > 0 ? info.st_size : 0) + 1);
    std::size_t have = 0;
    for (;;) {
        if (have == out.size()) out.resize(out.size() * 2);
        const ssize_t got = ::read(in.fd, out.data() + have, out.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return detail::refuse_errno("cannot read", path);
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return out;
}

EMMY_DECL result<void> write_file_atomically(const std::string& named, std::string_view bytes) {
    // Through a link its target is written; the link stays.
    std::string path = named;
    struct stat link {};
    if (::lstat(named.c_str(), &link) == 0 && S_ISLNK(link.st_mode))
        if (char* target = ::realpath(named.c_str(), nullptr)) {
            path = target;
            std::free(target);
        }
    struct stat old {};
    const bool existed = ::stat(path.c_str(), &old) == 0;
    std::string temporary = path + ".tmp.XXXXXX";
    detail::descriptor out{::mkostemp(temporary.data(), O_CLOEXEC)};
    if (out.fd < 0) return detail::refuse_errno("cannot create a temporary file beside it", path);
    auto give_up = [&](const char* what) -> result<void> {
        auto failed = detail::refuse_errno(what, path);
        ::unlink(temporary.c_str());
        return failed;
    };
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t put = ::write(out.fd, bytes.data() + done, bytes.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return give_up("cannot write");
        done += static_cast<std::size_t>(put);
    }
    if (::fchmod(out.fd, existed ? old.st_mode & 07777 : 0644) != 0) return give_up("cannot set the mode");
    if (::fsync(out.fd) != 0) return give_up("cannot flush");
    if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up("cannot rename");
    return {};
}

EMMY_DECL result<file_lock> file_lock::acquire(const std::string& path) {
    const std::string name = path + ".lock";
    const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return detail::refuse_errno("cannot open the lock file", name);
    while (::flock(fd, LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        auto failed = detail::refuse_errno("cannot lock", name);
        ::close(fd);
        return failed;
    }
    return file_lock(fd);
}

EMMY_DECL file_lock::~file_lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace emmy
