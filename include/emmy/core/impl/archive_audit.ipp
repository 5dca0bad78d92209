#pragma once
// The directory of a zip as our own reader sees it: every number held against the file. Source of the layout: PKWARE APPNOTE 6.3.9.
#include <emmy/core/archive/zip.hpp>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace emmy::archive::detail {

inline std::uint64_t little(const std::byte* p, int bytes) {
    std::uint64_t out = 0;
    for (int i = 0; i < bytes; ++i) out |= static_cast<std::uint64_t>(p[i]) << 8 * i;
    return out;
}
/// A name as a fault shows it: bounded, control bytes spelled by the tools.
inline std::string shown(std::string_view name) { return std::string(name.substr(0, 200)) + (name.size() > 200 ? "…" : ""); }

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50, end64_signature = 0x06064b50, locator_signature = 0x07064b50;
constexpr std::uint64_t end_size = 22, locator_size = 20, end64_size = 56, entry_size = 46, local_size = 30;

struct zip_directory {
    std::uint64_t offset = 0, size = 0, entries = 0;
};

/// One fixed-size record read at a place.
template <std::size_t N>
result<std::array<std::byte, N>> record_at(const byte_source& source, std::uint64_t at) {
    std::array<std::byte, N> out;
    EMMY_CHECK_OK(source.read(at, out));
    return out;
}

inline tl::unexpected<fault> bad_zip(const byte_source& source, std::string what, std::string_view member = {}) { return refuse(fault_kind::input, std::move(what), shown(member), source.name()); }

/// Where the end record is: the last one whose comment reaches exactly to the end of the file.
inline result<std::uint64_t> find_end(const byte_source& source) {
    if (source.size() >= end_size) {
        const std::uint64_t window = std::min<std::uint64_t>(source.size(), end_size + 65535), start = source.size() - window;
        std::vector<std::byte> tail(window);
        EMMY_CHECK_OK(source.read(start, tail));
        for (std::uint64_t at = window - end_size + 1; at-- > 0;)
            if (little(&tail[at], 4) == end_signature && at + end_size + little(&tail[at + 20], 2) == window) return start + at;
    }
    return bad_zip(source, "found no zip directory at its end, expected a zip archive (cut short, or of another kind)");
}

inline result<zip_directory> find_directory(const byte_source& source) {
    EMMY_TRY(at, find_end(source));
    EMMY_TRY(end, record_at<end_size>(source, at));
    zip_directory out;
    std::uint64_t disk = little(&end[4], 2), first_disk = little(&end[6], 2), here = little(&end[8], 2);
    out.entries = little(&end[10], 2), out.size = little(&end[12], 4), out.offset = little(&end[16], 4);
    std::uint64_t stop = at;
    const bool saturated = here == 0xffff || out.entries == 0xffff || out.size == 0xffffffff || out.offset == 0xffffffff || disk == 0xffff || first_disk == 0xffff;
    bool has64 = false;
    if (at >= locator_size) {
        EMMY_TRY(locator, record_at<locator_size>(source, at - locator_size));
        if (little(&locator[0], 4) == locator_signature) {
            has64 = true;
            const std::uint64_t at64 = little(&locator[8], 8), disks = little(&locator[16], 4);
            if (little(&locator[4], 4) != 0 || disks > 1) return bad_zip(source, "found an archive of several disks, expected one");
            if (at < locator_size + end64_size || at64 > at - locator_size - end64_size) return bad_zip(source, "the zip64 locator points to " + std::to_string(at64) + ", past the directory");
            EMMY_TRY(end64, record_at<end64_size>(source, at64));
            if (little(&end64[0], 4) != end64_signature) return bad_zip(source, "the zip64 locator points to " + std::to_string(at64) + ", where no zip64 end record is");
            if (const std::uint64_t record = little(&end64[4], 8); record > source.size() || at64 + 12 + record != at - locator_size) return bad_zip(source, "the zip64 end record is of " + std::to_string(record) + " bytes, which do not reach the locator");
            const auto agrees = [](std::uint64_t narrow, std::uint64_t limit, std::uint64_t wide) { return narrow == limit || narrow == wide; };
            const std::uint64_t wide[] = {little(&end64[16], 4), little(&end64[20], 4), little(&end64[24], 8), little(&end64[32], 8), little(&end64[40], 8), little(&end64[48], 8)};
            if (!agrees(disk, 0xffff, wide[0]) || !agrees(first_disk, 0xffff, wide[1]) || !agrees(here, 0xffff, wide[2]) || !agrees(out.entries, 0xffff, wide[3]) ||
                !agrees(out.size, 0xffffffff, wide[4]) || !agrees(out.offset, 0xffffffff, wide[5]))
                return bad_zip(source, "the end record and the zip64 end record say different things");
            disk = wide[0], first_disk = wide[1], here = wide[2], out.entries = wide[3], out.size = wide[4], out.offset = wide[5];
            stop = at64;
        }
    }
    if (saturated && !has64) return bad_zip(source, "the end record asks for a zip64 record, found none");
    if (disk != 0 || first_disk != 0 || here != out.entries) return bad_zip(source, "found an archive of several disks, expected one");
    if (out.offset > stop || out.size != stop - out.offset)
        return bad_zip(source, "the directory is said to be " + std::to_string(out.size) + " bytes at " + std::to_string(out.offset) + ", the end record stands at " + std::to_string(stop));
    if (out.entries > out.size / entry_size) return bad_zip(source, "the directory of " + std::to_string(out.size) + " bytes is said to hold " + std::to_string(out.entries) + " members");
    return out;
}

