#pragma once
// Small zips for tests, and ways to make them lie.
#include <emmy/core/archive.hpp>
#include <emmy/core/file.hpp>

#include <support/tool.hpp>

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

namespace emmy::test {

using zip_content = std::vector<std::pair<std::string, std::string>>;

/// Bytes of an archive as our writer makes it.
inline std::string zip_of(const zip_content& members) {
    const scratch_folder folder;
    auto out = archive::zip_writer::create(folder / "a.zip");
    BOOST_REQUIRE_MESSAGE(out, (out ? "" : out.error().line()));
    for (const auto& [name, content] : members) {
        const auto added = out->add(name, archive::as_bytes(content));
        BOOST_REQUIRE_MESSAGE(added, (added ? "" : added.error().line()));
    }
    const auto done = out->finish();
    BOOST_REQUIRE_MESSAGE(done, (done ? "" : done.error().line()));
    return read_file(folder / "a.zip").value();
}

inline result<archive::zip_archive> open_zip(std::string bytes, const archive::zip_limits& limits = {}) { return archive::zip_archive::open(archive::byte_source::of_bytes(std::move(bytes), "a.zip"), limits); }

/// The fault's line, or "" when it opened.
inline std::string zip_refusal(std::string bytes, const archive::zip_limits& limits = {}) {
    const auto opened = open_zip(std::move(bytes), limits);
    return opened ? std::string() : opened.error().line();
}

inline std::string with(std::string bytes, std::size_t at, std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes.at(at + static_cast<std::size_t>(i)) = static_cast<char>(value >> 8 * i & 255);
    return bytes;
}
inline std::string number(std::uint64_t value, int width) { return with(std::string(static_cast<std::size_t>(width), '\0'), 0, value, width); }
inline std::uint64_t number_at(const std::string& bytes, std::size_t at, int width) {
    std::uint64_t out = 0;
    for (int i = width; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)));
    return out;
}
/// Place of the n-th directory entry, and of the end record.
inline std::size_t entry_at(const std::string& bytes, int n) {
    std::size_t at = 0;
    for (int i = 0; i <= n; ++i) at = bytes.find("PK\x01\x02", i ? at + 1 : 0);
    return at;
}
inline std::size_t end_at(const std::string& bytes) { return bytes.rfind("PK\x05\x06"); }
/// Every occurrence of a text replaced by one of the same length.
inline std::string renamed(std::string bytes, const std::string& from, const std::string& to) {
    BOOST_REQUIRE_EQUAL(from.size(), to.size());
    for (std::size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size())) bytes.replace(at, from.size(), to);
    return bytes;
}

}  // namespace emmy::test
