#pragma once
#include <emmy/core/archive/pt.hpp>
#include <emmy/program/import/exported.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Archives of torch.export.save: the program's text and the tensors it names.
namespace emmy::program::pt2 {

/// A tensor that the archive holds, by the path that the program names it with.
struct stored_tensor {
    std::string path;
    archive::element type = archive::element::none;
    std::vector<std::int64_t> shape = {}, strides = {};  ///< strides in elements
    std::uint64_t offset = 0;                   ///< in elements, of its first one in its storage
    std::string member;                         ///< of the archive that holds it
    bool parameter = false;                     ///< of the checkpoint (state dict); else a constant or a buffer that checkpoints lack

    EMMY_DECL std::uint64_t elements() const;
};

/// An opened archive. Tensors are known by name, shape and place; bytes are copied only when asked for. One thread at a time; movable.
class pt2_archive {
public:
    /// `model`: which one of several (models/<name>.json). Errors (input), with the member and the reason: whatever zip_archive refuses; an
    /// empty zip; a TorchScript archive; a tensor file of torch.save; no program, or several and no choice; another byte order; a weights
    /// table that names no member, or one of another size than its tensors need. (user): no such model.
    EMMY_DECL static result<pt2_archive> open(const std::string& path, std::string_view model = {}, const archive::zip_limits& limits = {});
    EMMY_DECL static result<pt2_archive> open(archive::byte_source source, std::string_view model = {}, const archive::zip_limits& limits = {});
    pt2_archive(pt2_archive&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    pt2_archive& operator=(pt2_archive&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    EMMY_DECL ~pt2_archive();

    EMMY_DECL const std::string& file() const;
    EMMY_DECL const exported_program& program() const;
    EMMY_DECL const std::vector<stored_tensor>& tensors() const;  ///< sorted by path
    EMMY_DECL const stored_tensor* find(std::string_view path) const;

    /// Elements, row-major without gaps, little-endian. `most` bytes at most (0: the larger of its storage and 1 MiB). Errors (input): larger, damaged.
    EMMY_DECL result<std::vector<std::byte>> read(const stored_tensor& tensor, std::uint64_t most = 0) const;

    struct state;

private:
    explicit pt2_archive(state* s) : state_(s) {}
    state* state_;  // owned
};

}  // namespace emmy::program::pt2

#ifdef EMMY_HEADER_ONLY
#include <emmy/program/import/impl/archive.ipp>
#endif