/// Values of the zip64 extra field for the members of the record that are saturated, in the field's order.
inline result<void> widen(const byte_source& source, std::string_view member, bytes_view extra, std::initializer_list<std::pair<std::uint64_t*, std::uint64_t>> fields) {
    bool needed = false, found = false;
    for (const auto& [value, limit] : fields) needed = needed || *value == limit;
    for (std::size_t at = 0; at < extra.size();) {
        if (extra.size() - at < 4) return needed ? result<void>(bad_zip(source, "its extra field is cut", member)) : result<void>();
        const std::uint64_t tag = little(&extra[at], 2), size = little(&extra[at + 2], 2);
        if (size > extra.size() - at - 4) return bad_zip(source, "its extra field is cut", member);
        if (tag == 1) {
            if (found) return bad_zip(source, "found two zip64 fields, expected one", member);
            found = true;
            std::size_t from = at + 4, left = size;
            for (const auto& [value, limit] : fields)
                if (*value == limit) {
                    const std::size_t width = limit == 0xffff ? 4 : 8;
                    if (left < width) return bad_zip(source, "its zip64 field is cut", member);
                    *value = little(&extra[from], static_cast<int>(width));
                    from += width, left -= width;
                }
        }
        at += 4 + size;
    }
    if (needed && !found) return bad_zip(source, "asks for a zip64 field, found none", member);
    return {};
}

/// The local header must tell the same story as the directory; gives where the content starts.
inline result<std::uint64_t> content_offset(const byte_source& source, const zip_member& m, std::uint64_t header, std::uint64_t flags, std::uint64_t method, std::uint64_t directory) {
    if (header > directory || directory - header < local_size) return bad_zip(source, "is said to start at " + std::to_string(header) + ", past the members", m.name);
    EMMY_TRY(local, record_at<local_size>(source, header));
    if (little(&local[0], 4) != local_signature) return bad_zip(source, "is said to start at " + std::to_string(header) + ", where no member starts", m.name);
    const std::uint64_t name_size = little(&local[26], 2), extra_size = little(&local[28], 2), start = header + local_size + name_size + extra_size;
    if (start > directory || m.stored_size > directory - start)
        return bad_zip(source, "is said to hold " + std::to_string(m.stored_size) + " bytes at " + std::to_string(start) + ", the members end at " + std::to_string(directory), m.name);
    std::string rest(name_size + extra_size, '\0');
    EMMY_CHECK_OK(source.read(header + local_size, std::as_writable_bytes(std::span(rest))));
    const std::string_view name = std::string_view(rest).substr(0, name_size);
    if (name != m.name) return bad_zip(source, "the directory and the member's own header differ: its header names it \"" + shown(name) + "\"", m.name);
    const std::uint64_t own_flags = little(&local[6], 2);
    if (little(&local[8], 2) != method || ((own_flags ^ flags) & 0x0809) != 0) return bad_zip(source, "the directory and the member's own header differ in method or flags", m.name);
    std::uint64_t size = little(&local[22], 4), stored = little(&local[18], 4);
    const std::uint64_t crc = little(&local[14], 4);
    const bool later = (flags & 8) != 0;  // sizes and checksum may follow the content
    if (!later || size == 0xffffffff || stored == 0xffffffff) EMMY_CHECK_OK(widen(source, m.name, as_bytes(rest).subspan(name_size), {{&size, 0xffffffff}, {&stored, 0xffffffff}}));
    const auto agrees = [&](std::uint64_t own, std::uint64_t told) { return own == told || (later && own == 0); };
    if (!agrees(size, m.size) || !agrees(stored, m.stored_size) || !agrees(crc, m.crc)) return bad_zip(source, "the directory and the member's own header differ in size or checksum", m.name);
    return start;
}

