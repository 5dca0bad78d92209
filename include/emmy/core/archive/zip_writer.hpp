#pragma once
#include <emmy/core/archive/chunk.hpp>
#include <emmy/core/config.hpp>
#include <emmy/core/digest.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace emmy::archive {

/// Writes a zip of stored members whose contents start on multiples of 64 bytes (padded by the local extra field "FB", as PyTorch does), zip64
/// where sizes ask for it. The file is a temporary one beside `path` until finish(); any error and the destructor remove it, so that
/// nothing half-written ever stands under the name. The same members give the same bytes.
class zip_writer {
public:
    static constexpr std::uint64_t alignment = 64;

    /// Errors (input): a place that cannot be written.
    EMMY_DECL static result<zip_writer> create(const std::string& path);
    zip_writer(zip_writer&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    zip_writer& operator=(zip_writer&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    EMMY_DECL ~zip_writer();

    /// Errors (input): no room, cannot write; (internal): a name twice or one that zip_archive would refuse.
    EMMY_DECL result<void> add(std::string_view name, bytes_view content);
    /// Directory, flush to the disk, mode 0644, rename over `path`. Gives the XXH3-128 of the file.
    EMMY_DECL result<digest128> finish();

private:
    struct state;
    explicit zip_writer(state* s) : state_(s) {}
    state* state_;  // owned
};

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_zip_writer.ipp>
#endif
