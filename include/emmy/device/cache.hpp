#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Where compiled kernels and measured ceilings live.
namespace emmy::device {

/// $EMMY_CACHE_DIR, else $XDG_CACHE_HOME/emmy, else ~/.cache/emmy. Safe to delete.
EMMY_DECL std::string cache_directory();

/// A sealed file: one line with key and digest, then the bytes. Damaged, foreign and half-written ones read as absent.
EMMY_DECL std::optional<std::string> read_sealed(const std::string& path, std::string_view key);
/// Published in one rename. Errors (device): the folder cannot be made or written.
EMMY_DECL result<void> write_sealed(const std::string& path, std::string_view key, std::string_view bytes);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/cache.ipp>
#endif
