#pragma once
#include <emmy/core/archive/chunk.hpp>
#include <emmy/core/config.hpp>

#include <cstdint>

namespace emmy::archive {

/// CRC-32 of zip members (polynomial 0x04c11db7, reflected), continued from `before`. By carry-less multiplication where the processor
/// has it, about as fast as memory; else by tables.
EMMY_DECL std::uint32_t crc32(bytes_view bytes, std::uint32_t before = 0);

}  // namespace emmy::archive

#ifdef EMMY_HEADER_ONLY
#include <emmy/core/impl/archive_crc32.ipp>
#endif
