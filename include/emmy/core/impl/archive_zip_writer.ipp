#pragma once
#include <emmy/core/archive/crc32.hpp>
#include <emmy/core/archive/zip.hpp>
#include <emmy/core/archive/zip_writer.hpp>
#include <emmy/core/hasher.hpp>
#include <emmy/core/impl/archive_audit.ipp>
#include <emmy/core/impl/file.ipp>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace emmy::archive {
namespace detail {

/// Little-endian numbers one after another.
struct record {
    std::string bytes;
    record& put(std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * i & 255);
        return *this;
    }
    record& put(std::string_view text) {
        bytes += text;
        return *this;
    }
};

constexpr std::uint64_t narrow32 = 0xffffffff, narrow16 = 0xffff;
constexpr std::uint64_t clipped(std::uint64_t value, std::uint64_t limit) { return value >= limit ? limit : value; }

}  // namespace detail

struct zip_writer::state {
    struct entry {
        std::string name;
        std::uint64_t header = 0, size = 0;
        std::uint32_t crc = 0;
    };
    std::string path, temporary;
    emmy::detail::descriptor out;
    std::uint64_t at = 0, started = 0;  ///< bytes written; of them, handed to the disk
    hasher digest;
    std::vector<entry> entries;
    std::set<std::string, std::less<>> names;

    ~state() {
        if (!temporary.empty()) ::unlink(temporary.c_str());
    }
    result<void> write(bytes_view bytes) {
        constexpr std::size_t piece = 256 << 10;  // calls of a MiB and more are five times slower (measured, ext4)
        for (std::size_t done = 0; done < bytes.size();) {
            const bytes_view part = bytes.subspan(done, std::min(piece, bytes.size() - done));
            const ssize_t put = ::write(out.fd, part.data(), part.size());
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return emmy::detail::refuse_errno("cannot write", path);
            digest.add(part.first(static_cast<std::size_t>(put)));  // still in the cache
            done += static_cast<std::size_t>(put), at += static_cast<std::uint64_t>(put);
#ifdef SYNC_FILE_RANGE_WRITE
            // The disk works while we copy; finish() waits for it.
            if (at - started >= (std::uint64_t(32) << 20)) {
                ::sync_file_range(out.fd, static_cast<off_t>(started), static_cast<off_t>(at - started), SYNC_FILE_RANGE_WRITE);
                started = at;
            }
#endif
        }
        return {};
    }
    result<void> write(std::string_view text) { return write(as_bytes(text)); }
};

EMMY_DECL zip_writer::~zip_writer() { delete state_; }

EMMY_DECL result<zip_writer> zip_writer::create(const std::string& path) {
    auto s = std::make_unique<state>();
    s->path = path;
    std::string name = path + ".tmp.XXXXXX";
    s->out.fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (s->out.fd < 0) return emmy::detail::refuse_errno("cannot create a temporary file beside it", path);
    s->temporary = std::move(name);
    return zip_writer(s.release());
}

EMMY_DECL result<void> zip_writer::add(std::string_view name, bytes_view content) {
    state& s = *state_;
    if (std::string why = unsafe_member_name(name); !why.empty()) return refuse(fault_kind::internal, "the member's name " + why, std::string(name), s.path);
    if (!s.names.emplace(name).second) return refuse(fault_kind::internal, "a second member of this name", std::string(name), s.path);
    state::entry e{std::string(name), s.at, content.size(), crc32(content)};
    detail::record extra;
    const bool wide = e.size >= detail::narrow32;
    if (wide) extra.put(1, 2).put(16, 2).put(e.size, 8).put(e.size, 8);
    const std::uint64_t before = s.at + detail::local_size + name.size() + extra.bytes.size() + 4;
    const std::uint64_t padding = (alignment - before % alignment) % alignment;
    extra.put("FB").put(padding, 2).put(std::string(padding, 'Z'));
    detail::record header;
    header.put(detail::local_signature, 4).put(wide ? 45 : 20, 2).put(0x0800, 2).put(0, 2).put(0, 2).put(0x21, 2);  // names are UTF-8; 1980-01-01
    header.put(e.crc, 4).put(detail::clipped(e.size, detail::narrow32), 4).put(detail::clipped(e.size, detail::narrow32), 4).put(name.size(), 2).put(extra.bytes.size(), 2).put(name).put(extra.bytes);
    EMMY_CHECK_OK(s.write(header.bytes));
    EMMY_CHECK_OK(s.write(content));
    s.entries.push_back(std::move(e));
    return {};
}

EMMY_DECL result<digest128> zip_writer::finish() {
    state& s = *state_;
    const std::uint64_t start = s.at;
    for (const state::entry& e : s.entries) {
        detail::record extra, entry;
        const bool wide_size = e.size >= detail::narrow32, wide_place = e.header >= detail::narrow32;
        if (wide_size || wide_place) extra.put(1, 2).put((wide_size ? 16 : 0) + (wide_place ? 8 : 0), 2);
        if (wide_size) extra.put(e.size, 8).put(e.size, 8);
        if (wide_place) extra.put(e.header, 8);
        const int version = wide_size || wide_place ? 45 : 20;
        entry.put(detail::entry_signature, 4).put(version, 2).put(version, 2).put(0x0800, 2).put(0, 2).put(0, 2).put(0x21, 2).put(e.crc, 4);
        entry.put(detail::clipped(e.size, detail::narrow32), 4).put(detail::clipped(e.size, detail::narrow32), 4).put(e.name.size(), 2).put(extra.bytes.size(), 2).put(0, 2).put(0, 2).put(0, 2).put(0, 4);
        entry.put(detail::clipped(e.header, detail::narrow32), 4).put(e.name).put(extra.bytes);
        EMMY_CHECK_OK(s.write(entry.bytes));
    }
    const std::uint64_t size = s.at - start, count = s.entries.size(), place = s.at;
    detail::record end;
    if (count >= detail::narrow16 || size >= detail::narrow32 || start >= detail::narrow32) {
        end.put(detail::end64_signature, 4).put(detail::end64_size - 12, 8).put(45, 2).put(45, 2).put(0, 4).put(0, 4).put(count, 8).put(count, 8).put(size, 8).put(start, 8);
        end.put(detail::locator_signature, 4).put(0, 4).put(place, 8).put(1, 4);
    }
    end.put(detail::end_signature, 4).put(0, 2).put(0, 2).put(detail::clipped(count, detail::narrow16), 2).put(detail::clipped(count, detail::narrow16), 2);
    end.put(detail::clipped(size, detail::narrow32), 4).put(detail::clipped(start, detail::narrow32), 4).put(0, 2);
    EMMY_CHECK_OK(s.write(end.bytes));
    if (::fchmod(s.out.fd, 0644) != 0) return emmy::detail::refuse_errno("cannot set the mode", s.path);
    if (::fsync(s.out.fd) != 0) return emmy::detail::refuse_errno("cannot flush", s.path);
    if (::rename(s.temporary.c_str(), s.path.c_str()) != 0) return emmy::detail::refuse_errno("cannot rename", s.path);
    s.temporary.clear();
    return s.digest.digest();
}

}  // namespace emmy::archive
