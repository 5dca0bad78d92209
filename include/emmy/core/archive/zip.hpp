#pragma once
#include <emmy/core/archive/source.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Zip archives of strangers. The directory is read twice, by our audit and by libzip, and both must say the same; nothing is believed
/// that the file itself does not bear out. Every fault names archive and member.
namespace emmy::archive {

struct zip_member {
    std::string name;                 ///< a relative path with forward slashes; no "..", "." or empty part, no control bytes
    std::uint64_t size = 0;           ///< bytes of content
    std::uint64_t stored_size = 0;    ///< bytes in the archive
    std::uint64_t offset = 0;         ///< of its first byte in the archive
    std::uint32_t crc = 0;
    bool deflated = false;            ///< else stored as it is
    bool directory() const { return name.ends_with('/'); }
};

/// What an archive may ask of us.
struct zip_limits {
    std::uint64_t members = 1u << 20;
    /// Deflated members may grow to this much in all: 256 MiB, and 64 bytes for each byte of the archive.
    std::uint64_t expanded_bytes = std::uint64_t(256) << 20, expanded_ratio = 64;
};

/// An audited archive, open for reading. One thread at a time; movable.
class zip_archive {
public:
    /// Errors (input): not a zip; several disks; a directory that lies (sizes over the file, counts, places, local headers that say
    /// otherwise); members that overlap; duplicate or unsafe names; encryption; a method other than stored and deflate; more members
    /// or more expanded bytes than the limits.
    EMMY_DECL static result<zip_archive> open(const std::string& path, const zip_limits& limits = {});
    EMMY_DECL static result<zip_archive> open(byte_source source, const zip_limits& limits = {});
    zip_archive(zip_archive&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    zip_archive& operator=(zip_archive&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    EMMY_DECL ~zip_archive();

    EMMY_DECL const std::string& file() const;
    EMMY_DECL const byte_source& source() const;
    EMMY_DECL const std::vector<zip_member>& members() const;        ///< in the directory's order
    EMMY_DECL const zip_member* find(std::string_view name) const;   ///< nullptr when absent
    EMMY_DECL result<const zip_member*> need(std::string_view name) const;  ///< error (input): absent
    /// False when every checksum is zero: a writer that was told to leave them out (torch.serialization.set_crc32_options(False)).
    EMMY_DECL bool checksums() const;

    /// The whole content. Memory grows with what is there, not with what is promised. Errors (input): larger than `most`, checksum,
    /// a deflate stream that is damaged or of another length than the directory says.
    EMMY_DECL result<std::string> read(const zip_member& member, std::uint64_t most = UINT64_MAX) const;
    /// The content piece by piece (at most 256 KiB each), checksum tested after the last piece.
    EMMY_DECL result<void> stream(const zip_member& member, const chunk_sink& sink) const;
    /// The whole content into memory of exactly its size.
    EMMY_DECL result<void> read_into(const zip_member& member, std::span<std::byte> into) const;
    /// A part of a stored member, its checksum not tested. Errors (input): deflated, outside.
    EMMY_DECL result<void> read_at(const zip_member& member, std::uint64_t at, std::span<std::byte> into) const;
    /// The content against its checksum.
    EMMY_DECL result<void> verify(const zip_member& member) const;

private:
    struct state;
    explicit zip_archive(state* s) : state_(s) {}
    state* state_;  // owned
};

/// Why a text cannot name a member ("holds \"..\""); empty when it can.
EMMY_DECL std::string unsafe_member_name(std::string_view name);

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_zip.ipp>
#endif
