#pragma once
#include <emmy/device/process.hpp>

#include <chrono>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace emmy::device {

namespace detail {
inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

inline std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& t : texts) out.push_back(const_cast<char*>(t.c_str()));
    out.push_back(nullptr);
    return out;
}
}  // namespace detail

EMMY_DECL std::string find_program(const std::string& name) {
    const auto executable = [](const std::string& path) {
        struct stat facts{};
        return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.empty()) return {};
    if (name.find('/') != std::string::npos) return executable(name) ? name : std::string();
    const char* variable = std::getenv("PATH");
    const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        if (end > at)
            if (std::string full = path.substr(at, end - at) + "/" + name; executable(full)) return full;
        at = end + 1;
    }
    return {};
}

EMMY_DECL result<process_result> run_process(const std::vector<std::string>& arguments, double seconds) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return refuse(fault_kind::device, std::string("no pipe: ") + std::strerror(errno));
    std::vector<std::string> environment;
    for (char** e = environ; e && *e; ++e)
        if (!std::string_view(*e).starts_with("LC_ALL=")) environment.emplace_back(*e);
    environment.emplace_back("LC_ALL=C");

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    // A worker leads its own process group and is killed with all of it; anyone else gives the child a group to kill.
    const bool own_group = ::getpgrp() != ::getpid();
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    ::sigemptyset(&none), ::sigfillset(&defaults);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, arguments[0].c_str(), &actions, &attributes, detail::pointers(arguments).data(), detail::pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(pipe[1]);
    if (failed) {
        ::close(pipe[0]);
        return refuse(fault_kind::device, "cannot start it: " + std::string(std::strerror(failed)), arguments[0]);
    }

    process_result out;
    const double end = detail::now_seconds() + seconds;
    const auto kill_all = [&] { ::kill(own_group ? -child : child, SIGKILL); };
    for (char chunk[4096];;) {
        const double left = end - detail::now_seconds();
        pollfd wait{pipe[0], POLLIN, 0};
        const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left * 1000) + 1) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            out.overran = true;
            kill_all();
            break;
        }
        const ssize_t got = ::read(pipe[0], chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (out.output.size() < 65536) out.output.append(chunk, static_cast<std::size_t>(got));
    }
    ::close(pipe[0]);
    int status = 0;
    // Its output is closed: it ends by itself or at the limit.
    while (!out.overran) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) break;
        if (detail::now_seconds() > end) {
            out.overran = true;
            kill_all();
        } else {
            ::usleep(200);
        }
    }
    if (out.overran) ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
        out.exit_code = WEXITSTATUS(status);
    } else {
        out.exit_code = -1;
        out.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    return out;
}

}  // namespace emmy::device
