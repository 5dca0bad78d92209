#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace emmy {

/// Whole file as bytes. Errors (input): absent, a directory, unreadable; the fault names the file.
EMMY_DECL result<std::string> read_file(const std::string& path);

/// Replaces a file in one step: temporary beside it, flush, fsync, the old file's mode kept (0644 for a new one), rename.
/// Nothing is left half-written on any error.
EMMY_DECL result<void> write_file_atomically(const std::string& path, std::string_view bytes);

/// Exclusive advisory lock on `<path>.lock` for a read-modify-write; released by the destructor.
class file_lock {
public:
    EMMY_DECL static result<file_lock> acquire(const std::string& path);
    file_lock(file_lock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
    file_lock& operator=(file_lock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    EMMY_DECL ~file_lock();

private:
    explicit file_lock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

}  // namespace emmy

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/file.ipp>
#endif
