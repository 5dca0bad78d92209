#pragma once
#include <emmy/core/archive/pickle.hpp>
#include <emmy/core/archive/zip.hpp>
#include <emmy/core/digest.hpp>

#include <span>

/// PyTorch files: what torch.save writes since 1.6, a zip of one pickle and the storages it names.
namespace emmy::archive {

/// One object of a file with the way to it: "" (the file is that object), "[0]", "weights.fc1".
struct named_object {
    std::string path;
    object what;
};

/// An opened `.pt` file: its objects are known, its tensors are read when asked for. One thread at a time; movable (objects are then asked anew).
class pt_file {
public:
    /// Errors (input): whatever zip_archive and object_tree refuse; a file of PyTorch before 1.6 (with the way to convert it); no data.pkl;
    /// big-endian; a storage whose member is absent or of another size. A global that is not needed for tensors is refused by its name.
    EMMY_DECL static result<pt_file> open(const std::string& path, const zip_limits& limits = {});
    EMMY_DECL static result<pt_file> open(byte_source source, const zip_limits& limits = {});

    const zip_archive& archive() const { return archive_; }
    const object_tree& objects() const { return objects_; }
    object root() const { return objects_.root(); }

    /// Every tensor, number, bool, text and None below the root, in order. Errors (input): nesting over 64, or objects shared so often that
    /// listing them takes more than a million steps.
    EMMY_DECL result<std::vector<named_object>> leaves() const;

    /// Elements of a tensor, row-major without gaps, little-endian. `most` bytes at most; 0: the larger of its storage and 1 MiB (an
    /// expanded view can be of any size). Errors (input): too large, damaged.
    EMMY_DECL result<std::vector<std::byte>> read(const object& tensor, std::uint64_t most = 0) const;
    /// The same into memory of exactly that size.
    EMMY_DECL result<void> read_into(const object& tensor, std::span<std::byte> into) const;
    /// The same piece by piece (whole elements), for tensors larger than memory. A strided view holds its storage in memory meanwhile.
    EMMY_DECL result<void> stream(const object& tensor, const chunk_sink& sink) const;

    /// The archive's member that holds a tensor's storage, and whether its elements lie there row-major without gaps.
    const zip_member& member(const object& tensor) const { return archive_.members()[storage_members_[tensor.storage()]]; }
    EMMY_DECL static bool dense(const object& tensor);

private:
    pt_file(zip_archive a, object_tree o, std::vector<std::size_t> members) : archive_(std::move(a)), objects_(std::move(o)), storage_members_(std::move(members)) {}
    zip_archive archive_;
    object_tree objects_;
    std::vector<std::size_t> storage_members_;  // by storage
};

/// A strided view's elements in row-major order, at most a chunk at a time; all of them lie inside the storage. Strides and offset count
/// elements of `each` bytes.
EMMY_DECL result<void> stream_strided(bytes_view storage, std::uint64_t offset, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::size_t each, const chunk_sink& sink);

/// A whole tensor in memory: `bytes` are its elements, row-major, little-endian.
struct tensor_view {
    element type = element::f32;
    std::span<const std::int64_t> shape = {};
    bytes_view bytes = {};
};

/// Writes a file that torch.load(path, weights_only=True) reads back bit for bit. In one step: whole or absent (zip_writer). Gives the
/// XXH3-128 of the file; the same tensor gives the same bytes. Errors (input): cannot write; (internal): bytes that do not fit the shape.
EMMY_DECL result<digest128> write_pt(const std::string& path, const tensor_view& tensor);

/// "f32[2, 3]".
EMMY_DECL std::string describe(element type, std::span<const std::int64_t> shape);

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_pt.ipp>
#endif