inline result<std::vector<zip_member>> audit(const byte_source& source, const zip_limits& limits) {
    EMMY_TRY(directory, find_directory(source));
    if (directory.entries > limits.members) return bad_zip(source, "found " + std::to_string(directory.entries) + " members, expected at most " + std::to_string(limits.members));
    std::string raw(directory.size, '\0');
    EMMY_CHECK_OK(source.read(directory.offset, std::as_writable_bytes(std::span(raw))));
    const bytes_view all = as_bytes(raw);
    std::vector<zip_member> out;
    out.reserve(directory.entries);
    std::uint64_t at = 0, expanded = 0;
    const std::uint64_t expand_most = limits.expanded_bytes + (source.size() > UINT64_MAX / 2 / std::max<std::uint64_t>(limits.expanded_ratio, 1) ? UINT64_MAX / 2 : source.size() * limits.expanded_ratio);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;  // header to end of content
    spans.reserve(directory.entries);
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        const std::string number = "member " + std::to_string(i);
        if (all.size() - at < entry_size) return bad_zip(source, "the directory ends inside it", number);
        const std::byte* e = &all[at];
        if (little(e, 4) != entry_signature) return bad_zip(source, "found no directory entry, expected one", number);
        const std::uint64_t flags = little(e + 8, 2), method = little(e + 10, 2), name_size = little(e + 28, 2), extra_size = little(e + 30, 2), comment_size = little(e + 32, 2);
        if (name_size + extra_size + comment_size > all.size() - at - entry_size) return bad_zip(source, "the directory ends inside it", number);
        zip_member m;
        m.name = std::string_view(raw).substr(at + entry_size, name_size);
        if (std::string why = unsafe_member_name(m.name); !why.empty()) return bad_zip(source, "the member's name " + why, m.name.empty() ? number : m.name);
        m.crc = static_cast<std::uint32_t>(little(e + 16, 4)), m.stored_size = little(e + 20, 4), m.size = little(e + 24, 4), m.deflated = method == 8;
        std::uint64_t disk = little(e + 34, 2), header = little(e + 42, 4);
        EMMY_CHECK_OK(widen(source, m.name, all.subspan(at + entry_size + name_size, extra_size), {{&m.size, 0xffffffff}, {&m.stored_size, 0xffffffff}, {&header, 0xffffffff}, {&disk, 0xffff}}));
        if (disk != 0) return bad_zip(source, "is on another disk", m.name);
        if ((flags & 0x2041) != 0) return bad_zip(source, "is encrypted", m.name);
        if (method != 0 && method != 8) return bad_zip(source, "found compression method " + std::to_string(method) + ", expected stored or deflate", m.name);
        if (m.stored_size > source.size()) return bad_zip(source, "is said to hold " + std::to_string(m.stored_size) + " bytes of an archive of " + std::to_string(source.size()), m.name);
        if (!m.deflated && m.size != m.stored_size) return bad_zip(source, "is stored, yet said to be of " + std::to_string(m.size) + " bytes in " + std::to_string(m.stored_size), m.name);
        if (m.deflated) {
            if (m.size / 1032 > m.stored_size) return bad_zip(source, "is said to expand from " + std::to_string(m.stored_size) + " to " + std::to_string(m.size) + " bytes, more than deflate can", m.name);
            expanded += m.size;
            if (expanded > expand_most) return bad_zip(source, "the deflated members would grow to more than " + std::to_string(expand_most) + " bytes", m.name);
        }
        EMMY_TRY(start, content_offset(source, m, header, flags, method, directory.offset));
        m.offset = start;
        spans.emplace_back(header, start + m.stored_size);
        out.push_back(std::move(m));
        at += entry_size + name_size + extra_size + comment_size;
    }
    if (at != all.size()) return bad_zip(source, "the directory has " + std::to_string(all.size() - at) + " bytes more than its members need");
    std::unordered_set<std::string_view> names;
    for (const zip_member& m : out)
        if (!names.insert(m.name).second) return bad_zip(source, "found the name twice, expected it once", m.name);
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i)
        if (spans[i].first < spans[i - 1].second) return bad_zip(source, "the member at " + std::to_string(spans[i].first) + " lies inside the one before it");
    return out;
}

}  // namespace emmy::archive::detail
