#pragma once
#include <emmy/core/config.hpp>
#include <emmy/core/result.hpp>

#include <cstdint>
#include <string>

namespace emmy::device {

/// Version of the worker protocol: a worker of another version is refused at its greeting.
constexpr int worker_protocol = 2;

/// One message between a process and its worker over a socket: 4 bytes "EMMW", u32 version, u64 length (little-endian), then
/// the payload, one JSON object; optionally one descriptor. Payloads are bounded (64 MiB).
struct frame {
    std::string payload;
    int descriptor = -1;  ///< owned by whoever holds the frame
};

/// Errors (device): the other side is gone.
EMMY_DECL result<void> send_frame(int socket, std::string_view payload, int descriptor = -1);

enum class wait_end : std::uint8_t { arrived, closed, overran };
/// Waits until `deadline` (steady clock seconds; <= 0 = for ever). `drain`, when not negative, is a pipe whose bytes are appended to
/// `tail` (its last 4 KiB) meanwhile. A malformed frame counts as closed: whoever sent it cannot be trusted.
EMMY_DECL wait_end receive_frame(int socket, double deadline, frame& out, int drain = -1, std::string* tail = nullptr);

}  // namespace emmy::device

#ifdef EMMY_HEADER_ONLY
#include <emmy/device/impl/frame.ipp>
#endif
