#pragma once
#include <emmy/device/frame.hpp>
#include <emmy/device/impl/process.ipp>

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace emmy::device {

namespace detail {
constexpr std::size_t frame_head = 16;
constexpr std::uint64_t frame_bound = std::uint64_t(64) << 20;

inline void put(char* to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to[i] = static_cast<char>(value >> (8 * i));
}
inline std::uint64_t take(const char* from, int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t(static_cast<unsigned char>(from[i])) << (8 * i);
    return value;
}
inline void drain_into(int pipe, std::string& tail) {
    char chunk[4096];
    const ssize_t got = ::read(pipe, chunk, sizeof chunk);
    if (got <= 0) return;
    tail.append(chunk, static_cast<std::size_t>(got));
    if (tail.size() > 4096) tail.erase(0, tail.size() - 4096);
}
}  // namespace detail

EMMY_DECL result<void> send_frame(int socket, std::string_view payload, int descriptor) {
    char head[detail::frame_head] = {'E', 'M', 'M', 'W'};
    detail::put(head + 4, worker_protocol, 4);
    detail::put(head + 8, payload.size(), 8);
    iovec part{head, sizeof head};
    msghdr message{};
    message.msg_iov = &part, message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (descriptor >= 0) {
        message.msg_control = control, message.msg_controllen = sizeof control;
        cmsghdr* c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
    }
    const auto gone = [] { return refuse(fault_kind::device, std::string("the worker is gone: ") + std::strerror(errno)); };
    ssize_t sent;
    while ((sent = ::sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {}
    if (sent != static_cast<ssize_t>(sizeof head)) return gone();
    while (!payload.empty()) {
        sent = ::send(socket, payload.data(), payload.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return gone();
        payload.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

EMMY_DECL wait_end receive_frame(int socket, double deadline, frame& out, int drain, std::string* tail) {
    std::string bytes;
    std::size_t wanted = detail::frame_head;
    bool head_read = false;
    const auto drop = [&](wait_end why) {
        if (out.descriptor >= 0) ::close(out.descriptor);
        out.descriptor = -1;
        return why;
    };
    out = {};
    for (;;) {
        const double left = deadline > 0 ? deadline - detail::now_seconds() : 1e9;
        if (left <= 0) return drop(wait_end::overran);
        pollfd waits[2] = {{socket, POLLIN, 0}, {drain, POLLIN, 0}};
        const int ready = ::poll(waits, drain >= 0 ? 2 : 1, deadline > 0 ? static_cast<int>(std::min(left, 1e5) * 1000) + 1 : -1);
        if (ready < 0 && errno != EINTR) return drop(wait_end::closed);
        if (ready <= 0) continue;
        if (drain >= 0 && waits[1].revents) {
            if (waits[1].revents & POLLIN)
                detail::drain_into(drain, *tail);
            else
                drain = -1;
        }
        if (!waits[0].revents) continue;
        char chunk[65536];
        iovec part{chunk, std::min(sizeof chunk, wanted - bytes.size())};
        msghdr message{};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
        message.msg_iov = &part, message.msg_iovlen = 1, message.msg_control = control, message.msg_controllen = sizeof control;
        const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        for (cmsghdr* c = got >= 0 ? CMSG_FIRSTHDR(&message) : nullptr; c; c = CMSG_NXTHDR(&message, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
                int received = -1;
                std::memcpy(&received, CMSG_DATA(c), sizeof received);
                if (out.descriptor >= 0) ::close(out.descriptor);
                out.descriptor = received;
            }
        if (got <= 0) return drop(wait_end::closed);
        bytes.append(chunk, static_cast<std::size_t>(got));
        if (bytes.size() < wanted) continue;
        if (!head_read) {
            if (bytes.compare(0, 4, "EMMW") != 0 || detail::take(bytes.data() + 4, 4) != worker_protocol) return drop(wait_end::closed);
            const std::uint64_t length = detail::take(bytes.data() + 8, 8);
            if (length == 0 || length > detail::frame_bound) return drop(wait_end::closed);
            wanted = static_cast<std::size_t>(length), head_read = true;
            bytes.clear();
            continue;
        }
        out.payload = std::move(bytes);
        return wait_end::arrived;
    }
}

}  // namespace emmy::device
