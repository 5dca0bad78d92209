#pragma once
#include <emmy/core/archive/element.hpp>
#include <emmy/core/archive/source.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Checkpoints in safetensors files: eight bytes of length, a JSON header of that length, the elements of all tensors.
namespace emmy::archive {

struct safetensor {
    std::string name;
    element type = element::none;
    std::vector<std::int64_t> shape = {};
    std::uint64_t offset = 0, bytes = 0;   ///< in the file; row-major, little-endian
    std::uint32_t file = 0;                ///< place among the checkpoint's files
};

/// One file, or all files of a sharded checkpoint. Names, shapes and places are known when it is open; bytes are read when asked for.
class safetensors {
public:
    /// A .safetensors file; an index (model.safetensors.index.json: "weight_map" by name); a directory that holds either. Errors (input), with
    /// the file and the tensor: a header that is longer than the file or 100 MB, or no JSON object; a type that is unknown; a negative size;
    /// data that overlaps, leaves holes, ends outside, or is of another length than its shape; a name twice; a file of the index that is absent or
    /// leaves its directory, a tensor that its file does not hold.
    EMMY_DECL static result<safetensors> open(const std::string& path);
    EMMY_DECL static result<safetensors> open(byte_source source);

    const std::vector<safetensor>& tensors() const { return tensors_; }        ///< sorted by name
    EMMY_DECL const safetensor* find(std::string_view name) const;             ///< nullptr when absent
    const std::string& file(const safetensor& t) const { return sources_[t.file].name(); }
    const std::string& path() const { return path_; }
    /// Elements into memory of exactly their size; and into new memory, at most `most` bytes (0: what the file holds of it).
    EMMY_DECL result<void> read_into(const safetensor& t, std::span<std::byte> into) const;
    EMMY_DECL result<std::vector<std::byte>> read(const safetensor& t, std::uint64_t most = 0) const;

private:
    EMMY_DECL result<void> add(byte_source source, std::vector<safetensor>& into);
    EMMY_DECL result<void> add_index(const std::string& path);
    EMMY_DECL result<void> sort();
    std::vector<byte_source> sources_;
    std::vector<safetensor> tensors_;
    std::string path_;
};

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_safetensors.ipp>
#endif
